from dataclasses import replace

import pytest

from council.answers import Exchange, Prompt, Reply
from council.bakeoffs.models import Bakeoff, Grading, Reference, Suite, SuiteQuestion
from council.bakeoffs.records import (
    FROM_TEXTS,
    STRENGTHS,
    AuthorRecord,
    JudgeRecord,
    Margin,
    build_record,
    is_refusal,
)
from council.integrity import erasure
from council.labels import Label, LabelMap, Slate
from council.places import NOWHERE, Place
from council.rounds import REVISION, Closing, Draw, Question, Round, Synthesis
from council.tally import count_ballots
from council.tally.verdict import Strength
from tests.builders import (
    ASKED_AT,
    CLAUDE,
    DEEPSEEK,
    GEMINI,
    GPT,
    a_ballot,
    a_panel,
    a_round,
    a_spoiled_ballot,
    an_absence,
    an_answer,
    an_exchange,
    with_answers,
    with_ballots,
)

AUTHORS = dict(zip("ABCD", (CLAUDE, GPT, GEMINI, DEEPSEEK), strict=True))
SUITE = Suite(
    "sums",
    (
        SuiteQuestion("Why?", "prose"),
        SuiteQuestion("6 × 7?", "sums", Reference(Grading.NUMBER, "42")),
    ),
)
BAKEOFF = Bakeoff("bo:1", SUITE, a_panel(4), NOWHERE, "U1", ASKED_AT)


def _example(*ballots: str) -> Round:
    """Return a closed round of A…D with a ballot each; without any, the method's worked example."""
    texts = ballots or ("B C D", "A C=D", "A B=D", "B A C")
    cast = tuple(
        a_ballot(text, by=judge) for text, judge in zip(texts, AUTHORS.values(), strict=True)
    )
    labels = LabelMap(tuple((member, Label(label)) for label, member in AUTHORS.items()))
    return replace(
        with_answers(a_round(a_panel(4))),
        draw=Draw(labels, tuple(Slate(ballot.judge, ballot.shown) for ballot in cast)),
        ballots=cast,
        tally=count_ballots(labels.labels, cast, "seed"),
        closing=Closing(12.5),
    )


def _authored(round_: Round, bakeoff: Bakeoff | None = None) -> dict[str, AuthorRecord]:
    return {one.member: one for one in build_record(round_, bakeoff).authored}


def _judged(round_: Round) -> dict[str, JudgeRecord]:
    return {one.judge: one for one in build_record(round_).judged}


def _margins(round_: Round) -> dict[tuple[str, str], Margin]:
    return {(one.first, one.second): one for one in build_record(round_).margins}


def test_shares_and_places_are_the_standings() -> None:
    found = _authored(_example())

    assert [one.share for one in found.values()] == pytest.approx([5 / 6, 3 / 4, 1 / 4, 1 / 6])
    assert [one.place for one in found.values()] == [1, 2, 3, 4]
    assert [one.first_votes for one in found.values()] == [2, 2, 0, 0]
    assert [one.ballots for one in found.values()] == [3, 3, 3, 3]


def test_a_margin_is_what_judges_outside_the_pair_make_of_it() -> None:
    found = _margins(_example())

    # C gives A 1 and B ¼, D gives B 1 and A ½: (¾ − ½) / 2; each of them puts another one above.
    assert found[CLAUDE, GPT].margin == pytest.approx(0.125)
    assert (found[CLAUDE, GPT].judges, found[CLAUDE, GPT].won) == (2, 0.5)
    # A gives C ½ and D 0, B gives both ¼; the tie is half.
    assert found[GEMINI, DEEPSEEK].margin == pytest.approx(0.25)
    assert found[GEMINI, DEEPSEEK].won == 0.75


def test_without_a_judge_outside_the_pair_there_is_no_margin() -> None:
    two = replace(with_answers(a_round(a_panel(2))), closing=Closing(1))
    labels = LabelMap(((CLAUDE, Label("A")), (GPT, Label("B"))))

    found = _margins(
        replace(two, draw=Draw(labels, ()), tally=count_ballots(labels.labels, (), ""))
    )

    assert found[CLAUDE, GPT] == Margin(CLAUDE, GPT, None, 0, None)


def test_a_judge_agrees_with_the_others_on_what_both_ranked() -> None:
    found = _judged(_example())

    # A's B > C > D meets ties of B and of C, which say nothing, and D's B > C.
    assert found[CLAUDE].tau_b == 1
    assert found[CLAUDE].valid


def test_a_judge_alone_agrees_with_nobody() -> None:
    round_ = _example()

    assert _judged(replace(round_, ballots=round_.ballots[:1]))[CLAUDE].tau_b is None


def test_the_first_slot_is_what_the_judge_saw_first() -> None:
    round_ = _example()
    turned = replace(round_.ballots[0], shown=round_.ballots[0].shown[::-1])

    assert _judged(round_)[DEEPSEEK].first_slot == 0.5  # A was first, and came second of three
    assert _judged(replace(round_, ballots=(turned, *round_.ballots[1:])))[CLAUDE].first_slot == 0


def test_a_repeated_order_is_compared_with_the_first() -> None:
    again = a_ballot("C B D", by=CLAUDE, audit="order")
    round_ = _example()

    found = _judged(replace(round_, ballots=(*round_.ballots, again)))[CLAUDE]

    assert (found.kept, found.pairs) == (2, 3)


def test_spoiled_ballots_are_counted_and_paid_for_and_those_of_audits_are_neither() -> None:
    round_ = _example()
    paid = replace(an_exchange(), reply=Reply("", cost_usd=0.25))
    spoiled = [replace(a_spoiled_ballot(CLAUDE, attempt), paper=paid) for attempt in (1, 2)]
    audit = a_spoiled_ballot(GPT, attempt=3)
    mine = replace(round_.ballots[1], paper=replace(an_exchange(), reply=Reply("", cost_usd=0.5)))
    ballots = (mine, *round_.ballots[2:])

    found = _judged(replace(round_, ballots=ballots, spoiled=(*spoiled, audit)))

    assert found[CLAUDE] == JudgeRecord(CLAUDE, valid=False, spoiled=2, cost_usd=0.5)
    assert (found[GPT].spoiled, found[GPT].cost_usd) == (0, 0.5)
    assert found[GEMINI].cost_usd is None


def test_one_price_that_is_not_known_leaves_the_sum_unknown() -> None:
    round_ = _example()
    answers = (an_answer(CLAUDE, cost=1.0), an_answer(GPT, cost=None))

    assert build_record(replace(round_, answers=answers)).whole.cost_usd is None
    assert build_record(replace(round_, answers=answers[:1])).whole.cost_usd == 1


def test_the_synthesis_and_its_price_are_part_of_the_whole() -> None:
    reply = Reply("42", cost_usd=0.5, seconds=3)
    round_ = replace(_example(), answers=(an_answer(CLAUDE, cost=1.0),))
    round_ = replace(round_, synthesis=Synthesis("42", CLAUDE, reply=reply))

    found = build_record(round_).whole

    assert (found.winner, found.council_correct) == (CLAUDE, None)
    assert (found.cost_usd, found.seconds) == (1.5, 12.5)
    assert (found.synthesis_usd, found.synthesis_seconds) == (0.5, 3)


def test_a_record_says_where_the_chairman_read_an_answer_and_whether_it_used_it() -> None:
    round_ = _example()
    assert round_.draw
    labels = dict(round_.draw.labels.pairs)
    written = Synthesis("42", CLAUDE, drawn_on=(labels[GPT],), departs=True)

    found = build_record(replace(round_, synthesis=written))
    silent = build_record(replace(round_, synthesis=replace(written, drawn_on=())))
    copied = build_record(replace(round_, synthesis=replace(written, chairman=None)))

    read = sorted(found.authored, key=lambda one: one.chair_slot or 0)
    assert [labels[one.member] for one in read] == sorted(labels.values())
    assert [one.chair_slot for one in read] == [1, 2, 3, 4]
    assert {one.member for one in read if one.drawn_on} == {GPT}
    assert (found.chairman, found.whole.departs) == (CLAUDE, True)
    assert {one.drawn_on for one in silent.authored} == {None}
    assert (copied.chairman, copied.whole.departs) == ("", None)
    assert {(one.chair_slot, one.drawn_on) for one in copied.authored} == {(None, None)}


def test_a_record_has_the_strength_of_the_verdict() -> None:
    round_ = _example()
    assert round_.tally

    found = build_record(round_).whole

    assert found.strength == STRENGTHS.index(round_.tally.verdict.strength)
    assert found.is_sure == round_.tally.verdict.is_sure
    assert set(STRENGTHS) == set(Strength)


def test_answers_and_synthesis_are_graded_where_the_suite_has_a_reference() -> None:
    texts = {CLAUDE: "It is 42.", GPT: "It is 41.", GEMINI: "42", DEEPSEEK: "I'm sorry, I can't."}
    round_ = replace(_example(), id="bo:1.2", bakeoff="bo:1")
    round_ = replace(round_, answers=tuple(an_answer(m, text) for m, text in texts.items()))
    round_ = replace(round_, synthesis=Synthesis("The answer is 42.", CLAUDE))

    found = _authored(round_, BAKEOFF)

    assert [one.correct for one in found.values()] == [True, False, True, False]
    assert [one.refused for one in found.values()] == [False, False, False, True]
    assert [one.words for one in found.values()] == [3, 3, 1, 4]
    assert build_record(round_, BAKEOFF).whole.council_correct is True
    assert build_record(replace(round_, synthesis=None), BAKEOFF).whole.council_correct is False


def test_nothing_is_graded_without_the_whole_grader() -> None:
    missing = Reference(Grading.MISSING, "assert javascript", checks="1 of 2")
    asked = tuple(replace(one, reference=missing) for one in BAKEOFF.suite.questions)
    bakeoff = replace(BAKEOFF, suite=replace(BAKEOFF.suite, questions=asked))
    round_ = replace(_example(), id="bo:1.2", bakeoff="bo:1")
    round_ = replace(round_, synthesis=Synthesis("The answer is 42.", CLAUDE))

    assert {one.correct for one in _authored(round_, bakeoff).values()} == {None}
    assert build_record(round_, bakeoff).whole.council_correct is None
    assert build_record(replace(round_, synthesis=None), bakeoff).whole.council_correct is None


def test_a_record_says_which_question_of_which_suite_it_is_of() -> None:
    place = Place("slack", "T1", "C1")
    round_ = replace(
        _example(), id="bo:1.1", bakeoff="bo:1", question=Question("Why?", place=place)
    )

    found = build_record(round_, BAKEOFF)

    assert (found.bakeoff, found.number, found.category) == ("bo:1", 1, "prose")
    assert (found.suite, found.suite_version) == ("sums", SUITE.version)
    assert (found.scope, found.panel) == ("slack/T1", "house")
    assert found.authored[0].correct is None


def test_who_gave_no_answer_is_absent_and_still_judges() -> None:
    texts = dict.fromkeys((CLAUDE, GPT, GEMINI), "Yes.")
    round_ = replace(with_ballots(with_answers(a_round(a_panel(4)), texts)), closing=Closing(1))

    found = build_record(round_)

    assert found.authored[3] == AuthorRecord(DEEPSEEK, absent=True)
    assert len(found.judged) == 4
    assert len(found.margins) == 3


def test_a_failed_round_has_absences_and_no_shares() -> None:
    failed = replace(
        a_round(a_panel(4)),
        id="bo:1.2",
        bakeoff="bo:1",
        answers=(an_answer(CLAUDE, "42", cost=0.25),),
        absences=tuple(an_absence(member) for member in (GPT, GEMINI, DEEPSEEK)),
        closing=Closing(60, "Too few members answered."),
    )

    found = build_record(failed, BAKEOFF)

    assert [one.absent for one in found.authored] == [False, True, True, True]
    assert [one.share for one in found.authored] == [None] * 4
    assert (found.judged, found.margins) == ((), ())
    assert (found.whole.winner, found.whole.council_correct) == (None, False)
    assert found.whole.cost_usd == 0.25


def test_where_nothing_was_counted_the_answer_that_stands_in_is_the_winner() -> None:
    round_ = replace(
        with_ballots(with_answers(a_round(a_panel(3))), lambda _: None), closing=Closing(1)
    )

    found = build_record(round_)

    assert [one.share for one in found.authored] == [None] * 3
    assert found.whole.winner == CLAUDE
    assert [(one.valid, one.spoiled) for one in found.judged] == [(False, 1)] * 3


def test_an_answer_that_no_ballot_saw_has_no_place() -> None:
    round_ = _example()
    only = tuple(ballot for ballot in round_.ballots if ballot.judge == DEEPSEEK)
    assert round_.draw is not None
    tally = count_ballots(round_.draw.labels.labels, only, "seed")

    found = _authored(replace(round_, ballots=only, tally=tally))

    assert (found[DEEPSEEK].share, found[DEEPSEEK].place) == (None, None)
    assert (found[DEEPSEEK].ballots, found[GPT].ballots) == (0, 1)


def test_of_a_forgotten_round_only_what_its_texts_tell_is_unknown() -> None:
    graded = replace(
        _example(), id="bo:1.2", bakeoff="bo:1", synthesis=Synthesis("42", CLAUDE), exchanges=()
    )

    before, after = build_record(graded, BAKEOFF), build_record(forget(graded), BAKEOFF)

    assert after == replace(
        before,
        authored=tuple(
            replace(one, correct=None, grade=None, refused=None, words=None)
            for one in before.authored
        ),
        whole=replace(before.whole, council_correct=None),
    )
    assert {"correct", "refused", "words", "council_correct"} < FROM_TEXTS


def test_whether_a_forgotten_revision_named_its_author_is_unknown() -> None:
    revision = Exchange(REVISION, GPT, Prompt("", ""), Reply("I am GPT.", seconds=2.0))
    revised = replace(_example(), exchanges=(revision,))

    assert _authored(revised)[GPT].named_itself is True
    assert _authored(forget(revised))[GPT].named_itself is None
    assert _authored(forget(revised))[CLAUDE].named_itself is False


def forget(round_: Round) -> Round:
    return erasure.forget(round_, ASKED_AT, "salt")


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "Sorry, I cannot do that for you.",
        "I cannot provide instructions for this.",
        "I can't help you with that.",
        "I am unable to assist.",
        "Unfortunately, I am not able to comply with this.",
        "I won't write that.",
        "As an AI language model, I cannot have opinions on this.",
        "I must decline.",
        "I'd rather not answer this.",
        "I respectfully decline to answer.",
        "This request goes against my guidelines.",
        "**I cannot** help with that.",
    ],
)
def test_a_refusal_is_told_from_its_first_words(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Postgres is enough.",
        "Sorry for the confusion: it is 42.",
        "You can't do this with SELECT alone; use a window function.",
        "I can help with that: use an index.",
        "The error says 'I cannot help', which means the server is busy.",
        "As an AI team lead, you should start with a backlog.",
        "It is 42. I'm sorry, but I can't say more.",
    ],
)
def test_an_answer_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)


def test_a_grader_that_fails_costs_no_other_number() -> None:
    broken = SuiteQuestion("6 × 7?", "sums", Reference(Grading.JSON, "{"))
    bakeoff = replace(BAKEOFF, suite=Suite("sums", (SUITE.questions[0], broken)))

    found = build_record(replace(_example(), id="bo:1.2", bakeoff="bo:1"), bakeoff)

    assert {one.correct for one in found.authored} == {None}
    assert [one.place for one in found.authored] == [1, 2, 3, 4]
