"""Hooks of plug-ins before and after a round."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.context import AppContext
from bot.hooks import MAX_TRIES, gather_files, run_closing_hooks, run_missed_hooks
from bot.plugins import PluginSwitches, find_plugins
from council.files import MAX_FILES, QuestionFile
from council.rounds import Question, Round
from tests.bot.app_fakes import an_app
from tests.bot.distributions import install
from tests.storage.builders import a_closed_round

CODE = """
from council.files import QuestionFile
from council.plugin import Plugin
from tests.bot.test_hooks import LOG

async def closed(app, round_):
    LOG.append(round_.id)
    if "fails" in app.default:
        raise ValueError("no network")

async def gather(question):
    return [QuestionFile(f"{n}.txt", "text/plain", "text") for n in range(9)]

async def fail(question):
    raise ValueError("no network")

PLUGIN = Plugin(
    name="log", on_closed=(f"{__name__}:closed",), gather=(f"{__name__}:fail", f"{__name__}:gather")
)
"""
LOG: list[str] = []


@dataclass(slots=True)
class Site:
    """An application with the plug-in, whose hook fails if the default panel says so."""

    app: AppContext = field(default_factory=an_app)

    async def close(self, round_id: str) -> Round:
        round_ = a_closed_round(round_id)
        await self.app.store.open(round_)
        return round_


@pytest.fixture
async def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    install(tmp_path, monkeypatch, "log", CODE)
    site = Site()
    site.app.plugins = find_plugins(PluginSwitches(enabled=("log",)), own=())
    LOG.clear()
    await run_missed_hooks(site.app)  # the first start: older rounds are not its affair
    return site


async def test_a_hook_runs_once_for_a_closed_round(site: Site) -> None:
    round_ = await site.close("r1")

    await run_closing_hooks(site.app, round_)
    await run_missed_hooks(site.app)

    assert LOG == ["r1"]


async def test_a_round_whose_hook_a_crash_prevented_gets_it_at_the_next_start(site: Site) -> None:
    site.app.now = lambda: a_closed_round().asked_at
    await site.app.key_values.delete("closing hooks since", "")
    await run_missed_hooks(site.app)
    await site.close("r1")

    await run_missed_hooks(site.app)

    assert LOG == ["r1"]


async def test_a_hook_that_fails_twice_runs_again_and_never_touches_the_round(site: Site) -> None:
    site.app.now = lambda: a_closed_round().asked_at
    await site.app.key_values.delete("closing hooks since", "")
    await run_missed_hooks(site.app)
    round_ = await site.close("r1")
    default, site.app.default = site.app.default, "fails"

    await run_closing_hooks(site.app, round_)
    await run_missed_hooks(site.app)
    site.app.default = default
    await run_missed_hooks(site.app)
    await run_missed_hooks(site.app)

    assert LOG == ["r1"] * 3
    assert await site.app.store.load("r1") == round_


async def test_a_hook_that_always_fails_is_given_up(site: Site) -> None:
    site.app.now = lambda: a_closed_round().asked_at
    await site.app.key_values.delete("closing hooks since", "")
    await run_missed_hooks(site.app)
    await site.close("r1")
    site.app.default = "fails"

    for _ in range(MAX_TRIES + 2):
        await run_missed_hooks(site.app)

    assert LOG == ["r1"] * MAX_TRIES


async def test_files_are_gathered_as_far_as_there_is_room(site: Site) -> None:
    own = QuestionFile("own.txt", "text/plain", "mine")

    question = await gather_files(site.app, Question("Why?", files=(own,)))

    assert len(question.files) == MAX_FILES
    assert question.files[0] == own
