"""The app manifest is valid, and names exactly what the code handles and needs."""

import inspect
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from bot.settings import load_panel_config
from bot.slack.client import FEATURES_BY_SCOPE, REQUIRED_SCOPES
from bot.slack.config import events_address, load_manifest, render_manifest
from bot.slack.listeners import ASK_ABOUT_MESSAGE, ASK_ANYWHERE, SlackListeners
from bot.slack.middleware import new_bolt
from tests.bot.homes import Home, Result
from tests.wire.slack.manifest import find_manifest_faults

ADDRESS = "https://council.example.com/slack/events"
SECRET = {"SLACK_SIGNING_SECRET": "8f742231b10e"}
APP_TOKEN = {"SLACK_APP_TOKEN": "xapp-1-home"}


@pytest.mark.parametrize("address", [None, ADDRESS], ids=["socket", "http"])
def test_it_is_valid(address: str | None) -> None:
    assert find_manifest_faults(load_manifest(address)) == []


def test_its_scopes_are_those_that_preflight_checks() -> None:
    scopes = load_manifest()["oauth_config"]["scopes"]["bot"]

    assert scopes == sorted({*REQUIRED_SCOPES, *FEATURES_BY_SCOPE})


def test_it_lists_every_shortcut_that_is_handled() -> None:
    shortcuts = {entry["callback_id"]: entry for entry in load_manifest()["features"]["shortcuts"]}

    assert {name: entry["type"] for name, entry in shortcuts.items()} == {
        ASK_ABOUT_MESSAGE: "message",
        ASK_ANYWHERE: "global",
    }


def test_every_event_in_it_is_handled() -> None:
    handlers = (SlackListeners, new_bolt)
    heard = "".join(inspect.getsource(handler) for handler in handlers)

    for event in load_manifest()["settings"]["event_subscriptions"]["bot_events"]:
        assert f'"{event.partition(".")[0]}"' in heard, event


def test_over_http_everything_is_posted_to_one_address() -> None:
    document = load_manifest(ADDRESS)

    assert document["settings"]["socket_mode_enabled"] is False
    assert document["features"]["slash_commands"][0]["url"] == ADDRESS
    for name in ("event_subscriptions", "interactivity"):
        assert document["settings"][name]["request_url"] == ADDRESS


def test_many_workspaces_can_install_a_distributed_app() -> None:
    document = load_manifest(ADDRESS, distributed=True)

    redirect = "https://council.example.com/slack/oauth_redirect"
    assert document["oauth_config"]["redirect_urls"] == [redirect]
    settings = document["settings"]
    assert settings["org_deploy_enabled"]
    assert settings["token_rotation_enabled"]
    assert "team_access_revoked" in settings["event_subscriptions"]["bot_events"]
    assert find_manifest_faults(document) == []
    assert "redirect_urls" not in load_manifest(ADDRESS)["oauth_config"]


def test_over_a_socket_there_is_no_address() -> None:
    assert load_manifest()["settings"]["socket_mode_enabled"] is True
    assert "url" not in render_manifest()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://council.example.com", ADDRESS),
        ("https://council.example.com/", ADDRESS),
        (ADDRESS, ADDRESS),
        ("https://example.com:8443/bots", "https://example.com:8443/bots/slack/events"),
        *((bad, None) for bad in ("", "council.example.com", "http://council.example.com")),
        *(
            (bad, None)
            for bad in ("https://", "https:// a", "https://a?b", "https://u@a", 'https://a"')
        ),
    ],
)
def test_an_address_is_one_that_slack_posts_to(url: str, address: str | None) -> None:
    assert events_address(url) == address


@pytest.mark.parametrize(
    ("settings", "arguments", "socket"),
    [
        pytest.param({}, (), True, id="nothing-set"),
        pytest.param(APP_TOKEN, (), True, id="app-token"),
        pytest.param({**SECRET, **APP_TOKEN}, (), True, id="both"),
        pytest.param(SECRET, ("--url", "https://council.example.com"), False, id="secret-and-url"),
        pytest.param({}, ("--url", "https://council.example.com"), False, id="url"),
    ],
)
def test_the_printed_manifest_matches_the_settings(
    home: Home, settings: dict[str, str], arguments: tuple[str, ...], *, socket: bool
) -> None:
    home = home.with_settings(**settings)

    ran, as_json = (
        home.invoke("slack", "manifest", *arguments, *more) for more in ((), ("--json",))
    )

    assert (ran.code, ran.err) == (0, "")
    assert yaml.safe_load(ran.out) == json.loads(as_json.out)
    assert as_json.json == load_manifest(None if socket else ADDRESS)


def test_a_link_opens_slacks_form_filled_in(home: Home) -> None:
    ran = home.invoke("slack", "manifest")

    link = ran.out.splitlines()[-1].removeprefix("# ")
    asked = parse_qs(urlsplit(link).query)
    assert link.startswith("https://api.slack.com/apps?new_app=1&manifest_json=")
    assert json.loads(asked["manifest_json"][0]) == load_manifest()
    assert len(link) < 4_000  # some browsers and proxies take no longer ones


def is_one_sentence(ran: Result) -> bool:
    return (ran.code, ran.out, len(ran.lines)) == (2, "", 1)


def test_http_without_a_url_is_an_error_of_one_sentence(home: Home) -> None:
    ran = home.with_settings(**SECRET).invoke("slack", "manifest")

    assert is_one_sentence(ran)
    assert "--url https://council.example.com" in ran.err
    assert SECRET["SLACK_SIGNING_SECRET"] not in ran.err


def test_a_bad_url_is_an_error_of_one_sentence(home: Home) -> None:
    ran = home.invoke("slack", "manifest", "--url", "http://localhost:8765")

    assert is_one_sentence(ran)
    assert "'http://localhost:8765' is not a public address" in ran.err


def guide() -> str:
    return (Path(__file__).parents[3] / "docs" / "slack.md").read_text(encoding="utf-8")


def test_the_guide_has_every_scope_and_what_is_off_without_it() -> None:
    rows = [line for line in guide().splitlines() if line.startswith("| `")]

    for scope in REQUIRED_SCOPES:
        assert any(f"| `{scope}` |" in row and row.endswith("| not started |") for row in rows), (
            scope
        )
    for scope, off in FEATURES_BY_SCOPE.items():
        assert any(f"| `{scope}` |" in row and row.endswith(f"| {off} |") for row in rows), scope


def test_the_guides_example_of_access_is_sound(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", guide(), re.DOTALL)
    assert example
    config = tmp_path / "council.toml"
    config.write_text(f'[panels.ollama]\nmembers = ["ollama/a", "ollama/b"]\n{example[1]}')

    access = load_panel_config(config).access

    assert access.channels == ("C012AB", "C034CD")
    assert access.admins == ("U056EF",)
