"""Baselines that do not drift, and news that is told once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.bakeoffs.baselines import bless, blessed_run, is_blessed, unbless
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.posting import TOLD, bakeoff_leaderboard, is_news
from bot.bakeoffs.render.headline import missing_lines
from bot.bakeoffs.render.leaderboard import leaderboard_thread
from bot.bakeoffs.render.leaderboard_text import changes_post, comparison_line
from bot.chat import Caution, Heading
from bot.context import AppContext
from council.bakeoffs.changes import Changes, LostBaseline
from council.bakeoffs.models import Bakeoff
from council.errors import BakeoffError
from council.panel import Trial
from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite, run_to_end
from tests.bot.bakeoffs.render.boards.builders import (
    CLAUDE,
    GPT,
    MISTRAL,
    NAMES,
    a_leaderboard,
    a_move,
    some_changes,
)
from tests.builders import ASKED_AT
from tests.fakes.gateway import FakeGateway

SUITE = a_suite(2)


async def ran(app: AppContext, day: int) -> Bakeoff:
    id_ = f"bo:{day}"
    one = replace(a_bakeoff(SUITE, id_=id_), at=ASKED_AT + timedelta(days=day))
    app.now = lambda: one.at
    await run_to_end(app, bakeoff=one)
    return await bakeoff_stores(app).bakeoffs.load(id_)


async def test_later_runs_are_compared_with_the_blessed_one() -> None:
    app = an_app(FakeGateway())
    first, second, third = [await ran(app, day) for day in (1, 2, 3)]
    assert await blessed_run(app, third) is None

    await bless(app, first)
    found = (await bakeoff_leaderboard(app, third)).changes

    assert await blessed_run(app, third) == first
    assert (await is_blessed(app, first), await is_blessed(app, second)) == (True, False)
    assert found
    assert (found.runs, found.baseline) == (1, first.at)
    assert "compared with the baseline of" in comparison_line(found)
    assert await blessed_run(app, first) is None


async def test_a_baseline_can_be_taken_back() -> None:
    app = an_app(FakeGateway())
    first, second = [await ran(app, day) for day in (1, 2)]
    await bless(app, first)

    assert await unbless(app, second)
    assert await blessed_run(app, second) is None
    assert not await unbless(app, second)


async def test_a_baseline_of_other_questions_or_a_deleted_one_is_lost() -> None:
    app = an_app(FakeGateway())
    first = await ran(app, 1)
    later = replace(first, id="bo:2", at=first.at + timedelta(days=1))
    await bless(app, first)

    assert await blessed_run(app, later) == first
    other = replace(later, suite=a_suite(3))
    assert await blessed_run(app, other) == LostBaseline(first.id, first.at)
    await app.key_values.put("baseline", "slack/T1/sql/house", "bo:gone")
    assert await blessed_run(app, later) == LostBaseline("bo:gone")


async def test_a_lost_baseline_is_said_above_the_result_and_is_news_once() -> None:
    app = an_app(FakeGateway())
    first, second = [await ran(app, day) for day in (1, 2)]
    await app.key_values.put("baseline", "slack/T1/sql/house", "bo:gone")

    board, alone = [await bakeoff_leaderboard(app, run) for run in (second, first)]

    assert [*missing_lines(board)] == [
        "The blessed run no longer exists, so this one is compared with the runs before it. "
        "Bless another run."
    ]
    assert [line.endswith("no other. Bless another run.") for line in missing_lines(alone)] == [
        True
    ]
    lines = [part for part in leaderboard_thread(board).root.parts if isinstance(part, Caution)]
    assert [line.text for line in lines] == [*missing_lines(board)]
    assert await is_news(app, SCHEDULED, board.changes)
    assert not await is_news(app, NEXT, board.changes)
    assert board.changes
    assert not board.changes.is_worse


async def test_a_baseline_whose_rounds_were_deleted_is_lost() -> None:
    app = an_app(FakeGateway())
    second = await ran(app, 2)
    empty = replace(second, id="bo:empty", at=second.at - timedelta(days=1))
    await bakeoff_stores(app).bakeoffs.open(empty)
    await bless(app, empty)

    changes = (await bakeoff_leaderboard(app, second)).changes

    assert changes
    assert changes.lost == LostBaseline(empty.id)


def test_news_of_a_lost_baseline_alone_says_so() -> None:
    lost = Changes("b", 0, lost=LostBaseline("bo:1", ASKED_AT))
    board = replace(a_leaderboard(), changes=lost)

    post = changes_post(lost, NAMES, "weekly", missing=[*missing_lines(board)])

    said = "The blessed run of 21 November 2026 asked another version of the suite"
    assert [type(part) for part in post.parts] == [Heading, Caution]
    assert post.summary.startswith(f"weekly: {said}")


async def test_a_trial_is_compared_with_no_earlier_run() -> None:
    app = an_app(FakeGateway())
    first, second = [await ran(app, day) for day in (1, 2)]
    await bless(app, first)
    trial = Trial("sonnet", "gpt", is_ranked=True)

    board = await bakeoff_leaderboard(
        app, replace(second, panel=replace(second.panel, trial=trial))
    )

    assert board.changes is None


async def test_only_a_finished_run_can_be_a_baseline() -> None:
    with pytest.raises(BakeoffError, match="Only a finished bake-off"):
        await bless(an_app(FakeGateway()), a_bakeoff())


SCHEDULED = replace(a_bakeoff(SUITE, id_="sched:s1@1"), schedule="s1")
NEXT = replace(SCHEDULED, id="sched:s1@2")


async def test_news_are_told_once_until_they_change() -> None:
    app, news = an_app(FakeGateway()), some_changes()

    assert await is_news(app, SCHEDULED, news)
    assert await is_news(app, SCHEDULED, news)  # its posting was interrupted
    assert not await is_news(app, NEXT, news)
    assert await is_news(app, NEXT, replace(news, missing=()))


async def test_news_that_went_away_are_told_again() -> None:
    app, news, quiet = an_app(FakeGateway()), some_changes(), Changes("b", 3)

    assert await is_news(app, SCHEDULED, news)
    assert not await is_news(app, NEXT, quiet)
    assert await is_news(app, replace(NEXT, id="sched:s1@3"), news)
    assert await app.key_values.read(TOLD, "s1")
    assert not await is_news(app, a_bakeoff(), news)  # nobody waits for those of a person
    assert not await is_news(app, NEXT, None)


def test_a_rise_is_no_worsening_and_a_fall_a_swap_or_a_silence_is() -> None:
    rise, fall = a_move(GPT, 0.2), a_move(CLAUDE, -0.2)

    assert not Changes("b", 1, (rise,), new=(MISTRAL,)).is_worse
    assert Changes("b", 1, (fall,)).is_worse
    assert Changes("b", 1, (), some_changes().hints).is_worse
    assert Changes("b", 1, missing=(GPT,)).is_worse
    assert Changes("b", 1, (fall,)).signature != Changes("b", 1, (rise,)).signature
