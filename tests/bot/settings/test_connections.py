"""Proposed panels, addresses that people type, and the files of what they connect."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.settings import SettingsError
from bot.settings.connections import (
    Connection,
    ConnectionFormError,
    PanelConflictError,
    PanelDraft,
    load_connected,
    parse_address,
    read_document,
    store_panel,
    stored_panel,
)
from bot.settings.default_panels import propose_seats
from bot.settings.environment import KEYS_FILE, connected_key_variable, read_keys
from council.model_families import family_of
from council.providers import PROVIDERS

OPENAI, *_, CUSTOM = PROVIDERS
A_KEY = SecretStr("sk-one")


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
    assert Connection(CUSTOM, base, A_KEY).name == name


def test_a_server_without_a_key_never_gets_the_key_of_openai(tmp_path: Path) -> None:
    seat = Connection(CUSTOM, "http://127.0.0.1:8080/v1", SecretStr("")).seat("m")

    assert seat.member.model_id == "openai/m"
    assert seat.section.api_key_env == "CONNECT_SERVER_8080"


def stored(folder: Path, name: str = "mine", version: str = "", key: str = "sk-one") -> None:
    connection = Connection(OPENAI, OPENAI.base, SecretStr(key))
    seats = {f"openai/{model}": connection.seat(model) for model in ("a", "b")}
    draft = PanelDraft(name, tuple(seats), version=version)
    store_panel(folder, draft, seats, connection, becomes_default=True)


def test_a_stored_panel_and_key_are_read_again(tmp_path: Path) -> None:
    stored(tmp_path)

    config, default = load_connected(tmp_path)
    keys = read_keys(tmp_path)
    assert default == "mine"
    assert [seat.key for seat in config.panels["mine"].members] == ["openai/a", "openai/b"]
    named = config.seats["openai/a"].section.api_key_env
    assert named == connected_key_variable("openai")
    assert {keys[name].get_secret_value() for name in (named, "OPENAI_API_KEY")} == {"sk-one"}


def test_a_change_keeps_other_panels_and_what_was_added_by_hand(tmp_path: Path) -> None:
    stored(tmp_path)
    file = tmp_path / "connected.json"
    file.write_text(file.read_text().replace('"members"', '"answer_seconds": 90, "members"'))

    stored(tmp_path, "other", key="sk-two")
    stored(tmp_path, "mine", stored_panel(read_document(tmp_path), "mine").version)

    config, _ = load_connected(tmp_path)
    assert config.panels["mine"].terms.answer_seconds == 90
    assert set(config.panels) == {"mine", "other"}


def test_a_change_of_an_old_version_stores_nothing(tmp_path: Path) -> None:
    stored(tmp_path)

    with pytest.raises(PanelConflictError):
        stored(tmp_path, key="sk-two")

    assert json.loads((tmp_path / KEYS_FILE).read_text()) == {"openai": "sk-one"}


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
