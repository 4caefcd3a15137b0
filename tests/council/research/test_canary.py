"""Canaries: judges see a text that was made to lose, and no count does."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.render.round_report.flags import flag_notes
from bot.render.round_report.rankings import rankings_intro
from council.answers import Role
from council.bakeoffs.bias.votes import CANARY as CANARY_CHECK
from council.bakeoffs.bias.votes import Check, build_votes
from council.ballots import CANARY_LAST, CANARY_NOT_LAST, CANARY_TIED, Ballot
from council.budget import CANARY_TOKENS, estimate_round
from council.integrity.erasure import forget
from council.integrity.verification import verify
from council.methods import BLIND_RANKING, METHODS, method_of
from council.money import Price
from council.panel import Member
from council.prompts.shared import SHORTENED_MARK, estimate_tokens
from council.research.canary import (
    CANARIES,
    CANARY,
    CUT,
    FALSE,
    MIN_CUT,
    OTHER,
    VERSION,
    WITHOUT_CANARY,
    canary_kind,
    canary_text,
    has_canary,
    plant,
    with_canary,
)
from council.round_rules import due_audit
from council.rounds import Round
from council.tally import FlagKind
from tests.builders import a_member, a_question, ballot_text
from tests.council.research.registries import RESEARCH_METHODS, research_method
from tests.council.research.test_methods import (
    Judges,
    a_round_by,
    by_letter_b,
    by_slot,
    by_slot_reversed,
    by_text,
    run,
)
from tests.fakes.gateway import FakeGateway, ReadPrompt, read_prompt

OUTSIDE = (a_member("xai/judge"),)
RANKED = [*METHODS, *(method.name for method in RESEARCH_METHODS if method.is_ranked)]
ALLOWED = [name for name in RANKED if name not in WITHOUT_CANARY]


def a_canary_round(
    method: str = "blind-ranking", members: int = 4, outside: tuple[Member, ...] = ()
) -> Round:
    round_ = a_round_by(method, members, outside)
    terms = replace(round_.panel.terms, canary_share=1.0)
    return replace(round_, panel=replace(round_.panel, terms=terms))


def canary_letter(shown: ReadPrompt) -> str:
    text = canary_text(a_question(), a_canary_round().seed)
    (letter,) = (letter for letter, found in shown.texts.items() if text[-40:] in found)
    return letter


def canary_last(shown: ReadPrompt) -> list[str]:
    own = canary_letter(shown)
    return [*(letter for letter in by_text(shown) if letter != own), own]


def canary_first(shown: ReadPrompt) -> list[str]:
    return canary_last(shown)[::-1]


@pytest.mark.parametrize("method", ALLOWED)
async def test_the_result_is_as_without_a_canary_where_judges_put_it_last(method: str) -> None:
    plain = await run(Judges(method, by_text), a_round_by(method, 4, OUTSIDE))

    round_ = await run(Judges(method, canary_last), a_canary_round(method, 4, OUTSIDE))

    assert round_.tally
    assert plain.tally
    assert round_.tally.standings == plain.tally.standings
    flags = round_.tally.verdict.flags
    assert not any(flag.kind is FlagKind.CANARY_NOT_LAST for flag in flags)
    # A judge with two grades cannot set it apart from an answer that is no better.
    assert {ballot.canary for ballot in round_.ballots} <= {CANARY_LAST, CANARY_TIED}
    assert all(CANARY not in ballot.shown for ballot in round_.ballots)
    assert not verify(round_)


@pytest.mark.parametrize("liking", [by_slot, by_slot_reversed, by_letter_b])
@pytest.mark.parametrize("members", range(3, 9))
@pytest.mark.parametrize("method", ["blind-ranking", "both-orders", "worst-first", "grading"])
async def test_judges_that_like_a_position_or_a_letter_still_end_in_an_exact_tie(
    method: str, members: int, liking: Callable[[ReadPrompt], list[str]]
) -> None:
    round_ = await run(Judges(method, liking), a_canary_round(method, members))

    assert round_.tally
    assert [line.share for line in round_.tally.standings] == pytest.approx([0.5] * members)
    assert {line.place for line in round_.tally.standings} == {1}


async def test_a_judge_that_does_not_put_it_last_is_named_and_still_counts() -> None:
    round_ = await run(Judges("blind-ranking", canary_first), a_canary_round(members=3))

    assert round_.tally
    assert [ballot.canary for ballot in round_.ballots] == [CANARY_NOT_LAST] * 3
    flags = round_.tally.verdict.flags
    named = [flag.seat for flag in flags if flag.kind is FlagKind.CANARY_NOT_LAST]
    assert named == [ballot.judge for ballot in round_.ballots]
    note = "Note: Claude Sonnet 4.6, GPT-5.1 and Gemini 3 Pro fell for the canary."
    assert note in flag_notes(round_)
    assert all(line.max_points for line in round_.tally.standings)
    assert not verify(round_)
    assert build_votes(round_).checks == tuple(
        Check(CANARY_CHECK, ballot.judge, found=True) for ballot in round_.ballots
    )


@pytest.mark.parametrize(
    ("ranking", "place"),
    [
        (lambda own, others: [*others, own], CANARY_LAST),
        (lambda own, others: [*others[:-1], f"{others[-1]}={own}"], CANARY_TIED),
        (lambda own, others: ["=".join([*others, own])], CANARY_NOT_LAST),
        (lambda own, others: [others[0], own, *others[1:]], CANARY_NOT_LAST),
        # What a judge leaves out shares the last place.
        (lambda own, others: others, CANARY_LAST),
        (lambda own, others: others[:1], CANARY_TIED),
    ],
)
async def test_where_a_judge_put_it_is_stored(
    ranking: Callable[[str, list[str]], list[str]], place: str
) -> None:
    def vote(shown: ReadPrompt) -> str:
        own = canary_letter(shown)
        return ballot_text(
            " ".join(ranking(own, [x for x in shown.texts if x != own])), shown.nonces[0]
        )

    round_ = await run(FakeGateway(vote=vote), a_canary_round())

    assert {ballot.canary for ballot in round_.ballots} == {place}
    assert "a canary, a text that was made to lose" in rankings_intro(round_)


async def test_a_judge_with_several_ballots_is_one_check() -> None:
    turns: Counter[str] = Counter()

    def liking(shown: ReadPrompt) -> list[str]:
        turns["all"] += 1
        return canary_first(shown) if turns["all"] == 1 else canary_last(shown)

    round_ = await run(Judges("both-orders", liking), a_canary_round("both-orders"))

    assert len(round_.ballots) == 8
    assert sum(check.found for check in build_votes(round_).checks) == 1
    assert len(build_votes(round_).checks) == 4


async def test_a_reason_speaks_of_the_canary_and_not_of_a_letter() -> None:
    def vote(shown: ReadPrompt) -> str:
        own = canary_letter(shown)
        reason = f"Response {own} is about something else."
        return ballot_text(" ".join(canary_last(shown)), shown.nonces[0], reason)

    round_ = await run(FakeGateway(vote=vote), a_canary_round())

    assert {b.reason for b in round_.ballots} == {"Response canary is about something else."}


async def test_a_forgotten_round_keeps_where_it_stood_and_verifies() -> None:
    round_ = await run(Judges("grading", canary_first), a_canary_round("grading"))

    forgotten = forget(round_, datetime(2026, 11, 24, tzinfo=UTC), "salt")

    assert [b.canary for b in forgotten.ballots] == [CANARY_NOT_LAST] * 4
    assert not verify(forgotten)


async def test_a_changed_place_is_found() -> None:
    round_ = await run(Judges("blind-ranking", canary_first), a_canary_round())

    ballots = tuple(replace(ballot, canary=CANARY_LAST) for ballot in round_.ballots)

    fields = [difference.field for difference in verify(replace(round_, ballots=ballots))]
    assert sum(field.endswith(".canary") for field in fields) == 4


async def test_a_spoiled_ballot_is_asked_for_again_with_the_canary() -> None:
    replies = iter(["no ballot"])

    def vote(shown: ReadPrompt) -> str:
        first = next(replies, None)
        return first or ballot_text(" ".join(canary_last(shown)), shown.nonces[0])

    round_ = await run(FakeGateway(vote=vote), a_canary_round())

    assert len(round_.spoiled) == 1
    assert [ballot.canary for ballot in round_.ballots] == [CANARY_LAST] * 4
    assert not verify(round_)


def test_the_share_is_of_rounds_by_seed() -> None:
    round_ = a_canary_round()
    third = replace(round_.panel, terms=replace(round_.panel.terms, canary_share=0.3))
    seeded = [replace(round_, panel=third, seed=f"seed {n}") for n in range(2_000)]

    chosen = sum(has_canary(one, BLIND_RANKING) for one in seeded)

    assert chosen == pytest.approx(600, abs=62)  # three standard errors


def test_there_is_none_unless_the_panel_says_so_and_the_method_can() -> None:
    assert method_of(a_round_by("blind-ranking")) is BLIND_RANKING
    assert not has_canary(a_canary_round(members=10), BLIND_RANKING)
    for name in (*WITHOUT_CANARY, "peer-review"):
        assert with_canary(a_canary_round(name), research_method(name)) is research_method(name)


async def test_a_round_with_a_canary_has_no_audit() -> None:
    round_ = await run(Judges("blind-ranking", canary_last), a_canary_round())

    assert round_.panel.terms.audit_share == 1.0
    assert round_.draw
    assert due_audit(round_, round_.draw) is None
    assert all(isinstance(ballot, Ballot) and ballot.counts for ballot in round_.ballots)


def test_no_canary_answers_the_question() -> None:
    seeds = [str(n) for n in range(60)]

    texts = {canary_text(a_question("Which knot holds a boat?"), seed) for seed in seeds}

    assert len(texts) == 5
    assert not any("bowline" in text for text in texts)
    everything = a_question("A knot, bread, a bicycle, an orchid, chess and a guitar?")
    assert canary_text(everything, "1")


def test_no_canary_answers_a_question_on_its_subject_in_other_words() -> None:
    sailing = a_question("How do I tie a bowline?")
    gears = replace(a_question("Why does it not work?"), context="The chain stays on one sprocket.")

    assert not any("bowline" in canary_text(sailing, str(n)) for n in range(60))
    assert not any("sprocket" in canary_text(gears, str(n)) for n in range(60))


async def test_its_tokens_are_in_the_estimate() -> None:
    round_ = a_canary_round()
    prices = {seat.key: Price(1e-6, 1e-6, 100) for seat in round_.panel.seats}
    gateway = FakeGateway(prices=prices)

    estimate = await estimate_round(round_, gateway)
    plain = await estimate_round(a_round_by("blind-ranking"), gateway)

    longest = max(estimate_tokens(canary_text(a_question(), str(seed))) for seed in range(60))
    copy = 100  # the most an answer has at this price
    assert estimate.micro == plain.micro + len(round_.panel.members) * (CANARY_TOKENS + copy)
    assert longest < CANARY_TOKENS


async def test_a_canary_is_cut_and_marked_like_the_answers() -> None:
    asked = a_canary_round()
    terms = replace(asked.panel.terms, equal_length=True)
    gateway = FakeGateway(
        answers={seat.key: f"{seat.key} {'word ' * 40}" for seat in asked.panel.members}
    )

    await run(gateway, replace(asked, panel=replace(asked.panel, terms=terms)))

    for call in gateway.of(Role.BALLOT):
        shown = [*read_prompt(call.prompt).texts.values()]
        assert all(text.endswith(SHORTENED_MARK) for text in shown)
        assert len({estimate_tokens(text) for text in shown}) == 1


# --- Copies of answers, cut or with a falsehood


def a_round_with(kind: str, method: str = "blind-ranking", members: int = 4) -> Round:
    """Return a round of today's rule whose seed draws this kind."""
    round_ = a_canary_round(method, members, OUTSIDE if method == "panel-of-judges" else ())
    round_ = replace(round_, versions=(*round_.versions, (CANARIES, VERSION)))
    seeded = (replace(round_, seed=f"seed {n}") for n in range(60))
    return next(one for one in seeded if canary_kind(one) == kind)


TREES = ("Alder", "Beech", "Cedar", "Elm", "Fir", "Holly", "Larch", "Maple")


def an_essay(tree: str) -> str:
    return f"{tree} begins. " + "It goes on with more that is to be known. " * 8 + f"{tree} ends."


def essays(vote: Callable[[ReadPrompt], str]) -> FakeGateway:
    seats = a_canary_round(members=8).panel.members
    answers = {seat.key: an_essay(tree) for seat, tree in zip(seats, TREES, strict=True)}
    return FakeGateway(answers=answers, vote=vote)


def copy_and_original(shown: ReadPrompt) -> tuple[str, str]:
    """Return the letters of the two texts that begin alike, first the one that is no essay."""
    begins = {letter: text.partition(" begins")[0] for letter, text in shown.texts.items()}
    copied = Counter(begins.values()).most_common(1)[0][0]
    pair = [letter for letter, begin in begins.items() if begin == copied]
    one, two = sorted(pair, key=lambda letter: shown.texts[letter] == an_essay(copied))
    return one, two


def voting(turn: Callable[[str, str, list[str]], list[str]]) -> Callable[[ReadPrompt], str]:
    def vote(shown: ReadPrompt) -> str:
        canary, original = copy_and_original(shown)
        others = [letter for letter in by_text(shown) if letter not in {canary, original}]
        return ballot_text(" ".join(turn(canary, original, others)), shown.nonces[0])

    return vote


@pytest.mark.parametrize("kind", [CUT, FALSE])
@pytest.mark.parametrize(
    ("turn", "place"),
    [
        (lambda canary, original, others: [*others, original, canary], CANARY_LAST),
        # A worse answer by another model may stand below it.
        (lambda canary, original, others: [original, canary, *others], CANARY_LAST),
        (lambda canary, original, others: [f"{original}={canary}", *others], CANARY_TIED),
        (lambda canary, original, others: [*others, canary, original], CANARY_NOT_LAST),
        (lambda canary, original, others: ["=".join([canary, original, *others])], CANARY_NOT_LAST),
        (lambda canary, original, others: others, CANARY_TIED),
    ],
)
async def test_a_copy_belongs_below_the_answer_that_it_copies(
    kind: str, turn: Callable[[str, str, list[str]], list[str]], place: str
) -> None:
    round_ = await run(essays(voting(turn)), a_round_with(kind))

    assert [ballot.canary for ballot in round_.ballots] == [place] * 4
    assert all(CANARY not in ballot.shown for ballot in round_.ballots)
    assert not verify(round_)
    assert not verify(forget(round_, datetime(2026, 11, 24, tzinfo=UTC), "salt"))


@pytest.mark.parametrize("members", range(3, 9))
async def test_every_answer_is_copied_equally_often(members: int) -> None:
    copied: Counter[str] = Counter()

    def vote(shown: ReadPrompt) -> str:
        _, original = copy_and_original(shown)
        copied[shown.texts[original]] += 1
        return shown.ballot("")

    await run(essays(vote), a_round_with(FALSE, members=members))

    assert [*copied.values()] == [1] * members


async def test_a_cut_answer_is_the_first_third_and_ends_within_a_sentence() -> None:
    gateway = essays(lambda shown: shown.ballot(""))

    await run(gateway, a_round_with(CUT))

    for call in gateway.of(Role.BALLOT):
        shown = read_prompt(call.prompt)
        canary, original = (shown.texts[letter] for letter in copy_and_original(shown))
        assert original.startswith(canary)
        assert 0.25 < len(canary) / len(original) <= 1 / 3
        assert canary[-1].isalnum()


async def test_a_short_answer_has_a_falsehood_instead_of_a_cut() -> None:
    gateway = FakeGateway(vote=lambda shown: shown.ballot(""))

    round_ = await run(gateway, a_round_with(CUT))

    for call in gateway.of(Role.BALLOT):
        *others, copied, canary = sorted(read_prompt(call.prompt).texts.values(), key=len)
        assert len(canary) < MIN_CUT
        assert any(canary.endswith(f". {text}") for text in (*others, copied))
    assert not verify(round_)


@pytest.mark.parametrize(
    ("text", "planted"),
    [
        ("One. Two. Three. Four.", "One. Two. NO. Three. Four."),
        ("一。二。", "一。 NO.二。"),
        ("Paris", "NO. Paris"),
    ],
)
def test_a_falsehood_stands_next_to_the_middle(text: str, planted: str) -> None:
    assert plant("NO.", text) == planted


def test_kinds_are_drawn_alike_and_rounds_of_the_first_rule_know_one() -> None:
    newest = replace(a_canary_round(), versions=((CANARIES, VERSION),))
    seeds = [f"seed {n}" for n in range(3_000)]

    drawn = Counter(canary_kind(replace(newest, seed=seed)) for seed in seeds)

    assert [*drawn.values()] == pytest.approx([1_000] * 3, abs=78)  # three standard errors
    assert {canary_kind(replace(a_canary_round(), seed=seed)) for seed in seeds} == {OTHER}


@pytest.mark.parametrize("liking", [by_slot, by_slot_reversed, by_letter_b])
@pytest.mark.parametrize("kind", [CUT, FALSE])
async def test_judges_of_a_slot_or_letter_tie_with_copies_too(
    kind: str, liking: Callable[[ReadPrompt], list[str]]
) -> None:
    round_ = await run(Judges("blind-ranking", liking), a_round_with(kind, members=5))

    assert round_.tally
    assert [line.share for line in round_.tally.standings] == pytest.approx([0.5] * 5)


@pytest.mark.parametrize("method", ALLOWED)
async def test_every_method_reads_ballots_with_a_copy(method: str) -> None:
    round_ = await run(Judges(method, by_text), a_round_with(FALSE, method))

    assert round_.ballots
    assert not round_.spoiled
    assert all(ballot.canary for ballot in round_.ballots)
    assert not verify(round_)


async def test_a_copy_is_cut_and_marked_like_the_answers() -> None:
    asked = a_round_with(FALSE)
    terms = replace(asked.panel.terms, equal_length=True)
    gateway = essays(lambda shown: shown.ballot(""))

    await run(gateway, replace(asked, panel=replace(asked.panel, terms=terms)))

    for call in gateway.of(Role.BALLOT):
        texts = [*read_prompt(call.prompt).texts.values()]
        assert all(text.endswith(SHORTENED_MARK) for text in texts)
        assert len({*texts}) == len(texts)


def test_what_a_seed_draws_never_changes_between_versions() -> None:
    asked = a_question("Which queue?")
    newest = replace(a_canary_round(), versions=((CANARIES, VERSION),))
    seeds = [f"seed {n}" for n in range(3)]

    kinds = [canary_kind(replace(newest, seed=seed)) for seed in seeds]

    assert [canary_text(asked, seed).split()[1] for seed in seeds] == ["dough", "an", "tie"]
    assert kinds == [CUT, FALSE, CUT]
