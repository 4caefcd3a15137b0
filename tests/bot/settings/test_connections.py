"""Proposed panels, addresses that people type, and the files of what they connect."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.settings import Seat, Settings, SettingsError, load_panel_config
from bot.settings.connections import (
    Connection,
    ConnectionFormError,
    PanelConflictError,
    PanelDraft,
    connection_name,
    known_seats,
    load_connected,
    parse_address,
    read_document,
    store_panel,
    stored_panel,
)
from bot.settings.default_panels import default_panels, propose_seats
from bot.settings.panels import GRACE_SECONDS
from bot.settings.provider_keys import (
    CONNECTED_FILE,
    KEYS_FILE,
    Address,
    ProviderKeys,
    connected_key_variable,
    read_keys,
)
from council.model_families import family_of
from council.panel import Panel
from council.providers import PROVIDERS
from tests.bot.distributions import install

HAIKU = """
from dataclasses import replace
from council.methods import BLIND_RANKING
from council.plugin import Plugin

METHOD = replace(BLIND_RANKING, name="haiku")
PLUGIN = Plugin(name="haiku", methods={"haiku": f"{__name__}:METHOD"})
"""
OPENAI, *_, OLLAMA, CUSTOM = PROVIDERS
A_KEY = SecretStr("sk-one")
EAST = "https://acme-production-east-us-1.openai.azure.com/openai/v1"
WEST = "https://acme-production-east-us-2.openai.azure.com/openai/v1"


def connection(base: str, key: str, folder: Path | None = None) -> Connection:
    """Return the connection of a server, named as if it was added to what a folder has."""
    known = known_seats(read_document(folder)) if folder else {}
    name = connection_name(CUSTOM, base, known.values())
    return Connection(name, CUSTOM, base, SecretStr(key), models=("x", "y"))


def store_connection(folder: Path, one: Connection) -> None:
    """Store a panel of a connection's models, named after it."""
    seats = {f"{one.name}/{model}": one.seat(model) for model in one.models}
    version = stored_panel(read_document(folder), one.name).version
    store_panel(folder, PanelDraft(one.name, tuple(seats), version=version), seats, one)


def key_of(settings: Settings, seat: Seat) -> str | None:
    """Return the key that a seat's calls use."""
    section = seat.section
    provider = seat.member.model_id.partition("/")[0]
    return settings.key_for(provider, section.api_key_env, section.api_base)


def used_keys(folder: Path) -> dict[tuple[str | None, str | None], int]:
    """Return how many seats use each pair of address and key."""
    settings = Settings(connected_keys=read_keys(folder))
    seats = load_connected(folder)[0].seats.values()
    return Counter((seat.section.api_base, key_of(settings, seat)) for seat in seats)


@pytest.mark.parametrize(
    ("listed", "members", "judges"),
    [
        pytest.param(
            "gpt-5.2-2026-01-01 gpt-5.2 gpt-5.1 gpt-5 gpt-4.1 gpt-4o gpt-5-mini gpt-5.2-pro tts-1 "
            "text-embedding-3-large gpt-4-turbo",
            "gpt-5.2 gpt-5.1 gpt-5 gpt-4.1 gpt-4o",
            "gpt-5-mini",
            id="newest-full-size-models-once-each",
        ),
        pytest.param(
            "claude-sonnet-4-5-20250929 claude-opus-4-6 claude-haiku-4-5-20251001",
            "claude-opus-4-6 claude-sonnet-4-5-20250929 claude-haiku-4-5-20251001",
            "",
            id="a-snapshot-where-there-is-no-alias",
        ),
        pytest.param(
            "gemini-3-flash-preview gemini-2.5-pro gemini-2.5-flash-image gemini-3-pro-preview",
            "gemini-3-pro-preview gemini-2.5-pro gemini-3-flash-preview",
            "",
            id="gemini",
        ),
        pytest.param("nomic-embed-text", "nomic-embed-text", "", id="nothing-else"),
    ],
)
def test_the_best_models_of_one_provider_are_proposed(
    listed: str, members: str, judges: str
) -> None:
    assert propose_seats(listed.split()) == (members.split(), judges.split())


def test_six_families_are_proposed_where_there_are_six() -> None:
    makers = ("anthropic/claude-opus", "openai/gpt", "google/gemini-pro", "x-ai/grok", "qwen/qwen")
    listed = [
        f"{maker}-{version}" for maker in (*makers, "mistralai/mistral") for version in (5, 6)
    ]

    members, judges = propose_seats(listed)

    assert len({family_of(model) for model in (*members, *judges)}) == 6
    assert all(model.endswith("-6") for model in members)


@pytest.mark.parametrize(
    ("typed", "fix"),
    [
        ("localhost:11434", "http://localhost:11434"),
        ("192.168.1.5:8080/v1", "http://192.168.1.5:8080/v1"),
        ("gpu-box/v1", "http://gpu-box/v1"),
        ("llm.example.org/v1", "https://llm.example.org/v1"),
    ],
)
def test_an_address_without_a_scheme_gets_a_proposal(typed: str, fix: str) -> None:
    with pytest.raises(ConnectionFormError) as refused:
        parse_address(typed)

    assert refused.value.fixes == {"address": fix}
    assert fix in str(refused.value)


@pytest.mark.parametrize(
    "typed", ["", "http://", "file:///etc/passwd", "http://a b", "http://[::1", "http://h:0/v1"]
)
def test_what_is_no_web_address_is_refused(typed: str) -> None:
    with pytest.raises(ConnectionFormError):
        parse_address(typed)


def test_the_end_of_a_pasted_address_is_left_out() -> None:
    assert parse_address(" http://h/v1/chat/completions ") == "http://h/v1"
    assert parse_address("http://h/v1/") == "http://h/v1"


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("http://127.0.0.1:8080/v1", "server-8080"),
        ("https://api.example.org/v1", "api-example-org"),
        ("http://local/v1", "local-server"),
    ],
)
def test_a_server_is_named_after_its_address(base: str, name: str) -> None:
    assert connection_name(CUSTOM, base, ()) == name


def test_a_server_without_a_key_never_gets_the_key_of_openai(tmp_path: Path) -> None:
    seat = connection("http://127.0.0.1:8080/v1", "").seat("m")
    settings = Settings(keys={"OPENAI_API_KEY": SecretStr("sk-openai")})

    assert seat.member.model_id == "openai/m"
    assert key_of(settings, seat) is None


def stored(folder: Path, name: str = "mine", version: str = "", key: str = "sk-one") -> None:
    connection = Connection("openai", OPENAI, OPENAI.base, SecretStr(key))
    seats = {f"openai/{model}": connection.seat(model) for model in ("a", "b")}
    draft = PanelDraft(name, tuple(seats), version=version, becomes_default=True)
    store_panel(folder, draft, seats, connection)


def test_a_stored_panel_and_key_are_read_again(tmp_path: Path) -> None:
    stored(tmp_path)

    config, default = load_connected(tmp_path)
    settings = Settings(connected_keys=read_keys(tmp_path))
    assert default == "mine"
    assert [seat.key for seat in config.panels["mine"].members] == ["openai/a", "openai/b"]
    assert {key_of(settings, config.seats["openai/a"]), settings.key_for("openai")} == {"sk-one"}


def test_a_hung_model_does_not_hold_an_answer_of_models_that_were_connected_with_a_key(
    tmp_path: Path,
) -> None:
    stored(tmp_path)
    server = connection("http://127.0.0.1:8080/v1", "")
    seats = {f"server-8080/{model}": server.seat(model) for model in ("a", "b")}
    store_panel(tmp_path, PanelDraft("own", tuple(seats)), seats, server)
    keys = {"OPENAI_API_KEY": A_KEY, "XAI_API_KEY": A_KEY}

    connected, _ = load_connected(tmp_path)
    found = default_panels(Settings(keys=keys), ["a", "b"])

    def grace(panel: Panel) -> float | None:
        return panel.terms.grace_seconds

    assert grace(connected.panels["mine"]) == grace(found.panels["keys"]) == GRACE_SECONDS
    assert grace(connected.panels["own"]) is None  # whose models may wait for each other
    assert grace(found.panels["ollama"]) == 3 * GRACE_SECONDS


def test_a_change_keeps_other_panels_and_what_was_added_by_hand(tmp_path: Path) -> None:
    stored(tmp_path)
    file = tmp_path / "connected.json"
    file.write_text(file.read_text().replace('"members"', '"answer_seconds": 90, "members"'))

    stored(tmp_path, "other", key="sk-two")
    stored(tmp_path, "mine", stored_panel(read_document(tmp_path), "mine").version)

    config, _ = load_connected(tmp_path)
    assert config.panels["mine"].terms.answer_seconds == 90
    assert set(config.panels) == {"mine", "other"}


def test_a_panel_can_have_a_method_of_a_plugin_that_council_toml_enables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "haiku", HAIKU)
    config_file = tmp_path / "council.toml"
    config_file.write_text('[plugins]\nenabled = ["haiku"]\n')
    plugins = load_panel_config(config_file).plugins
    stored(tmp_path)
    file = tmp_path / "connected.json"
    file.write_text(file.read_text().replace('"members"', '"method": "haiku", "members"'))

    seats = known_seats(read_document(tmp_path))
    draft = stored_panel(read_document(tmp_path), "mine")
    store_panel(tmp_path, draft, seats, plugins=plugins)

    config, _ = load_connected(tmp_path, plugins)
    assert config.panels["mine"].terms.method == "haiku"


def test_a_change_of_an_old_version_stores_nothing(tmp_path: Path) -> None:
    stored(tmp_path)

    with pytest.raises(PanelConflictError):
        stored(tmp_path, key="sk-two")

    assert read_keys(tmp_path).by_address == {Address.parse(OPENAI.base): A_KEY}


@pytest.mark.parametrize(
    ("file", "read"), [("connected.json", load_connected), (KEYS_FILE, read_keys)]
)
def test_a_broken_file_is_one_sentence_without_its_content(
    tmp_path: Path, file: str, read: Callable[[Path], object]
) -> None:
    (tmp_path / file).write_text('{"openai: sk-secret')

    with pytest.raises(SettingsError) as refused:
        read(tmp_path)

    assert file in str(refused.value)
    assert "sk-secret" not in str(refused.value)


# --- A key is bound to an address


@pytest.mark.parametrize("key", ["", "sk-two"])
def test_a_key_is_not_borrowed_from_a_similar_host(tmp_path: Path, key: str) -> None:
    store_connection(tmp_path, connection(EAST, "sk-one"))

    store_connection(tmp_path, connection(WEST, key, tmp_path))

    assert used_keys(tmp_path) == {(EAST, "sk-one"): 2, (WEST, key or None): 2}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (EAST, WEST),
        ("https://api.example.org/v1", "https://api-example-org/v1"),
        ("https://h.example/v1", "http://h.example/v1"),
        ("http://127.0.0.1:8080/v1", "http://localhost:8080/v1"),
    ],
)
def test_servers_at_two_addresses_have_two_names(first: str, second: str, tmp_path: Path) -> None:
    store_connection(tmp_path, connection(first, "sk-one"))

    names = [connection(base, "", tmp_path).name for base in (first, second)]

    assert names[0] == connection(first, "").name
    assert names[0] != names[1]
    assert all(len(f"{name}-2") <= 32 for name in names)


def test_two_ollamas_keep_their_models_apart(tmp_path: Path) -> None:
    one, other = "http://gpu-1:11434", "http://gpu-2:11434"
    seats = [Connection("ollama", OLLAMA, one, SecretStr("")).seat("qwen3")]

    name = connection_name(OLLAMA, other, seats)
    seat = Connection(name, OLLAMA, other, SecretStr("")).seat("qwen3")

    assert seats[0].member.key == seats[0].member.model_id == seat.member.model_id == "ollama/qwen3"
    assert seat.member.key != "ollama/qwen3"


def test_a_stored_seat_never_moves_to_another_address(tmp_path: Path) -> None:
    opened = [connection(base, "sk-one") for base in (EAST, WEST)]
    store_connection(tmp_path, opened[0])

    with pytest.raises(ConnectionFormError, match="acme-production-east-us-1"):
        store_connection(tmp_path, replace(opened[1], name=opened[0].name))

    assert used_keys(tmp_path) == {(EAST, "sk-one"): 2}


def test_a_key_serves_its_origin_and_nothing_else() -> None:
    keys = ProviderKeys({Address.parse("https://h.example/v1"): A_KEY})
    spelled = ["HTTPS://H.example:443/v1/", "https://h.example/v2"]
    others = ["http://h.example/v1", "https://h.example:444/v1", "https://h.example.org/v1"]

    assert [keys.find(Address.parse(url)) for url in spelled] == [A_KEY] * 2
    assert [keys.find(Address.parse(url)) for url in others] == [None] * 3
    assert keys.find(None) is None


def test_of_two_keys_of_an_origin_each_serves_its_path() -> None:
    bases = [f"https://h.example/{team}/v1" for team in "ab"]
    keys = ProviderKeys({Address.parse(base): SecretStr(base[-4:]) for base in bases})

    found = [keys.find(Address.parse(base)) for base in (*bases, "https://h.example/c/v1")]

    assert found == [SecretStr("a/v1"), SecretStr("b/v1"), None]


def test_a_key_of_the_page_does_not_follow_its_provider_to_an_address_in_the_environment() -> None:
    keys = ProviderKeys({Address.parse(OPENAI.base): A_KEY})
    proxied = {"OPENAI_BASE_URL": SecretStr("http://127.0.0.1:4000")}

    assert Settings(connected_keys=keys).key_for("openai") == "sk-one"
    assert Settings(connected_keys=keys, keys=proxied).key_for("openai") is None
    assert Settings(connected_keys=keys).key_for("openai", base="http://h:x/v1") is None


def old_files(folder: Path, bases: Mapping[str, str], keys: Mapping[str, str]) -> None:
    """Write the files of 0.2: keys by name; the seats of `bases` have the name before the slash."""
    models = {
        key: {
            "model": "openai/m",
            "api_base": base,
            "api_key_env": connected_key_variable(key.partition("/")[0]),
        }
        for key, base in bases.items()
    }
    document = {"models": models, "panels": {"mine": {"members": [*bases]}}}
    (folder / CONNECTED_FILE).write_text(json.dumps(document))
    (folder / KEYS_FILE).write_text(json.dumps(keys))


def test_keys_of_an_earlier_version_are_bound_to_their_addresses(tmp_path: Path) -> None:
    old_files(tmp_path, {"h/a": EAST, "h/b": EAST}, {"h": "sk-one", "openai": "sk-two"})

    store_connection(tmp_path, connection(WEST, "", tmp_path))

    file = json.loads((tmp_path / KEYS_FILE).read_text())
    host = EAST.split("/")[2]
    entry = {"scheme": "https", "host": host, "port": 443, "path": "/openai/v1", "key": "sk-one"}
    assert file["keys"][0] == entry
    assert used_keys(tmp_path) == {(EAST, "sk-one"): 2, (WEST, None): 2}
    assert Settings(connected_keys=read_keys(tmp_path)).key_for("openai") == "sk-two"


def test_an_ambiguous_key_of_an_earlier_version_is_kept_unused(tmp_path: Path) -> None:
    old_files(tmp_path, {"h/a": EAST, "h/b": WEST}, {"h": "sk-one"})

    before = used_keys(tmp_path)
    store_connection(tmp_path, connection(EAST, "sk-new", tmp_path))
    kept = read_keys(tmp_path).ambiguous
    store_connection(tmp_path, connection(WEST, "sk-newer", tmp_path))

    assert before == {(EAST, None): 1, (WEST, None): 1}
    assert kept == {"h": A_KEY}
    assert read_keys(tmp_path).ambiguous == {}


def test_a_wrong_entry_is_one_sentence_without_its_content(tmp_path: Path) -> None:
    (tmp_path / KEYS_FILE).write_text('{"keys": [{"key": "sk-secret", "port": "x"}]}')

    with pytest.raises(SettingsError, match=KEYS_FILE) as refused:
        read_keys(tmp_path)

    assert "sk-secret" not in str(refused.value)
