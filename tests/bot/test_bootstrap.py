"""What a start has: its own database, a private folder, panels, and who receives their texts."""

import json
import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot import bootstrap
from bot.bootstrap import PanelSources, StartOptions, open_app
from bot.chat import TERMINAL
from bot.database import open_stores
from bot.render.round_status import sent_text
from bot.settings import PanelConfig, Settings, load_settings
from bot.settings.default_panels import LARGE_SIZE, LOCAL, LOCAL_LARGE
from bot.settings.panels import parse_panel_config
from bot.settings.provider_keys import CONNECTED_FILE
from council.answers import Call, Prompt
from council.gateways.local.catalogue import QWEN_CODER_LARGE
from council.gateways.local.gateway import LARGE_BYTES, LARGE_DISPLAYS
from council.places import Place
from tests.bot.distributions import install
from tests.bot.homes import Home, scripted_config


async def test_what_a_process_does_alone_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNCIL_DATABASE_URL", "sqlite:///:memory:")
    monkeypatch.setenv("COUNCIL_DATA_DIR", str(tmp_path))
    settings = load_settings(tmp_path / ".env")

    async with (
        open_app(settings, StartOptions(serves=True)) as app,
        app.leader_lock("schedules") as is_ours,
    ):
        assert is_ours


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
async def test_nobody_else_can_read_the_data_folder_and_its_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    (folder / "council.db").touch(mode=0o644)  # as older versions left it
    monkeypatch.setenv("COUNCIL_DATA_DIR", str(folder))

    async with open_stores(load_settings(tmp_path / ".env")):
        modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}

    assert folder.stat().st_mode & 0o777 == 0o700
    assert set(modes.values()) == {0o600}, modes


ECHO = """
from council.plugin import Plugin
from tests.fakes.gateway import FakeGateway

def open_gateway(settings):
    return FakeGateway()

PLUGIN = Plugin(
    name="echo", gateways={name: f"{__name__}:open_gateway" for name in ("echo", "scripted")}
)
"""


async def test_models_of_a_plugins_gateway_need_no_key_and_no_litellm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "echo", ECHO)
    (tmp_path / "council.toml").write_text(
        '[plugins]\nenabled = ["echo"]\n[panels.main]\nmembers = ["echo/a", "echo/b"]\n'
    )
    monkeypatch.setenv("COUNCIL_CONFIG", str(tmp_path / "council.toml"))
    monkeypatch.setenv("COUNCIL_DATA_DIR", str(tmp_path))
    reported: list[str] = []

    async with open_app(
        load_settings(tmp_path / ".env"), StartOptions(report=reported.append)
    ) as app:
        panel = app.panel("main", TERMINAL)
        await app.prepare(panel)
        reply = await app.gateway.complete(Call(panel.members[0], Prompt("Be short.", "Why?")))

    assert reply.text
    assert app.health().models == ()
    assert reported == [
        "The gateway 'scripted' of the plug-in echo is left out: the built-in one has this name."
    ]


CHANNEL = Place("slack", "T1", "C1")


@pytest.fixture
def council_toml(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Configure a panel, which a channel and everybody else use."""
    home.with_config(f'{scripted_config()}\n[access.in.C1]\npanel = "house"\n')
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("council_toml")
@pytest.mark.parametrize("place", [TERMINAL, CHANNEL], ids=["terminal", "channel"])
async def test_local_asks_the_demo_models_whatever_was_configured_or_picked_before(
    place: Place, tmp_path: Path
) -> None:
    settings = load_settings(tmp_path / ".env")
    async with open_app(settings) as app:
        await app.pick_panel("house", place)

    async with open_app(settings, StartOptions(local=True)) as app:
        await app.reload_settings(place)
        unnamed, named = app.panel(None, place), app.panel("house", place)

    assert (unnamed.name, named.name) == (LOCAL, "house")


@pytest.mark.parametrize(("free", "is_offered"), [(LARGE_BYTES, True), (LARGE_BYTES - 1, False)])
async def test_a_larger_demo_model_is_offered_where_there_is_memory_for_it(
    free: int, is_offered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "free_bytes", lambda: free)
    monkeypatch.setenv("COUNCIL_DATA_DIR", str(tmp_path))
    async with open_app(load_settings(tmp_path / ".env"), StartOptions(local=True)) as app:
        panel, default = app.panels.get(LOCAL_LARGE), app.default

    assert default == LOCAL
    assert bool(panel) is is_offered
    if panel:
        assert [seat.display for seat in panel.members] == [*LARGE_DISPLAYS.values()]
        assert panel.chair_order[0].display == QWEN_CODER_LARGE.display
        assert all(seat.demonstration for seat in panel.seats)


def test_the_size_of_the_larger_demo_model_is_the_one_that_is_downloaded() -> None:
    assert f"{QWEN_CODER_LARGE.size / 1e9:.1f} GB" == LARGE_SIZE


@pytest.mark.usefixtures("council_toml")
async def test_a_panel_picked_in_a_local_run_is_used_until_its_end(tmp_path: Path) -> None:
    settings = load_settings(tmp_path / ".env")
    used = []

    for picks in (True, False):
        async with open_app(settings, StartOptions(local=True)) as app:
            if picks:
                await app.pick_panel("house", CHANNEL)
            await app.reload_settings(CHANNEL)
            used.append(app.panel(None, CHANNEL).name)

    assert used == ["house", LOCAL]


def house_config(members: list[str], **models: dict[str, str]) -> PanelConfig:
    document = {"panels": {"house": {"members": members}}, "models": models}
    return parse_panel_config(document, Path("council.toml"))


@pytest.mark.parametrize(
    ("provider", "variable", "told"),
    [
        ("openai", "OPENAI_BASE_URL", "Sent to 127.0.0.1:4000"),
        ("mistral", "MISTRAL_API_BASE", "Sent to 127.0.0.1:4000"),
        ("openai", "MISTRAL_API_BASE", "Sent only to OpenAI"),
    ],
)
def test_a_providers_address_in_the_environment_is_named(
    tmp_path: Path, provider: str, variable: str, told: str
) -> None:
    keys = {variable: SecretStr("http://127.0.0.1:4000/v1")}
    settings = Settings().model_copy(update={"data_dir": tmp_path, "keys": keys})
    own = house_config(
        [f"{provider}/a", f"{provider}/b"], **{f"{provider}/b": {"fallback": f"{provider}/c"}}
    )

    merged = PanelSources(own, PanelConfig(), local=False).merged(settings)

    assert sent_text(merged.panels["house"]) == told


@pytest.mark.parametrize(
    ("ollama", "told"),
    [
        ("http://127.0.0.1:11434", "Sent only to models on the Council server"),
        ("http://gpu-1:11434", "Sent to gpu-1:11434"),
    ],
)
def test_the_address_of_ollama_in_the_environment_is_named(
    tmp_path: Path, ollama: str, told: str
) -> None:
    settings = Settings().model_copy(update={"data_dir": tmp_path, "ollama": ollama})
    own = house_config(["ollama/a", "ollama_chat/b"])

    merged = PanelSources(own, PanelConfig(), local=False).merged(settings)

    assert sent_text(merged.panels["house"]) == told


def test_a_panel_of_the_page_names_the_address_that_council_toml_gives_its_models(
    tmp_path: Path,
) -> None:
    (tmp_path / CONNECTED_FILE).write_text(
        json.dumps({"panels": {"added": {"members": ["openai/a", "openai/b"]}}})
    )
    proxy = {"api_base": "http://127.0.0.1:4000"}
    own = house_config(["openai/a", "openai/c"], **{"openai/a": proxy})

    settings = Settings().model_copy(update={"data_dir": tmp_path})
    merged = PanelSources(own, PanelConfig(), local=False).merged(settings)

    assert sent_text(merged.panels["added"]) == "Sent to 127.0.0.1:4000 and OpenAI"
