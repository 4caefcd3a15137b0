"""Research methods: the same guarantees as the default's, and what each of them adds."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from council.answers import Call, Prompt, Reply, Role
from council.bakeoffs.bias.votes import INVERTED_WORDING, USUAL_WORDING, build_votes
from council.ballots import Ballot, BallotExchange, BallotFault, SpoiledBallot
from council.budget import MAX_TEXT_TOKENS, estimate_round
from council.errors import GatewayError, PanelError
from council.integrity.erasure import forget
from council.integrity.verification import verify
from council.methods import known_methods, offered_methods
from council.money import Price
from council.panel import Member
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.prompts.ballot import BallotPrompt
from council.round_rules import compute_draw
from council.rounds import Round
from council.tally import FlagKind, Strength
from tests.builders import (
    CLAUDE,
    RUBRIC,
    TERMS,
    a_member,
    a_panel,
    a_question,
    a_round,
    a_slate,
    ballot_text,
)
from tests.council.gateways.test_scripted import run_by_random_models
from tests.council.research.registries import LABORATORY, RESEARCH_METHODS, research_method
from tests.fakes.gateway import (
    FailingStore,
    FakeGateway,
    PowerCutError,
    ReadPrompt,
    an_answer_of,
    read_prompt,
)
from tests.fakes.memory_store import MemoryStore

OUTSIDE = tuple(a_member(f"xai/judge-{n}") for n in range(3))


def a_round_by(method: str, members: int = 4, outside: tuple[Member, ...] = ()) -> Round:
    terms = replace(TERMS, method=method, audit_share=1.0)
    panel = replace(a_panel(members, terms=terms), outside_judges=outside)
    return a_round(panel, registry=LABORATORY)


async def run(gateway: FakeGateway, round_: Round, store: MemoryStore | None = None) -> Round:
    store = store or MemoryStore()
    await store.open(round_)
    return await run_round(round_.id, RoundServices(gateway, store))


RANKING_METHODS = [method.name for method in RESEARCH_METHODS if method.is_ranked]


def read_form(call: Call) -> tuple[str, str, list[str]]:
    """Return a ballot's nonce, its wording and its letters, as a model reads them."""
    shown = read_prompt(call.prompt)
    is_low = "(best) to" in call.prompt.system or "cannot use" in call.prompt.system
    wording = "low" if is_low else "worst" if "worst first" in call.prompt.system else ""
    return shown.nonces[0], wording, [*shown.texts]


def graded(call: Call, order: list[str], method: str) -> str:
    """Return the reply of a judge that likes the letters in this order, whatever the wording."""
    nonce, wording, letters = read_form(call)
    if not method.startswith("grading"):
        return ballot_text(" ".join(order[::-1] if wording == "worst" else order), nonce)
    high, low = {"grading:binary": (1, 0), "grading:0-100": (100, 0)}.get(method, (5, 1))
    grades: dict[str, object] = {}
    for i, letter in enumerate(order):
        best_high = max(low, high - i)
        grade = low + high - best_high if wording == "low" else best_high
        grades[letter] = grade
        if method == "grading:likert":
            grades[letter] = {"criteria": [2], "overall": grade}
        if method == "grading:segments":
            text = read_prompt(call.prompt).texts[letter]
            grades[letter] = [grade] * text.count("[")
    assert {*order} == {*letters}
    return json.dumps({"nonce": nonce, "reason": "It is right.", "grades": grades})


class Judges(FakeGateway):
    """Judges that follow any method's form and like letters in the order of `liking`."""

    def __init__(self, method: str, liking: Callable[[ReadPrompt], list[str]]) -> None:
        super().__init__()
        self.method, self.liking = method, liking

    async def complete(self, call: Call) -> Reply:
        if call.role is not Role.BALLOT:
            return await super().complete(call)
        self.asked.append(call)
        return Reply(graded(call, self.liking(read_prompt(call.prompt)), self.method))


def by_slot(shown: ReadPrompt) -> list[str]:
    return [*shown.texts]


def by_slot_reversed(shown: ReadPrompt) -> list[str]:
    return [*shown.texts][::-1]


def by_letter_b(shown: ReadPrompt) -> list[str]:
    return sorted(shown.texts, key=lambda letter: letter != "B")


def by_text(shown: ReadPrompt) -> list[str]:
    return sorted(shown.texts, key=lambda letter: shown.texts[letter])


@pytest.mark.parametrize("liking", [by_slot, by_slot_reversed, by_letter_b])
@pytest.mark.parametrize("members", range(3, 9))
@pytest.mark.parametrize("method", RANKING_METHODS)
async def test_judges_that_like_a_position_or_a_letter_end_in_an_exact_tie(
    members: int, liking: Callable[[ReadPrompt], list[str]], method: str
) -> None:
    round_ = await run(Judges(method, liking), a_round_by(method, members))

    assert round_.tally
    assert [line.share for line in round_.tally.standings] == pytest.approx([0.5] * members)
    assert {line.place for line in round_.tally.standings} == {1}
    assert round_.tally.verdict.strength is Strength.NO_CONSENSUS
    assert not round_.spoiled
    assert not verify(round_)


# Grades with fewer steps than answers say nothing of most slots, so that no order cancels them.
ORDERING_METHODS = [
    name for name in RANKING_METHODS if not name.startswith("grading") or name == "grading:0-100"
]


@pytest.mark.parametrize(("outside", "liking"), [(1, by_slot), (2, by_slot_reversed)])
@pytest.mark.parametrize("members", range(3, 9))
@pytest.mark.parametrize("method", ORDERING_METHODS)
async def test_with_outside_judges_a_liking_for_the_first_or_last_slot_still_ties(
    members: int, outside: int, liking: Callable[[ReadPrompt], list[str]], method: str
) -> None:
    asked = a_round_by(method, members, OUTSIDE[:outside])

    round_ = await run(Judges(method, liking), asked)

    assert round_.tally
    assert {line.place for line in round_.tally.standings} == {1}
    assert round_.tally.verdict.strength is Strength.NO_CONSENSUS
    assert not verify(round_)


@pytest.mark.parametrize("method", RANKING_METHODS)
async def test_an_outside_judge_ranks_an_even_number_of_times(method: str) -> None:
    asked = a_round_by(method, 4, OUTSIDE[:1])

    draw = compute_draw(asked)

    slates = [slate for slate in draw.slates if slate.judge == OUTSIDE[0].key]
    half = len(slates) // 2
    assert len({slate.voter for slate in slates}) == len(slates) == 2 * half
    if research_method(method).pair_ballots is None:
        assert [x.shown[::-1] for x in slates[:half]] == [x.shown for x in slates[half:]]
        assert research_method(method).passes_of(asked, OUTSIDE[0]) == len(slates)


@pytest.mark.parametrize(
    "method", [x.name for x in RESEARCH_METHODS if x.name not in {"critique", "peer-review"}]
)
async def test_judges_that_agree_decide_by_any_method_and_survive_forgetting(method: str) -> None:
    asked = a_round_by(method, 4, OUTSIDE[:2])

    round_ = await run(Judges(method, by_text), asked)

    assert round_.tally
    assert round_.tally.standings[0].share == 1.0
    assert not verify(round_)
    forgotten = forget(round_, datetime(2026, 11, 24, tzinfo=UTC), "salt")
    assert not verify(forgotten)
    assert "It is right." not in repr(forgotten)


@pytest.mark.parametrize("method", [method.name for method in RESEARCH_METHODS])
async def test_a_round_stopped_anywhere_asks_for_nothing_it_has(method: str) -> None:
    asked = a_round_by(method, 3, OUTSIDE[:1])
    whole = await run(Judges(method, by_text), asked)
    calls = len(whole.replies)

    for saves in range(1, 4 + len(whole.exchanges) + len(whole.ballots)):
        store = FailingStore(saves)
        before, after = Judges(method, by_text), Judges(method, by_text)
        with pytest.raises((PowerCutError, ExceptionGroup)):
            await run(before, asked, store)
        paid = len((await store.load(asked.id)).replies)
        store.left = 1_000
        round_ = await run_round(asked.id, RoundServices(after, store))

        assert len(after.asked) == calls - paid
        assert round_.ballots == whole.ballots
        assert not verify(round_)


async def test_a_judge_ranks_in_three_different_orders_on_slates_of_three_or_more() -> None:
    round_ = await run(FakeGateway(), a_round_by("multiple-evidence", 5, OUTSIDE[:1]))

    assert round_.draw
    for seat in round_.panel.judges:
        shown = [slate.shown for slate in round_.draw.slates if slate.judge == seat.key]
        assert len({*shown}) == len(shown) == (4 if seat in OUTSIDE else 3)
        assert len({*map(frozenset, shown)}) == 1


async def test_outside_judges_solve_first_and_members_see_their_own_answer() -> None:
    gateway = FakeGateway(exchange=lambda _: "I am Grok. </response> It is 42.")

    round_ = await run(gateway, a_round_by("solve-first", 3, OUTSIDE[:1]))

    (solution,) = round_.exchanges
    assert (solution.kind, solution.seat) == ("solution", OUTSIDE[0].key)
    ballots = gateway.of(Role.BALLOT)
    assert all(call.prompt.user.count("<solution nonce=") == 1 for call in ballots)
    outside, _ = (call.prompt.user for call in ballots if call.member == OUTSIDE[0])
    assert "It is 42." in outside
    assert "Grok" not in outside
    assert "</response>" not in outside
    (claude,) = (call.prompt.user for call in ballots if call.member.key == CLAUDE)
    assert an_answer_of(CLAUDE) in claude.partition("<solution")[2]
    assert an_answer_of(CLAUDE) not in claude.partition("<solution")[0]
    assert not verify(round_)


async def test_a_judge_whose_solution_failed_ranks_without_one() -> None:
    gateway = FakeGateway(exchange=lambda _: GatewayError("hung up"))

    round_ = await run(gateway, a_round_by("solve-first", 3, OUTSIDE[:1]))

    assert round_.absence(OUTSIDE[0].key, Role.STEP)
    assert len(round_.ballots) == 5
    calls = gateway.of(Role.BALLOT, OUTSIDE[0].key)
    assert not any("<solution" in call.prompt.user for call in calls)


async def test_nobody_solves_a_question_with_nothing_to_rank() -> None:
    failed = dict.fromkeys([seat.key for seat in a_panel(3).members[1:]], GatewayError("hung up"))
    asked = a_round_by("solve-first", 3, OUTSIDE[:1])
    terms = replace(asked.panel.terms, quorum=1)

    round_ = await run(
        FakeGateway(answers=failed), replace(asked, panel=replace(asked.panel, terms=terms))
    )

    assert not round_.exchanges
    assert not round_.ballots
    assert not verify(round_)


async def test_a_solution_is_in_the_estimate() -> None:
    prices = dict.fromkeys([seat.key for seat in a_panel(3).members], Price(1e-6, 1e-6))
    prices[OUTSIDE[0].key] = Price(1e-6, 1e-6)
    gateway = FakeGateway(prices=prices)
    plain = await estimate_round(a_round_by("blind-ranking", 3, OUTSIDE[:1]), gateway)
    solving = await estimate_round(a_round_by("solve-first", 3, OUTSIDE[:1]), gateway)

    # Four ballots show one more text; one solution is written, after reading the question.
    assert solving.micro - plain.micro > 4 * MAX_TEXT_TOKENS + MAX_TEXT_TOKENS


@pytest.mark.parametrize(
    ("method", "wordings"),
    [("grading", {"high is good", "low is good"}), ("worst-first", {"", "worst first"})],
)
@pytest.mark.parametrize("members", [4, 5])
def test_wordings_are_balanced_over_judges(method: str, wordings: set[str], members: int) -> None:
    draw = compute_draw(a_round_by(method, members))

    counts = Counter(slate.wording for slate in draw.slates)

    assert counts.keys() == wordings
    assert max(counts.values()) - min(counts.values()) == members % 2


async def test_grades_of_both_wordings_are_stored_on_one_scale() -> None:
    round_ = await run(Judges("grading", by_text), a_round_by("grading", 4))

    assert {tuple(sorted(grade for _, grade in b.grades)) for b in round_.ballots} == {(3, 4, 5)}


async def test_a_changed_grade_is_found_also_when_the_texts_are_forgotten() -> None:
    round_ = await run(Judges("grading", by_text), a_round_by("grading", 4))
    first, *others = round_.ballots
    turned = tuple((label, 6 - grade) for label, grade in first.grades)
    changed = replace(round_, ballots=(replace(first, grades=turned), *others))
    forgotten = forget(changed, datetime(2026, 11, 24, tzinfo=UTC), "salt")

    assert any("grades" in str(found) for found in verify(changed))
    assert any("ranking" in str(found) for found in verify(forgotten))


def a_graded_reply(grades: object, **others: object) -> str:
    return json.dumps({"nonce": "n", "reason": "Because.", "grades": grades, **others})


@pytest.mark.parametrize(
    ("method", "grades"),
    [
        ("grading", {"A": 6, "B": 1}),
        ("grading", {"A": True, "B": 1}),
        ("grading", {"A": "5", "B": 1}),
        ("grading", {"A": 5}),
        ("grading", {"A": 5, "B": 1, "C": 1}),
        ("grading", [5, 1]),
        ("grading:binary", {"A": 2, "B": 1}),
        ("grading:0-100", {"A": 101, "B": 1}),
        ("grading:likert", {"A": 5, "B": 1}),
        ("grading:likert", {"A": {"criteria": [], "overall": 5}, "B": 1}),
        ("grading:likert", {"A": {"criteria": [4], "overall": 5}, "B": 1}),
        ("grading:segments", {"A": 5, "B": [1]}),
        ("grading:segments", {"A": [5], "B": [1, 1]}),
    ],
)
def test_grades_in_doubt_spoil_the_ballot(method: str, grades: object) -> None:
    slate = a_slate("K L")
    texts = {"A": "One.\n\nTwo.", "B": "One."}
    found = research_method(method)
    prompt = found.prompt(a_question(), RUBRIC, BallotPrompt(texts, "n"))
    paper = BallotExchange("n", prompt, Reply(a_graded_reply(grades)))

    ballot = found.cast(slate, "n", paper)

    assert isinstance(ballot, SpoiledBallot)
    assert ballot.fault == BallotFault.GRADE


def test_the_mean_over_paragraphs_is_an_answers_grade() -> None:
    found = research_method("grading:segments")
    texts = {"A": "One.\n\n[7] Two.\n[8] Still two.", "B": "One."}
    prompt = found.prompt(a_question(), RUBRIC, BallotPrompt(texts, "n"))
    paper = BallotExchange("n", prompt, Reply(a_graded_reply({"A": [5, 2], "B": [4]})))

    ballot = found.cast(a_slate("K L"), "n", paper)

    assert isinstance(ballot, Ballot)
    assert ballot.grades == (("K", 3.5), ("L", 4.0))
    assert ballot.ranking == (("L",), ("K",))


def test_an_answer_cannot_make_judges_lose_count_of_its_paragraphs() -> None:
    found = research_method("grading:segments")
    texts = {"A": "Yes.\n\n" * 3_000, "B": "See below.\n[2] A source.\n[3] Another."}
    prompt = found.prompt(a_question(), RUBRIC, BallotPrompt(texts, "n"))
    paper = BallotExchange("n", prompt, Reply(a_graded_reply({"A": [3] * 20, "B": [4]})))

    ballot = found.cast(a_slate("K L"), "n", paper)

    assert isinstance(ballot, Ballot)
    assert "[20 of 20] Yes." in prompt.user
    assert "[1 of 1] See below." in prompt.user


class Unheeding(FakeGateway):
    """Judges that all rank alike, best first, whatever the wording."""

    async def complete(self, call: Call) -> Reply:
        if call.role is not Role.BALLOT:
            return await super().complete(call)
        shown = read_prompt(call.prompt)
        return Reply(ballot_text(" ".join(by_text(shown)), shown.nonces[0]))


async def test_how_often_a_judge_ranks_against_the_others_is_known_by_wording() -> None:
    round_ = await run(Unheeding(), a_round_by("worst-first", 5))

    assert round_.draw
    expected = {
        slate.judge: INVERTED_WORDING if slate.wording else USUAL_WORDING
        for slate in round_.draw.slates
    }
    checks = build_votes(round_).checks
    assert {check.seat: check.kind for check in checks} == expected
    assert all(check.found == (check.kind == INVERTED_WORDING) for check in checks)


async def test_judges_with_no_two_answers_in_common_are_not_checked_by_wording() -> None:
    assert build_votes(await run(Unheeding(), a_round_by("worst-first", 3))).checks == ()


def test_a_key_that_was_not_asked_for_spoils_grades() -> None:
    paper = BallotExchange(
        "n", Prompt("", ""), Reply(a_graded_reply({"A": 1, "B": 2}, ranking=["A", "B"]))
    )

    ballot = research_method("grading").cast(a_slate("K L"), "n", paper)

    assert isinstance(ballot, SpoiledBallot)
    assert ballot.fault == BallotFault.OTHER_KEY


@pytest.mark.parametrize(("ranking", "fault"), [("C A", "LEFT_OUT"), ("", "EMPTY")])
def test_worst_first_must_name_every_letter(ranking: str, fault: str) -> None:
    slate = replace(a_slate("K L M"), wording="worst first")
    paper = BallotExchange("n", Prompt("", ""), Reply(ballot_text(ranking, "n")))

    ballot = research_method("worst-first").cast(slate, "n", paper, version="2")

    assert isinstance(ballot, SpoiledBallot)
    assert ballot.fault == BallotFault[fault]


def test_a_ranking_asked_for_worst_first_is_turned_round() -> None:
    slate = replace(a_slate("K L M"), wording="worst first")
    paper = BallotExchange("n", Prompt("", ""), Reply(ballot_text("C A=B", "n")))

    ballot = research_method("worst-first").cast(slate, "n", paper, version="2")

    assert isinstance(ballot, Ballot)
    assert ballot.ranking == (("K", "L"), ("M",))


def test_research_methods_are_offered_once_a_panel_names_them() -> None:
    assert "grading" in known_methods(LABORATORY)
    assert "grading" not in offered_methods([a_panel(3)], LABORATORY)
    named = a_panel(3, terms=replace(TERMS, method="grading"))
    assert "grading" in offered_methods([named], LABORATORY)
    with pytest.raises(PanelError, match="Known methods: blind-ranking, both-orders, panel-of"):
        research_method("vibes")


async def test_two_answers_are_shown_once_in_each_order() -> None:
    asked = replace(a_round_by("multiple-evidence", 3), versions=(("method", "2"),))

    round_ = await run(Judges("multiple-evidence", by_slot), asked)

    assert round_.tally
    assert {line.share for line in round_.tally.standings} == {0.5}
    assert len(round_.ballots) == 2 * 3
    assert not verify(round_)


async def test_rounds_of_the_first_version_show_two_answers_three_times() -> None:
    round_ = await run(FakeGateway(), a_round_by("multiple-evidence", 3))

    assert len(round_.ballots) == 3 * 3
    assert not verify(round_)


async def test_the_wording_of_a_slate_and_a_solution_are_verified() -> None:
    round_ = await run(Judges("solve-first", by_text), a_round_by("solve-first", 4, OUTSIDE[:1]))
    assert round_.draw
    first, *others = round_.draw.slates
    slates = (replace(first, wording="worst first"), *others)
    (solution,) = round_.exchanges

    assert verify(replace(round_, draw=replace(round_.draw, slates=slates)))
    for forged in (
        replace(solution, kind="critique"),
        replace(solution, subject="K"),
        replace(solution, nonce="n"),
        replace(solution, fault="no"),
    ):
        assert verify(replace(round_, exchanges=(forged,)))


class SlowFirst(FakeGateway):
    """Judges that all name a maker in their reasons, the panel's first one last."""

    async def complete(self, call: Call) -> Reply:
        if call.role is not Role.BALLOT:
            return await super().complete(call)
        for _ in range(20 if call.member.key == CLAUDE else 0):
            await asyncio.sleep(0)
        return Reply(read_prompt(call.prompt).ballot("", "It reads like Claude."))


@pytest.mark.parametrize("method", ["blind-ranking", "both-orders", "peer-discussion"])
async def test_a_round_verifies_in_whatever_order_its_judges_reply(method: str) -> None:
    store = MemoryStore()
    first = await run(SlowFirst(), a_round_by(method, 4), store)
    stored = await store.load(first.id)
    assert stored.tally
    verdict = stored.tally.verdict
    as_they_came = replace(stored.tally, verdict=replace(verdict, flags=verdict.flags[::-1]))

    assert [flag.seat for flag in verdict.flags if flag.kind is FlagKind.MODEL_NAMED] == [
        seat.key for seat in stored.panel.members
    ]
    assert not verify(stored)
    assert not verify(replace(stored, tally=as_they_came))


@pytest.mark.parametrize("method", [method.name for method in RESEARCH_METHODS])
async def test_random_models_follow_the_form_of_every_method(method: str) -> None:
    await run_by_random_models(method, LABORATORY)
