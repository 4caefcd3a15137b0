"""Settings: everything has a default that runs, every fault is a line, no secret is told."""

import re
from pathlib import Path

import pytest

from bot.chats import configured_chats
from bot.plugins import find_plugins
from bot.settings import Settings, SettingsError, load_settings

ROOT = Path(__file__).parents[3]
NOWHERE = Path("nowhere/.env")
OURS = (
    "COUNCIL_CONFIG",
    "COUNCIL_DATA_DIR",
    "COUNCIL_MODEL_DIR",
    "COUNCIL_DATABASE_URL",
    "COUNCIL_HOST",
    "COUNCIL_PORT",
    "PORT",
    "OLLAMA_API_BASE",
)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OURS:
        monkeypatch.delenv(name, raising=False)


def test_every_setting_has_a_default_that_runs() -> None:
    settings = load_settings(NOWHERE)

    assert settings.config == Path("council.toml")
    assert (settings.host, settings.port) == ("127.0.0.1", 8765)
    assert settings.database == f"sqlite+aiosqlite:///{settings.data_dir / 'council.db'}"
    assert settings.data_dir.is_absolute()


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OURS:
        monkeypatch.setenv(name, "")

    assert load_settings(NOWHERE).port == 8765


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("postgres://u:p@h:5432/d", "postgresql+psycopg://u:p@h:5432/d"),
        ("postgresql://u:p@h/d", "postgresql+psycopg://u:p@h/d"),
        ("sqlite:///rounds.db", "sqlite+aiosqlite:///rounds.db"),
        ("sqlite:////srv/rounds.db", "sqlite+aiosqlite:////srv/rounds.db"),
        ("sqlite+aiosqlite:///rounds.db", "sqlite+aiosqlite:///rounds.db"),
    ],
)
def test_a_database_is_named_as_people_name_it(
    given: str, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNCIL_DATABASE_URL", given)

    assert load_settings(NOWHERE).database == used


@pytest.mark.parametrize("given", ["nonsense", "mysql://u:hunter2@h/d", "rounds.db"])
def test_a_database_nobody_knows_is_a_sentence_without_its_password(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNCIL_DATABASE_URL", given)

    with pytest.raises(SettingsError) as caught:
        load_settings(NOWHERE)

    assert str(caught.value) == (
        "COUNCIL_DATABASE_URL: it must start with sqlite:/// or postgresql://."
    )


def test_our_own_port_wins_over_the_one_that_a_platform_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PORT", "5001")
    assert load_settings(NOWHERE).port == 5001

    monkeypatch.setenv("COUNCIL_PORT", "0")

    assert load_settings(NOWHERE).port == 0


def test_every_fault_is_a_line_that_begins_with_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COUNCIL_PORT", "65536")
    monkeypatch.setenv("COUNCIL_DATABASE_URL", "nonsense")

    with pytest.raises(SettingsError) as caught:
        load_settings(NOWHERE)

    names = [fault.split(":")[0] for fault in caught.value.faults]
    assert sorted(names) == ["COUNCIL_DATABASE_URL", "COUNCIL_PORT"]


def test_the_environment_wins_over_the_env_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("COUNCIL_PORT=1111\nCOUNCIL_HOST=0.0.0.0\nMY_KEY=from-file\n")
    monkeypatch.setenv("COUNCIL_PORT", "2222")

    settings = load_settings(tmp_path / ".env")

    assert (settings.host, settings.port) == ("0.0.0.0", 2222)  # noqa: S104 - only read
    assert settings.key_for("openai", "MY_KEY") == "from-file"


@pytest.mark.parametrize(
    ("provider", "variable"),
    [("openai", "OPENAI_API_KEY"), ("huggingface", "HF_TOKEN")],
)
def test_a_providers_key_is_found_under_the_name_litellm_knows(
    provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "sk-1")

    assert load_settings(NOWHERE).key_for(provider) == "sk-1"


def test_a_seats_key_is_found_under_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-shared")
    monkeypatch.setenv("OUR_PASSWORD", "sk-own")

    assert load_settings(NOWHERE).key_for("openai", "OUR_PASSWORD") == "sk-own"


def test_no_secret_is_in_the_repr_of_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-verysecret")
    monkeypatch.setenv("COUNCIL_DATABASE_URL", "postgresql://u:hunter2@h/d")

    settings = load_settings(NOWHERE)

    assert "sk-verysecret" not in f"{settings!r} {settings} {settings.model_dump()}"
    assert "hunter2" not in repr(settings)


def test_the_example_lists_every_setting() -> None:
    example = ROOT / ".env.example"
    named = set(re.findall(r"^#?\s*([A-Z_]+)=", example.read_text(encoding="utf-8"), re.MULTILINE))

    aliases = [field.validation_alias for field in Settings.model_fields.values()]
    wanted = {str(getattr(alias, "choices", [alias])[0]) for alias in aliases if alias is not None}
    assert wanted <= named


@pytest.mark.parametrize("chat", ["slack", "discord"])
def test_an_invalid_address_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, chat: str
) -> None:
    pytest.importorskip(f"bot.{chat}")
    name = f"{chat.upper()}_API_URL"
    monkeypatch.setenv(name, "slack")

    with pytest.raises(SettingsError, match=f"{name}: it must start with https://"):
        configured_chats(find_plugins(), load_settings())


def test_a_token_that_can_be_guessed_is_refused_with_a_better_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COUNCIL_WEB_TOKEN", "hunter2")

    with pytest.raises(SettingsError) as refused:
        load_settings()

    line = str(refused.value)
    assert "hunter2" not in line
    suggested = line.split()[-1].rstrip(".")
    monkeypatch.setenv("COUNCIL_WEB_TOKEN", suggested)
    assert load_settings().web_token is not None


def test_faults_of_the_environment_and_of_the_file_come_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "council.toml"
    file.write_text('default_panel = "gone"\n')
    monkeypatch.setenv("COUNCIL_CONFIG", str(file))
    monkeypatch.setenv("COUNCIL_PORT", "many")

    with pytest.raises(SettingsError) as caught:
        load_settings(NOWHERE)

    assert [fault.partition(":")[0] for fault in caught.value.faults] == [
        "COUNCIL_PORT",
        "council.toml",
    ]
