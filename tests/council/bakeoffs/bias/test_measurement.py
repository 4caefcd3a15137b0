"""The whole report finds what is planted, gives None for too little data, and never NaN."""

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from math import isfinite

import pytest

from council.bakeoffs.bias.measurement import correct_for_all_tests, measure_bias
from council.bakeoffs.bias.report import BiasReport, Effect, JudgeBias
from council.bakeoffs.bias.votes import AuditVote, Check, Votes
from council.bakeoffs.intervals import holm
from tests.council.bakeoffs.bias.simulated_blocks import Planted, simulated
from tests.council.bakeoffs.bias.vote_builders import a_vote, an_audit, blocks_of, votes

BIASED = Planted(own=2.0, first=1.5, length=0.8, named=2.0)
TWINS = ("qwen", "qwen", "openai", "google", "xai")


def _judge(report: BiasReport, key: str) -> JudgeBias:
    return next(judge for judge in report.judges if judge.judge == key)


def _effects(report: BiasReport) -> Iterator[Effect]:
    for judge in report.judges:
        own = (getattr(judge, name) for name in JudgeBias.__slots__)
        yield from (one for one in own if isinstance(one, Effect))
        yield from (slot.effect for slot in judge.slots)
        yield from judge.style.values()
    yield from (trait.difference for trait in report.traits)
    yield from (brand.effect for brand in report.brands)


def test_what_is_planted_is_found_in_every_judge() -> None:
    report = measure_bias([simulated(900, BIASED, 1, makers=TWINS)])

    assert (report.rounds, report.ballots) == (900, 4500)
    for judge in report.judges:
        found = (judge.own, judge.first_slot, judge.position, judge.length)
        assert all(effect.is_found for effect in found)
        assert judge.kept.value
        assert judge.kept.value < 0.7
        assert judge.is_position_biased
    assert _judge(report, "a").named.is_found
    assert report.judges[0].maker == "qwen"


def test_every_p_is_corrected_for_all_tests_of_the_report() -> None:
    report = measure_bias([simulated(60, BIASED, 2)])

    tested = [effect for effect in _effects(report) if effect.p is not None]
    assert [e.p_holm for e in tested] == [*holm([e.p for e in tested])]
    assert all(effect.p_holm is None for effect in _effects(report) if effect.p is None)
    assert correct_for_all_tests(report) == report


def test_audits_are_counted_by_kind_with_what_they_cost() -> None:
    report = measure_bias([simulated(90, Planted(), 3)])

    assert sum(report.audits.values()) == 90
    assert set(report.audits) == {"own", "order", "named"}
    assert report.audit_usd == 0.9
    assert (report.unpriced, report.spoiled_audits) == (0, 0)


def test_audits_of_unknown_cost_are_counted_apart() -> None:
    known = votes(a_vote("a", "b c"), audit=an_audit("order", a_vote("a", "c b"), 0.5))
    unknown = votes(a_vote("a", "b c"), audit=an_audit("order", a_vote("a", "c b"), None))
    spoiled = replace(unknown, audit=AuditVote("b", "", None, None))

    mixed = measure_bias(blocks_of(known, unknown, spoiled))
    assert (mixed.audit_usd, mixed.unpriced, mixed.spoiled_audits) == (0.5, 2, 1)
    assert measure_bias(blocks_of(unknown)).audit_usd is None
    assert measure_bias(blocks_of(votes(a_vote("a", "b c")))).audit_usd == 0.0


def test_given_shares_are_reported_for_every_pair() -> None:
    report = measure_bias(blocks_of(votes(a_vote("a", "b c d")), votes(a_vote("a", "c b d"))))

    given = {(one.judge, one.author): one for one in report.given}
    assert len(given) == 16
    assert (given["a", "b"].share, given["a", "b"].n) == (0.75, 2)
    assert (given["a", "a"].share, given["b", "a"].n) == (None, 0)


@pytest.mark.parametrize(
    ("makers", "majority"),
    [
        pytest.param(("qwen", "qwen", "qwen", "xai"), "qwen", id="three-of-four"),
        pytest.param(("qwen", "qwen", "xai", "openai"), None, id="half"),
        pytest.param(("unknown:x",) * 4, None, id="unknown"),
    ],
)
def test_a_maker_of_most_seats_is_named(makers: tuple[str, ...], majority: str | None) -> None:
    assert measure_bias(blocks_of(votes(a_vote("a", "b c"), makers=makers))).majority == majority


def _tied(judge: str) -> Votes:
    others = "=".join(sorted({*"abcd"} - {judge}))
    return votes(a_vote(judge, others), audit=an_audit("own", a_vote("a", "a=b=c=d")))


ALL = tuple("abcd")
POOR: dict[str, Callable[[], list[Votes]]] = {
    "no-rounds": list,
    "rounds-without-votes": lambda: [votes()] * 5,
    "one-round": lambda: [votes(a_vote("a", "b c d"))],
    "two-rounds": lambda: [votes(a_vote("a", "b c d"), a_vote("b", "a c d"))] * 2,
    "one-judge": lambda: [votes(a_vote("a", "b c d"))] * 40,
    "all-ties": lambda: [_tied(judge) for judge in ALL] * 10,
    "all-alike": lambda: (
        [
            votes(
                *(a_vote(judge, " ".join(sorted({*ALL} - {judge}))) for judge in ALL),
                audit=an_audit("own", a_vote("a", "a b c d")),
            )
        ]
        * 40
    ),
    "spoiled-audits": lambda: (
        [replace(votes(a_vote("a", "b c d")), audit=AuditVote("a", "", None, None))] * 4
    ),
}


@pytest.mark.parametrize("name", POOR)
def test_too_little_data_gives_none_and_never_nan(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = measure_bias(blocks_of(*POOR[name]()))

    json.dumps(asdict(report), allow_nan=False)
    for effect in _effects(report):
        assert effect.n >= 3 or effect.value is None or effect.unit == "ballots"
        assert all(isfinite(x) for x in effect.interval or ())


def test_no_rounds_give_an_empty_report() -> None:
    report = measure_bias(())

    assert (report.rounds, report.ballots, report.judges, report.given) == (0, 0, (), ())
    assert (report.alpha, report.n_eff, report.majority, report.audit_usd) == (None, None, None, 0)


def test_a_check_has_its_rate_over_the_rounds_that_had_it() -> None:
    fooled, wary = Check("canary", "a", found=True), Check("canary", "a", found=False)
    ballot = a_vote("a", "b c d")

    report = measure_bias(
        blocks_of(
            *[votes(ballot, checks=(fooled,))] * 3,
            *[votes(ballot, checks=(wary,))] * 17,
            votes(ballot),
        )
    )

    (rate,) = report.checks
    assert (rate.kind, rate.seat) == ("canary", "a")
    assert (rate.effect.n, rate.effect.value) == (20, 0.15)
    # Wilson's interval of 3 in 20, as tables have it.
    assert rate.effect.interval == pytest.approx((0.0524, 0.3604), abs=1e-4)
