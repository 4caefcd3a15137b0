"""Hooks of plug-ins before and after a round."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.access import Access, RoundLimitError
from bot.admission import admit_round
from bot.context import AppContext
from bot.hooks import (
    MAX_TRIES,
    gather_files,
    is_same_question,
    run_closing_hooks,
    run_missed_hooks,
)
from bot.plugins import PluginSwitches, find_plugins
from council.errors import StoreError
from council.files import MAX_FILES, QuestionFile
from council.places import Place
from council.rounds import Question, Round
from tests.bot.app_fakes import an_app
from tests.bot.distributions import install
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round

PLACE = Place("fake", "team", "general")
CODE = """
from council.files import QuestionFile
from council.plugin import Plugin
from tests.bot.test_hooks import GATHERED, LOG

async def closed(app, round_):
    LOG.append(round_.id)
    if "fails" in app.default:
        raise ValueError("no network")

async def gather(question):
    GATHERED.append(question.text)
    return [QuestionFile(f"{n}.txt", "text/plain", "text") for n in range(9)]

async def fail(question):
    raise ValueError("no network")

PLUGIN = Plugin(
    name="log", on_closed=(f"{__name__}:closed",), gather=(f"{__name__}:fail", f"{__name__}:gather")
)
"""
LOG: list[str] = []
GATHERED: list[str] = []


class DamagedStore(MemoryStore):
    """A store in which the round "damaged" can't be loaded."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def load(self, round_id: str) -> Round:
        if round_id == "damaged":
            raise self.error
        return await super().load(round_id)


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
    GATHERED.clear()
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


async def test_a_hook_that_failed_before_the_first_start_of_a_server_runs_again(site: Site) -> None:
    await site.app.key_values.delete("closing hooks since", "")
    await site.close("older")
    round_ = await site.close("r1")
    default, site.app.default = site.app.default, "fails"
    await run_closing_hooks(site.app, round_)
    site.app.default = default

    await run_missed_hooks(site.app)

    assert LOG == ["r1", "r1"]


async def test_a_round_that_closes_after_the_first_one_with_the_plugin_gets_its_hooks(
    site: Site,
) -> None:
    site.app.now = lambda: a_closed_round().asked_at
    await site.app.key_values.delete("closing hooks since", "")
    await run_closing_hooks(site.app, await site.close("r1"))
    await site.close("r2")
    site.app.now = lambda: a_closed_round().asked_at + timedelta(days=1)

    await run_missed_hooks(site.app)

    assert LOG == ["r1", "r2"]


async def test_a_hook_that_always_fails_is_given_up(site: Site) -> None:
    site.app.now = lambda: a_closed_round().asked_at
    await site.app.key_values.delete("closing hooks since", "")
    await run_missed_hooks(site.app)
    await site.close("r1")
    site.app.default = "fails"

    for _ in range(MAX_TRIES + 2):
        await run_missed_hooks(site.app)

    assert LOG == ["r1"] * MAX_TRIES


@pytest.mark.parametrize("error", [ValueError("not a round"), StoreError("a wrong value")])
async def test_a_round_that_cannot_be_loaded_is_named_and_the_others_get_their_hooks(
    site: Site, error: Exception
) -> None:
    site.app.now = lambda: a_closed_round().asked_at
    await site.app.key_values.delete("closing hooks since", "")
    site.app.store = DamagedStore(error)
    await run_missed_hooks(site.app)
    for round_id in ("r1", "damaged", "r2"):
        await site.close(round_id)

    with capture_logs() as logs:
        await run_missed_hooks(site.app)

    assert sorted(LOG) == ["r1", "r2"]
    [line] = logs
    assert f"Round damaged can't be loaded ({type(error).__name__})" in line["why"]


async def test_files_are_gathered_once_for_a_repeated_event(site: Site) -> None:
    asked = site.app.new_round(Question("Why?"), site.app.panel(None, PLACE), None, "r1")

    first = await admit_round(site.app, asked)
    again = await admit_round(site.app, asked)

    stored = await site.app.store.load("r1")
    assert (first, again) == (True, False)
    assert GATHERED == ["Why?"]
    assert is_same_question(site.app, stored.question, asked.question)


async def test_no_files_are_gathered_for_a_round_of_a_bakeoff(site: Site) -> None:
    asked = site.app.new_round(Question("Why?"), site.app.panel(None, PLACE), None, "r1")

    await admit_round(site.app, replace(asked, bakeoff="b1"))

    assert GATHERED == []


async def test_no_files_are_gathered_for_an_asker_at_the_limit(site: Site) -> None:
    site.app.access = Access(rounds_per_hour=1)
    question = Question("Why?", asked_by="u1", place=PLACE)
    panel = site.app.panel(None, PLACE)
    await admit_round(site.app, site.app.new_round(question, panel, None, "r1"))

    with pytest.raises(RoundLimitError):
        await admit_round(site.app, site.app.new_round(question, panel, None, "r2"))

    assert len(GATHERED) == 1


async def test_a_question_that_has_the_gathered_files_already_does_not_get_them_again(
    site: Site,
) -> None:
    once = await gather_files(site.app, Question("Why?", files=()))

    again = await gather_files(site.app, replace(once, files=once.files[:2]))

    assert len({file.name for file in again.files}) == len(again.files)


async def test_files_are_gathered_as_far_as_there_is_room(site: Site) -> None:
    own = QuestionFile("own.txt", "text/plain", "mine")

    question = await gather_files(site.app, Question("Why?", files=(own,)))

    assert len(question.files) == MAX_FILES
    assert question.files[0] == own
