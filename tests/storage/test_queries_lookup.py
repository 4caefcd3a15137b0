"""Rounds are found by the beginning of an id, by age and by panel."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from council.ballots import Ballot
from council.errors import RoundNotFoundError
from council.ports import Store
from council.rounds import Closing, Round, Stage
from tests.builders import ASKED_AT, a_panel, a_round, with_answers, with_ballots
from tests.storage.builders import a_closed_round, an_audit, in_memory_too

STAGES = {
    Stage.OPEN: with_answers(a_round()),
    Stage.ANSWERED: replace(with_ballots(with_answers(a_round())), tally=None),
    Stage.RANKED: with_ballots(with_answers(a_round())),
    Stage.CLOSED: a_closed_round(),
}


def a_round_asked(minute: int, round_: Round, round_id: str | None = None) -> Round:
    return replace(round_, id=round_id or f"r{minute}", asked_at=ASKED_AT + minute * MINUTE)


MINUTE = timedelta(minutes=1)


async def open_rounds(store: Store, *ids: str) -> None:
    for round_id in ids:
        await store.open(replace(a_round(), id=round_id))


@pytest.mark.parametrize(
    ("ids", "start", "found"),
    [
        pytest.param(["abc", "abd"], "abc", "abc", id="whole"),
        pytest.param(["abc", "xyz"], "a", "abc", id="unique-start"),
        pytest.param(["ab", "abc"], "ab", "ab", id="whole-and-a-start"),
        pytest.param(["abc"], "", "abc", id="empty-start-of-the-only-one"),
        pytest.param(["a%c", "abc"], "a%", "a%c", id="percent"),
        pytest.param(["a_c", "abc"], "a_", "a_c", id="underscore"),
        pytest.param(["a\\c", "abc"], "a\\", "a\\c", id="backslash"),
        pytest.param(["a'c", "abc"], "a'", "a'c", id="quote"),
        pytest.param(["Abc", "abd"], "ab", "abd", id="small-letter"),
        pytest.param(["slack:T:C:1", "discord:1"], "slack:", "slack:T:C:1", id="of-a-chat"),
        pytest.param(["家族-1", "家-2"], "家族", "家族-1", id="cjk"),
        pytest.param(["🧠1", "🧠2"], "🧠1", "🧠1", id="emoji"),
    ],
)
async def test_the_start_of_an_id_is_enough(
    store: Store, ids: Sequence[str], start: str, found: str
) -> None:
    await open_rounds(store, *ids)

    assert await store.find(start) == found


@in_memory_too
async def test_a_start_of_several_ids_asks_for_more(store: Store) -> None:
    await open_rounds(store, "abc", "abd")

    with pytest.raises(RoundNotFoundError, match="Several rounds begin with 'ab': give more"):
        await store.find("ab")


@in_memory_too
@pytest.mark.parametrize("start", ["x", "bc", "%", "_", "a%", "a_c", "abcd", "AB"])
async def test_a_start_of_no_id_is_not_found(store: Store, start: str) -> None:
    await open_rounds(store, "abc")

    with pytest.raises(RoundNotFoundError, match="There is no round"):
        await store.find(start)


@in_memory_too
async def test_the_newest_rounds_come_first(store: Store) -> None:
    for minute in (2, 0, 3, 1):
        await store.open(a_round_asked(minute, a_round()))

    assert [line.id for line in await store.list_summaries()] == ["r3", "r2", "r1", "r0"]
    assert [line.id for line in await store.list_summaries(2)] == ["r3", "r2"]
    assert [line.id for line in await store.list_summaries(99)] == ["r3", "r2", "r1", "r0"]


@pytest.mark.parametrize("stage", Stage)
async def test_a_summary_has_the_stage_of_its_round(store: Store, stage: Stage) -> None:
    await store.open(STAGES[stage])

    (line,) = await store.list_summaries()

    assert (line.id, line.question, line.asked_at, line.stage) == (
        "r1",
        STAGES[stage].question.text,
        ASKED_AT,
        stage,
    )


def counted_ballots(round_: Round) -> set[Ballot]:
    """Return what of a round's ballots enters a count; how they were asked for does not."""
    return {replace(ballot, paper=None) for ballot in round_.ballots if ballot.counts}


@in_memory_too
async def test_past_ballots_are_those_of_closed_rounds(store: Store) -> None:
    for minute, round_ in enumerate(STAGES.values()):
        await store.open(a_round_asked(minute, round_))

    (ballots,) = await store.load_past_ballots("house")

    assert set(ballots) == counted_ballots(STAGES[Stage.CLOSED])


@in_memory_too
async def test_past_ballots_are_those_of_one_panel(store: Store) -> None:
    other = replace(a_panel(3), name="other panel")
    await store.open(a_closed_round("r1"))
    await store.open(a_closed_round("r2", panel=other))

    (ballots,) = await store.load_past_ballots("other panel")

    assert {ballot.judge for ballot in ballots} == {seat.key for seat in other.members}
    assert await store.load_past_ballots("panel of others") == ()


@in_memory_too
async def test_an_audit_ballot_is_no_past_ballot(store: Store) -> None:
    round_ = a_closed_round()
    audits = tuple(an_audit(ballot) for ballot in round_.ballots)
    await store.open(replace(round_, ballots=round_.ballots + audits))

    (ballots,) = await store.load_past_ballots("house")

    assert set(ballots) == counted_ballots(round_)


async def test_a_closed_round_without_a_counted_ballot_is_left_out(store: Store) -> None:
    await store.open(with_answers(a_round()).with_(Closing(1.0, "Nobody answered.")))

    assert await store.load_past_ballots("house") == ()


async def test_past_ballots_are_those_of_the_last_rounds(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.rounds.MAX_PAST_ROUNDS", 3)
    one = replace(a_closed_round(), answers=(), synthesis=None, tally=None, draw=None)
    for minute in range(5):
        ballot = replace(one.ballots[0], reason=f"In round {minute}.")
        await store.open(a_round_asked(minute, replace(one, ballots=(ballot,))))

    past = await store.load_past_ballots("house")

    reasons = {ballot.reason for ballots in past for ballot in ballots}
    assert reasons == {f"In round {minute}." for minute in range(2, 5)}
