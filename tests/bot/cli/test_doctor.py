"""`council doctor`: what works, what does not, and what to do about it."""

import json
from functools import partial
from pathlib import Path

import pytest

from bot.plugins import find_plugins
from bot.settings import panels
from bot.settings.provider_keys import CONNECTED_FILE, KEYS_FILE
from tests.bot.distributions import install
from tests.bot.homes import Home, panel_toml, scripted_config, seat_toml, served_config
from tests.wire.models import ModelServer, fail, no_such_model, wrong_key

KEY = "sk-verysecretverysecret"


def test_a_sound_installation_has_no_failure(home: Home) -> None:
    result = home.invoke("doctor")

    assert (result.code, result.err) == (0, "")
    assert "FAIL" not in result.out
    assert "panel house: 5 models, in use" in result.out
    assert str(home.data) in result.out


def test_the_second_order_of_outside_judges_is_named_with_its_calls(home: Home) -> None:
    text = panel_toml(["openai/gpt-x", "anthropic/claude-x"], outside_judges=["groq/y", "xai/z"])
    both = text.replace("[panels.house]", '[panels.house]\nmethod = "both-orders"')

    one, two = (home.with_config(config).invoke("doctor").out for config in (text, both))

    named = "outside judges also rank in the reverse order"
    assert f"panel house: {named}, so that no slot gains by it (2 more calls a question" in one
    assert named not in two


def test_live_calls_every_seat(home: Home) -> None:
    result = home.invoke("doctor", "--live")

    assert result.code == 0
    assert sum("answers in" in line for line in result.out.splitlines()) == 5


def test_no_panel_is_a_failure(home: Home) -> None:
    result = home.with_config("").invoke("doctor")

    assert result.code == 1
    assert "FAIL no panel: write council.toml" in result.out


def test_every_fault_of_the_configuration_is_a_line(home: Home) -> None:
    home = home.with_config('[panels.house]\nmembers = ["x"]\nquorumm = 3\n')

    result = home.invoke("doctor")

    failed = [line for line in result.out.splitlines() if line.startswith("FAIL")]
    assert result.code == 1
    assert len(failed) == 3


def test_sections_of_an_absent_plug_in_are_left_out_with_its_name(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panels, "find_plugins", partial(find_plugins, own=()))
    sections = 'time_zone = "UTC"\n[suites.sql]\nquestions = ["Why?"]\n[bakeoffs]\n'
    home = home.with_config(sections + scripted_config(3))

    asked, checked = home.invoke("ask", "Why?"), home.invoke("doctor")

    assert (asked.code, checked.code) == (0, 0)
    for name in ("time_zone", "suites", "bakeoffs"):
        line = f"council.toml: {name} is not used, since the plug-in bakeoffs is not here"
        assert line in checked.out


def test_a_seat_without_a_key_is_a_finding_and_one_with_its_own_key_is_not(home: Home) -> None:
    text = panel_toml(["openai/gpt-x", "anthropic/claude-x"])
    text += seat_toml("openai/gpt-x", api_key_env="MY_KEY")

    result = home.with_config(text).with_settings(MY_KEY=KEY).invoke("doctor")

    assert result.code == 1
    assert "openai/gpt-x: no key" not in result.out
    assert "FAIL anthropic/claude-x: no key: set ANTHROPIC_API_KEY" in result.out


async def test_live_reports_each_models_error_and_no_secret(home: Home) -> None:
    names = ["well", "shut", "gone", "busy", "down"]
    async with ModelServer() as server:
        server.script |= {"shut": wrong_key(), "gone": no_such_model()}
        server.script |= {"busy": fail(503, times=1), "down": fail(503, retry_after=0)}
        home = home.with_config(served_config(server.api_base, names))
        home = home.with_settings(OPENAI_API_KEY=KEY)
        result = await home.invoke_in_thread("doctor", "--live")

    assert result.code == 1
    assert "ok   openai/well answers in" in result.out
    assert "FAIL openai/shut could not be asked: the key for its server was refused" in result.out
    assert "FAIL openai/gone could not be asked: there is no model 'gone'" in result.out
    assert "ok   openai/busy answers in" in result.out
    assert "s, at attempt 2" in result.out
    assert "FAIL openai/down could not answer: its server failed (503)" in result.out
    assert KEY not in result.out + result.err


def test_the_rate_limits_of_each_provider_are_listed(home: Home) -> None:
    text = panel_toml(["openai/gpt-x", "openai/mine", "groq/y"])
    text += seat_toml("openai/mine", api_base="http://127.0.0.1:9/v1")
    text += "[providers.openai]\nconcurrency = 8\nrequests_per_minute = 60\n"
    text += '[providers."127.0.0.1:9"]\nconcurrency = 1\n'

    result = home.with_config(text).invoke("doctor")

    for line in (
        "     openai: 8 calls at once, 60 a minute",
        "     openai at 127.0.0.1:9: one call at a time",
        "     groq: 20 calls at once",
    ):
        assert line in result.out.splitlines()


@pytest.mark.parametrize(
    ("hosts", "told"),
    [
        (("a", "b"), "FAIL keys.json: the key of h-long is not used"),
        (("a", "a"), None),
        ((), "keys.json: no model uses the key of h-long"),
    ],
)
def test_an_ambiguous_key_of_an_earlier_version_is_named_without_its_value(
    home: Home, hosts: tuple[str, ...], told: str | None
) -> None:
    models = {
        f"h-long/{i}": {
            "model": "openai/m",
            "api_base": f"https://{host}.example/v1",
            "api_key_env": "CONNECT_H_LONG",
        }
        for i, host in enumerate(hosts)
    }
    home.data.mkdir(exist_ok=True)
    (home.data / CONNECTED_FILE).write_text(json.dumps({"models": models}))
    (home.data / KEYS_FILE).write_text(json.dumps({"h-long": KEY}))

    result = home.invoke("doctor")

    assert result.code == (1 if len(set(hosts)) > 1 else 0)
    assert (told or "panel house") in result.out
    assert (KEYS_FILE in result.out) == (told is not None)
    assert all(f"https://{host}.example/v1" in result.out for host in hosts if told)
    assert KEY not in result.out


def test_a_chat_and_a_check_that_fail_are_named_and_the_rest_is_checked(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
from bot.chats import ChatPlugin
from council.plugin import Plugin

class Pager(ChatPlugin):
    title = "Pager"
    def missing(self, settings):
        raise OSError("no modem")

async def check(report, app, settings):
    raise ValueError("no line")

PAGER = Pager()
PLUGIN = Plugin(name="{0}", {1})
"""
    install(
        tmp_path,
        monkeypatch,
        "pager",
        code.format("pager", "chats={'pager': 'installed_pager:PAGER'}"),
    )
    install(tmp_path, monkeypatch, "line", code.format("line", "checks=('installed_line:check',)"))
    home = home.with_config(
        '[plugins]\nenabled = ["pager", "line"]\n[panels.main]\n'
        'members = ["scripted/a", "scripted/b"]\n'
    )

    result = home.invoke("doctor")

    assert result.code == 1
    why = "Its chat pager failed (OSError: no modem)."
    assert result.out.count(f"FAIL The plug-in pager is left out: {why}") == 1
    assert "FAIL The plug-in line: a check failed (ValueError: no line)." in result.out
    assert "ok   panel main: 2 models" in result.out
