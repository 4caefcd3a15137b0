"""Grades as expectations, where a judge's reply has the log-probabilities of all of them."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from math import inf, log, nan
from typing import Any

import pytest

from council.answers import Call, Logprobs, Reply, Role
from council.ballots import Ballot, BallotExchange, BallotFault, SpoiledBallot
from council.integrity.erasure import forget
from council.integrity.seal import compute_digests
from council.integrity.verification import verify
from council.labels import LOW_IS_GOOD
from council.methods import Method
from council.panel import Rubric
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.prompts.ballot import BallotPrompt
from council.research.methods.grading import HIGH_IS_GOOD, TOP_LOGPROBS
from council.rounds import Round
from tests.builders import TERMS, a_panel, a_question, a_round, a_slate
from tests.council.research.registries import LABORATORY, research_method
from tests.fakes.gateway import FakeGateway, read_prompt
from tests.fakes.memory_store import MemoryStore

LATER = datetime(2026, 11, 24, tzinfo=UTC)
TWO_CRITERIA = Rubric("two", "1", ("True.", "Complete, for each of the 9 criteria, in their order"))

Odds = dict[str, float]


def a_reply(grades: object, *odds: Odds, reason: str = "Because of 7.") -> Reply:
    """Return a reply with these probabilities at its last numbers, of one digit each."""
    text = json.dumps({"nonce": "n", "reason": reason, "grades": grades})
    return with_odds(text, *odds)


def with_odds(text: str, *odds: Odds) -> Reply:
    places = [i for i, letter in enumerate(text) if letter.isdigit()]
    listed = zip(places[len(places) - len(odds) :], odds, strict=True)
    logprobs: Logprobs = tuple(
        (place, tuple((number, log(p)) for number, p in one.items())) for place, one in listed
    )
    return Reply(text, logprobs=logprobs)


def cast(
    reply: Reply, method: str | Method = "grading", wording: str = HIGH_IS_GOOD
) -> Ballot | SpoiledBallot:
    found = research_method(method) if isinstance(method, str) else method
    texts = {"A": "One.\n\nTwo.", "B": "One."}
    prompt = found.prompt(a_question(), TWO_CRITERIA, BallotPrompt(texts, "n", wording=wording))
    slate = replace(a_slate("K L"), wording=wording)
    return found.cast(slate, "n", BallotExchange("n", prompt, reply))


def grades_of(ballot: Ballot | SpoiledBallot) -> dict[str, float]:
    assert isinstance(ballot, Ballot), ballot
    return dict(ballot.grades)


LIKELY, UNSURE = {"4": 0.5, "5": 0.25, "3": 0.05}, {"4": 0.6, "2": 0.3, "0": 0.1}
# (4·.5 + 5·.25 + 3·.05) / .8 and (4·.6 + 2·.3) / .9: what is off the scale is left out.
EXPECTED = {"K": 4.25, "L": round(3 / 0.9, 6)}


def test_a_grade_is_the_mean_of_the_scales_numbers_weighted_by_their_probability() -> None:
    ballot = cast(a_reply({"A": 4, "B": 4}, LIKELY, UNSURE))

    assert grades_of(ballot) == EXPECTED
    assert isinstance(ballot, Ballot)
    assert ballot.ranking == (("K",), ("L",))


def test_low_grades_are_turned_after_their_mean_is_taken() -> None:
    ballot = cast(a_reply({"A": 4, "B": 4}, LIKELY, UNSURE), wording=LOW_IS_GOOD)

    assert grades_of(ballot) == pytest.approx({k: 6 - mean for k, mean in EXPECTED.items()})


def test_letters_may_come_in_any_order_and_the_reason_last() -> None:
    text = '{"nonce": "n", "grades": {"B": 4, "A": 4}, "reason": "So \\"B\\" beats."}'

    assert grades_of(cast(with_odds(text, UNSURE, LIKELY))) == EXPECTED


def test_the_same_number_as_two_tokens_counts_with_both() -> None:
    reply = a_reply({"A": 4, "B": 4}, {"4": 0.2, "2": 0.4}, {"4": 1.0})
    (place, odds), other = reply.logprobs
    spaced = (("4", log(0.2)), *odds)

    ballot = cast(replace(reply, logprobs=((place, spaced), other)))

    assert grades_of(ballot) == {"K": 3.0, "L": 4.0}


def test_binary_grades_are_probabilities() -> None:
    reply = a_reply({"A": 1, "B": 1}, {"1": 0.9, "0": 0.1}, {"1": 0.6, "0": 0.2})

    assert grades_of(cast(reply, "grading:binary")) == {"K": 0.9, "L": 0.75}


def test_paragraphs_have_expectations_and_their_mean_counts() -> None:
    half = {"4": 0.5, "5": 0.5}
    reply = a_reply({"A": [4, 4], "B": [4]}, {"4": 1.0}, half, half)

    assert grades_of(cast(reply, "grading:segments")) == {"K": 4.25, "L": 4.5}


def likert(criteria: list[int]) -> dict[str, object]:
    return {"A": {"criteria": criteria, "overall": 4}, "B": {"overall": 4, "criteria": criteria}}


def test_the_overall_grade_has_an_expectation_next_to_criteria() -> None:
    two = {"2": 0.9, "1": 0.1}
    reply = a_reply(likert([2, 2]), two, two, LIKELY, UNSURE, two, two)

    assert grades_of(cast(reply, "grading:likert")) == EXPECTED


@pytest.mark.parametrize("criteria", [[2], [2, 2, 2]])
def test_every_criterion_must_be_graded_since_version_2(criteria: list[int]) -> None:
    newest = research_method("grading:likert")
    reply = a_reply(likert(criteria))

    ballot = cast(reply, newest)

    assert isinstance(ballot, SpoiledBallot)
    assert ballot.fault == BallotFault.GRADE
    assert grades_of(cast(reply, newest.earlier[0])) == {"K": 4.0, "L": 4.0}


def test_grades_of_several_digits_are_taken_as_they_are() -> None:
    reply = a_reply({"A": 4, "B": 4}, LIKELY, UNSURE)

    assert grades_of(cast(reply, "grading:0-100")) == {"K": 4.0, "L": 4.0}
    assert research_method("grading:0-100").top_logprobs is None


def edited(edit: Callable[[Any], Any]) -> Reply:
    reply = a_reply({"A": 4, "B": 4}, LIKELY, UNSURE)
    return replace(reply, logprobs=edit(reply.logprobs))


def with_odds_of_a(*odds: tuple[str, float]) -> Reply:
    return edited(lambda found: ((found[0][0], odds), found[1]))


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(edited(lambda found: ()), id="none"),
        pytest.param(edited(lambda found: found[:1]), id="only-of-one-letter"),
        pytest.param(edited(lambda found: ((found[0][0] - 1, found[0][1]), found[1])), id="moved"),
        pytest.param(with_odds_of_a(("5", -0.1)), id="not-of-the-grade"),
        pytest.param(with_odds_of_a(("4", nan)), id="not-a-number"),
        pytest.param(with_odds_of_a(("4", 0.1)), id="positive"),
        pytest.param(with_odds_of_a(("4", inf)), id="infinite"),
        pytest.param(with_odds_of_a(("4", -0.1), ("5", -0.1)), id="more-than-1"),
        pytest.param(with_odds_of_a(("4", -inf)), id="impossible"),
        pytest.param(with_odds_of_a(), id="empty"),
        pytest.param(a_reply({"A": 4.0, "B": 4}, LIKELY, UNSURE), id="not-whole"),
        pytest.param(
            with_odds('{"nonce": "n", "GRADES": {"A": 4, "B": 4}}', LIKELY, UNSURE),
            id="in-capitals",
        ),
        pytest.param(
            with_odds(
                '{"nonce": "n", "grades": {"A": 4, "B": 4}, "reason": "grades"}', LIKELY, UNSURE
            ),
            id="a-reason-like-the-key",
        ),
    ],
)
def test_a_ballot_with_anything_missing_has_plain_grades(reply: Reply) -> None:
    assert grades_of(cast(reply)) == {"K": 4.0, "L": 4.0}


class SureJudges(FakeGateway):
    """Judges that give everybody a 4, and are surer of it the earlier an answer is by alphabet."""

    async def complete(self, call: Call) -> Reply:
        if call.role is not Role.BALLOT:
            return await super().complete(call)
        self.asked.append(call)
        shown = read_prompt(call.prompt)
        order = sorted(shown.texts, key=lambda letter: shown.texts[letter])
        is_low = "(best) to" in call.prompt.system
        odds = [
            {"4": 1 - (share := 0.1 * (order.index(letter) + 1)), "5" if is_low else "3": share}
            for letter in shown.texts
        ]
        text = json.dumps(
            {
                "nonce": shown.nonces[0],
                "reason": "Call 555 0199.",
                "grades": dict.fromkeys(shown.texts, 4),
            }
        )
        return with_odds(text, *odds) if call.top_logprobs == TOP_LOGPROBS else Reply(text)


async def run(asked: Round) -> Round:
    store = MemoryStore()
    await store.open(asked)
    return await run_round(asked.id, RoundServices(SureJudges(), store))


def a_graded_round(version: str = "2") -> Round:
    asked = a_round(a_panel(4, terms=replace(TERMS, method="grading", audit_share=0.0)))
    return replace(asked, versions=(("method", version),), registry=LABORATORY)


async def test_equal_grades_are_told_apart_by_how_sure_their_judges_are() -> None:
    round_ = await run(a_graded_round())

    assert round_.tally
    assert [line.place for line in round_.tally.standings] == [1, 2, 3, 4]
    assert not verify(round_)


async def test_a_round_of_version_1_asks_for_none_and_still_verifies() -> None:
    older = await run(a_graded_round("1"))

    assert {grade for ballot in older.ballots for _, grade in ballot.grades} == {2.0, 4.0}
    assert not any(ballot.paper and ballot.paper.reply.logprobs for ballot in older.ballots)
    assert not verify(older)


async def test_changed_log_probabilities_are_found_by_the_seal_and_by_recomputing() -> None:
    round_ = await run(a_graded_round())
    notes = compute_digests(round_, "salt")
    first, *others = round_.ballots
    assert first.paper
    reply = replace(first.paper.reply, logprobs=first.paper.reply.logprobs[1:])
    changed = replace(
        round_, ballots=(replace(first, paper=replace(first.paper, reply=reply)), *others)
    )

    assert any("grades" in str(found) for found in verify(changed))
    assert compute_digests(changed, "salt") != notes


async def test_forgetting_erases_log_probabilities_since_they_spell_numbers() -> None:
    round_ = await run(a_graded_round())

    forgotten = forget(round_, LATER, "salt")

    papers = [ballot.paper for ballot in forgotten.ballots]
    assert all(paper and not paper.reply.logprobs for paper in papers)
    assert [ballot.grades for ballot in forgotten.ballots] == [b.grades for b in round_.ballots]
    assert compute_digests(forgotten, "salt") == compute_digests(round_, "salt")
    assert not verify(forgotten)


@pytest.mark.parametrize(
    ("method", "grades"),
    [
        ("grading", {"A": 3.7, "B": 1}),
        ("grading:binary", {"A": 0.5, "B": 1}),
        ("grading:0-100", {"A": 50.5, "B": 1}),
        ("grading:segments", {"A": [1, 2.5], "B": [1]}),
        (
            "grading:likert",
            {letter: {"criteria": [1.5, 2], "overall": 3} for letter in "AB"},
        ),
    ],
)
def test_a_grade_with_a_fraction_is_refused_since_version_2(method: str, grades: object) -> None:
    newest = research_method(method)

    refused, taken = cast(a_reply(grades), newest), cast(a_reply(grades), newest.earlier[0])

    assert isinstance(refused, SpoiledBallot)
    assert refused.fault == BallotFault.GRADE
    assert isinstance(taken, Ballot)
    assert isinstance(cast(a_reply({"A": 1.0, "B": 1}), "grading:binary"), Ballot)
