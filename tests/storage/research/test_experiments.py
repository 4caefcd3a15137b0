"""Experiments: opened once, each answer and mark stored once, in every store."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.answers import Reply
from council.errors import StoreError
from council.research.experiment import ExperimentState, ExperimentStore
from council.research.grades import Framing
from storage.bakeoffs.hooks import BakeoffHooks
from storage.research.experiments import SqlExperiments
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT, CLAUDE, GPT
from tests.council.research.experiment_builders import a_cell, a_mark, a_work, an_experiment
from tests.fakes.research.memory_experiments import MemoryExperiments
from tests.storage.bakeoffs.benches import SUITE
from tests.storage.builders import in_memory_too
from tests.storage.conftest import engine_of


@pytest.fixture
def experiments(request: pytest.FixtureRequest) -> ExperimentStore:
    if request.param == "memory":
        return MemoryExperiments()
    engine = engine_of(request)
    return SqlExperiments(engine)


@in_memory_too
async def test_an_experiment_comes_back_whole(experiments: ExperimentStore) -> None:
    whole = an_experiment(4, suite=SUITE, cap_micro=2**40, versions=(("council", "1"),))

    assert await experiments.open(whole)

    assert await experiments.list_recent() == (whole,)


@in_memory_too
async def test_the_first_of_two_with_one_id_is_stored(experiments: ExperimentStore) -> None:
    await experiments.open(an_experiment())

    assert not await experiments.open(an_experiment(asked_by="U2"))

    assert await experiments.list_recent() == (an_experiment(),)


@in_memory_too
async def test_experiments_are_listed_newest_first(experiments: ExperimentStore) -> None:
    later = an_experiment(id="bx:0", at=ASKED_AT + timedelta(days=1))
    for experiment in (an_experiment(id="bx:2"), later, an_experiment(id="bx:1")):
        await experiments.open(experiment)

    assert [one.id for one in await experiments.list_recent()] == ["bx:0", "bx:1", "bx:2"]


@in_memory_too
async def test_its_cap_can_be_changed(experiments: ExperimentStore) -> None:
    await experiments.open(an_experiment())

    await experiments.limit("bx:1", 2**40)
    await experiments.limit("bx:9", 7)

    assert await experiments.list_recent() == (an_experiment(cap_micro=2**40),)


@in_memory_too
async def test_answers_and_marks_are_read_back_and_the_first_of_each_counts(
    experiments: ExperimentStore,
) -> None:
    await experiments.open(an_experiment())
    cut = replace(a_work(2, GPT), reply=Reply("Half", cut=True, seconds=1.5, attempts=2))
    negative = a_mark(a_cell(framing=Framing.NEGATIVE), raw=None)
    parts = (a_work(), cut, a_mark(), negative, replace(negative, attempt=2))

    await asyncio.gather(*(experiments.save("bx:1", part) for part in parts))
    await experiments.save("bx:1", a_work(text="Another."))
    await experiments.save("bx:1", a_mark(raw=1))

    state = await experiments.load_state("bx:1")
    assert sorted(state.answers, key=lambda work: work.number) == [a_work(), cut]
    assert len(state.replies) == 3
    assert {*state.replies} == {*parts[2:]}


async def test_experiments_do_not_share_answers(experiments: ExperimentStore) -> None:
    for id_ in ("bx:1", "bx:2"):
        await experiments.open(an_experiment(id=id_))
    await experiments.save("bx:2", a_work())
    await experiments.save("bx:2", a_mark())

    assert await experiments.load_state("bx:1") == ExperimentState()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param("UPDATE experiment_answer SET reply = '{}'", "reply.text", id="answer"),
        pytest.param("UPDATE experiment_mark SET reply = '{broken'", "mark.reply", id="mark"),
        pytest.param("UPDATE experiment_mark SET framing = 'up'", "framing: 'up' is", id="framing"),
    ],
)
async def test_an_invalid_experiment_is_named(engine: AsyncEngine, change: str, named: str) -> None:
    experiments = SqlExperiments(engine)
    await experiments.open(an_experiment())
    await experiments.save("bx:1", a_work())
    await experiments.save("bx:1", a_mark())
    async with engine.begin() as connection:
        await connection.execute(text(change))

    with pytest.raises(StoreError, match=f"Experiment 'bx:1' has invalid values: .*{named}"):
        await experiments.load_state("bx:1")


async def test_an_invalid_experiment_is_left_out_of_lists(engine: AsyncEngine) -> None:
    experiments = SqlExperiments(engine)
    await experiments.open(an_experiment())
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE experiment SET panel = '{}'"))
    await experiments.open(an_experiment(id="bx:2"))

    assert [one.id for one in await experiments.list_recent()] == ["bx:2"]


async def test_a_deleted_workspace_leaves_the_suites_of_experiments(
    engine: AsyncEngine,
) -> None:
    experiments = SqlExperiments(engine)
    await experiments.open(an_experiment(suite=SUITE))

    await SqlRoundStore(engine, (BakeoffHooks(),)).delete_workspace("slack", "T1")

    assert (await experiments.list_recent())[0].suite == SUITE


async def test_a_mark_of_an_unknown_experiment_is_refused(engine: AsyncEngine) -> None:
    with pytest.raises(StoreError):
        await SqlExperiments(engine).save("bx:9", a_mark(a_cell(judge=CLAUDE)))
