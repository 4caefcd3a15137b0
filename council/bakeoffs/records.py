"""Records: the numbers stored for each closed round to compute leaderboards from; no texts."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from council.answers import Answer
from council.bakeoffs.graders import grade, missing_grader
from council.bakeoffs.models import (
    Bakeoff,
    Grading,
    Reference,
    SuiteQuestion,
    split_round_id,
)
from council.ballots import Ballot
from council.labels import Label, LabelMap, Slate
from council.methods import method_of
from council.money import sum_or_none
from council.pipeline.session import mask_answer
from council.round_rules import official_weights
from council.rounds import COMMENTS, Draw, Round, winning_answer
from council.rubric_grader import NOT_GRADED, SYNTHESIS, count_grades
from council.tally import Standing
from council.tally.agreement import compare_rankings, tau_b
from council.tally.borda import PairMatrix, borda_shares, counted_ballots, pair_matrix, ranks
from council.tally.verdict import Strength

VERSION = 4  # of the stored numbers
TRIAL = " (trial)"  # the end of the panel's name in the records of trials
FIRST_VERSION = 2  # the oldest that a release stored; it did not name its fields
COMPUTED_SINCE = 4  # older records are computed again, except those of forgotten rounds
# Fields that are unknown once the texts are forgotten.
FROM_TEXTS = frozenset({"correct", "grade", "refused", "words", "named_itself", "council_correct"})


@dataclass(frozen=True, slots=True)
class AuthorRecord:
    """How one member fared as an author; None means unknown or not applicable.

    `share` is the round's Borda share in pair form; `grade` says how right its answer is, 0 to 1,
    and `correct` whether it is right; None also if the grader failed;
    `first_votes` of the `ballots` that saw the answer ranked it first, alone. `named_itself` says
    whether something was masked in its answer. The chairman read the answer in place `chair_slot`,
    from 1, and `drawn_on` says whether it named it as one that it used.
    """

    member: str
    share: float | None = None
    place: int | None = None
    correct: bool | None = None
    refused: bool | None = False
    absent: bool | None = False
    words: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    first_votes: int | None = None
    ballots: int | None = None
    named_itself: bool | None = False
    grade: float | None = None
    chair_slot: int | None = None
    drawn_on: bool | None = None


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """How one seat fared as a judge.

    `tau_b` is its mean agreement with the other judges. `first_slot` is the share its ballot gave
    to the answer it saw first. `kept` of `pairs` were ordered the same on an audit repeat.
    """

    judge: str
    valid: bool = False
    spoiled: int = 0
    tau_b: float | None = None
    first_slot: float | None = None
    kept: int = 0
    pairs: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Margin:
    """The first's mean share minus the second's over judges outside the pair; `won` is p_cd."""

    first: str
    second: str
    margin: float | None
    judges: int
    won: float | None


@dataclass(frozen=True, slots=True)
class CouncilRecord:
    """The whole round with its synthesis; `winner` is the member in first place.

    `strength` is an index into STRENGTHS, and `is_sure` says whether the first place is unlikely to
    be chance. `departs` says whether the chairman contradicts it; None if no chairman wrote.
    """

    winner: str | None = None
    council_correct: bool | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    synthesis_usd: float | None = None
    synthesis_seconds: float | None = None
    strength: int | None = None
    is_sure: bool | None = None
    departs: bool | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """The numbers of one closed round; `number` is the question's in its bake-off, from 1.

    `chairman` is the model that wrote the synthesis, "" if none did.
    """

    round_id: str
    asked_at: datetime
    panel: str
    scope: str
    authored: tuple[AuthorRecord, ...]
    judged: tuple[JudgeRecord, ...]
    margins: tuple[Margin, ...]
    whole: CouncilRecord
    bakeoff: str = ""
    number: int = 0
    suite: str = ""
    suite_version: str = ""
    category: str = ""
    chairman: str = ""


# By their stored number: add new ones at the end.
STRENGTHS = (
    Strength.UNANIMOUS,
    Strength.CLEAR,
    Strength.CLOSE,
    Strength.TIED,
    Strength.NO_CONSENSUS,
)
# The stored numbers. They are read by name: records from before a field was added stay, without it.
AUTHOR_FIELDS = tuple(field.name for field in fields(AuthorRecord) if field.name != "member")
JUDGE_FIELDS = tuple(field.name for field in fields(JudgeRecord) if field.name != "judge")
PAIR_FIELDS = ("margin", "judges", "won")
ROUND_FIELDS = tuple(field.name for field in fields(CouncilRecord))  # `winner` as an index


class PackedRecord(NamedTuple):
    """A record as it is stored; `shape` is JSON that names members, judges, fields, chairman."""

    round_id: str
    asked_at: datetime
    panel: str
    scope: str
    bakeoff: str
    number: int
    suite: str
    suite_version: str
    category: str
    shape: str
    numbers: bytes
    version: int


_REFUSAL_CHARACTERS = 300  # a refusal is recognised by how it begins
_CANNOT = (
    r"(?:can(?:no|')?t|can ?not|could ?n[o']t|won'?t|will not|(?: ?am|'m) (?:not able|unable) to)"
)
_HELP = (
    r"(?:help|assist|answer|provide|comply|fulfil+|do that|discuss|engage|support|participate|"
    r"share|give|write|create|generate|complete|continue with|respond|offer)"
)
_REFUSALS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\A(?:i'?m |i am )?(?:very |really |so )?(?:sorry|afraid|apologi[sz]e)\b.{{0,60}}?"
        rf"\bi ?{_CANNOT}\b",
        rf"\A(?:unfortunately,? )?i ?{_CANNOT}\s+(?:\w+\s+)?{_HELP}\b",
        rf"\Aas an? (?:ai|artificial|(?:large )?language)\b.{{0,80}}?\bi ?{_CANNOT}\b",
        r"\A(?:i must|i have to|i need to|i'?d (?:have|prefer|rather)(?: to| not)?) "
        r"(?:respectfully )?(?:decline|refuse|not answer)\b",
        r"\Ai (?:respectfully )?(?:decline|refuse) to\b",
        r"\A(?:this|that|your|the) (?:request|question|prompt) "
        r"(?:goes against|is against|violates)\b",
    )
)


def is_refusal(text: str) -> bool:
    """Return whether the first words of a text decline to answer."""
    beginning = " ".join(text.replace("*", "").split())[:_REFUSAL_CHARACTERS]
    beginning = beginning.replace("’", "'").lstrip("_#> \"'")
    return any(pattern.match(beginning) for pattern in _REFUSALS)


def build_record(
    round_: Round, bakeoff: Bakeoff | None = None, *, with_reused: bool = False
) -> Record:
    """Return a closed round's numbers, graded if the suite has a reference; no shares if failed.

    What only the texts tell is unknown of a forgotten round. Answers used again count where they
    were given; `with_reused` has them here, too.
    """
    number = split_round_id(round_.id)[1] if bakeoff else 0
    question = bakeoff.suite.questions[number - 1] if bakeoff else SuiteQuestion("")
    if round_.closing and round_.closing.failure:
        round_ = replace(round_, draw=None, tally=None)
    result, grade_one = _RoundResult.of(round_), _grader(round_, question.reference)
    is_graded = question.is_graded and not missing_grader(question.reference, round_.registry)
    taken = (x for x in round_.answers if x.origin)
    reused = {x.member for x in taken if not with_reused or x.is_erased}
    authored = (
        AuthorRecord(seat.key, refused=None, absent=None, named_itself=None)
        if seat.key in reused
        else _author_record(seat.key, round_, result, grade_one)
        for seat in round_.panel.members
    )
    whole = _council_record(round_, grade_one, is_graded=is_graded)
    if trial := round_.panel.trial:
        # No council answers, and a missing answer is a wrong one.
        authored = (_graded_absence(x, is_graded=is_graded) for x in authored)
        winner = whole.winner if with_reused and trial.is_ranked else None
        whole = replace(whole, winner=winner, council_correct=None)
    return Record(
        round_id=round_.id,
        asked_at=round_.asked_at,
        panel=f"{round_.panel.name}{TRIAL if round_.panel.trial else ''}",
        scope=round_.question.place.scope,
        authored=tuple(authored),
        judged=tuple(_judge_record(slate, round_, result) for slate in result.slates),
        margins=tuple(x for x in _margins(round_, result) if not {x.first, x.second} <= reused),
        whole=whole,
        bakeoff=round_.bakeoff,
        number=number,
        suite=bakeoff.suite.name if bakeoff else "",
        suite_version=bakeoff.suite.version if bakeoff else "",
        category=question.category,
        chairman=(round_.synthesis and round_.synthesis.chairman) or "",
    )


@dataclass(frozen=True, slots=True)
class _RoundResult:
    """The counted ballots of a round; empty for a round that failed."""

    labels: dict[str, Label]
    slates: tuple[Slate, ...]
    ballots: tuple[Ballot, ...]
    lines: dict[Label, Standing]
    matrix: PairMatrix

    @classmethod
    def of(cls, round_: Round) -> "_RoundResult":
        draw = round_.draw or Draw(LabelMap(()), ())
        method = method_of(round_)
        ballots = counted_ballots(method.ballots(round_, draw)) if round_.tally else ()
        lines = {line.label: line for line in round_.tally.standings} if round_.tally else {}
        slates = {slate.judge: slate for slate in method.slates(round_, draw)}
        matrix = pair_matrix(ballots, official_weights(round_) if ballots else None)
        return cls(dict(draw.labels.pairs), tuple(slates.values()), ballots, lines, matrix)


class _Grade(NamedTuple):
    """Whether an answer is right, and how right, 0 to 1."""

    correct: bool | None
    grade: float | None


_Grader = Callable[[str, str], _Grade]  # from an answer's label, or SYNTHESIS, and its text


def _grader(round_: Round, reference: Reference | None) -> _Grader:
    """Return the grader of a question: code, or what most of the outside judges say."""

    def by_code(_key: str, text: str) -> _Grade:
        share = None if round_.forgotten else grade(reference, text, round_.registry)
        return _Grade(None if share is None else share == 1, share)

    if reference is None or reference.grading != Grading.JUDGE:
        return by_code
    counts = count_grades(round_)

    def by_judges(key: str, _text: str) -> _Grade:
        count = counts.get(key, NOT_GRADED)
        return _Grade(count.verdict, count.share)

    return by_judges


def _author_record(
    member: str, round_: Round, result: _RoundResult, grade_one: _Grader
) -> AuthorRecord:
    answer = next((answer for answer in round_.revised if answer.member == member), None)
    if answer is None:
        return AuthorRecord(member, absent=True)
    label = result.labels.get(member)
    line = result.lines.get(label) if label else None
    written = round_.synthesis if round_.synthesis and round_.synthesis.chairman else None
    graded = grade_one(label or "", answer.text)
    return AuthorRecord(
        member=member,
        share=line.share if line else None,
        place=line.place if line and line.share is not None else None,
        correct=graded.correct,
        grade=graded.grade,
        refused=None if round_.forgotten else is_refusal(answer.text),
        words=len(answer.text.split()) or None,  # none are left of a forgotten round
        tokens_out=answer.reply.tokens_out,
        cost_usd=_answer_cost(round_, answer),
        seconds=answer.reply.seconds,
        first_votes=line.first_votes if line else None,
        ballots=len({x.judge for x in result.ballots if label in x.shown}) if line else None,
        named_itself=_named_itself(round_, answer),
        chair_slot=_chair_slot(round_, result, label) if written and label else None,
        # A chairman that names no answer at all does not say what it used.
        drawn_on=label in written.drawn_on if written and written.drawn_on else None,
    )


def _chair_slot(round_: Round, result: _RoundResult, label: Label) -> int:
    """Return where the chairman read an answer: it reads them in the order of their labels."""
    read = (result.labels.get(answer.member) for answer in round_.revised)
    return sorted(other for other in read if other).index(label) + 1


def _graded_absence(record: AuthorRecord, *, is_graded: bool) -> AuthorRecord:
    return replace(record, correct=False, grade=0.0) if record.absent and is_graded else record


def _named_itself(round_: Round, answer: Answer) -> bool | None:
    """Return whether something was masked in an answer; it is stored only of drafts."""
    if answer in round_.answers:
        return bool(answer.scrubbed)
    return None if round_.forgotten else bool(mask_answer(round_, answer).found)


def _answer_cost(round_: Round, answer: Answer) -> float | None:
    """Return what an answer cost; of a revised one also its draft and its part of all comments."""
    replies = [draft.reply for draft in round_.answers if draft.member == answer.member]
    if answer.reply in replies:
        return answer.reply.cost_usd
    comments = [x.reply.cost_usd for x in round_.exchanges if x.kind in COMMENTS]
    costs = [answer.reply.cost_usd, *(draft.cost_usd for draft in replies)]
    costs += [None if cost is None else cost / len(round_.answers) for cost in comments]
    return sum_or_none(costs)


def _judge_record(slate: Slate, round_: Round, result: _RoundResult) -> JudgeRecord:
    judge = slate.judge
    own_ballots = [ballot for ballot in result.ballots if ballot.judge == judge]
    own_ballot = own_ballots[0] if own_ballots else None
    spoiled = [ballot for ballot in round_.spoiled if ballot.judge == judge and not ballot.is_audit]
    papers = [ballot.paper for ballot in spoiled]
    papers += [ballot.paper for ballot in own_ballots if ballot.paper]
    record = JudgeRecord(
        judge,
        spoiled=len(spoiled),
        cost_usd=sum_or_none(paper.reply.cost_usd for paper in papers),
    )
    if own_ballot is None:
        return record
    first_on: dict[frozenset[Label], Ballot] = {}
    for ballot in own_ballots:
        first_on.setdefault(frozenset(ballot.shown), ballot)
    again = [
        ballot for ballot in round_.ballots if ballot.judge == judge and ballot.audit == "order"
    ]
    again += own_ballots
    compared = ((first_on[frozenset(ballot.shown)], ballot) for ballot in again)
    repeats = [
        compare_rankings(first.ranking, ballot.ranking)
        for first, ballot in compared
        if first is not ballot
    ]
    return replace(
        record,
        valid=True,
        tau_b=_mean_agreement(own_ballot, result.ballots),
        first_slot=fmean(borda_shares(x.ranking)[x.shown[0]] for x in own_ballots),
        kept=sum(ballot.pairs - ballot.changed for ballot in repeats),
        pairs=sum(ballot.pairs for ballot in repeats),
    )


def _mean_agreement(own_ballot: Ballot, ballots: Iterable[Ballot]) -> float | None:
    """Return the mean τ_b with each other judge's ballot, on the answers both ranked."""
    others = (ballot for ballot in ballots if ballot.judge != own_ballot.judge)
    taus = [tau_b(ranks(own_ballot.ranking), ranks(other.ranking)) for other in others]
    known = [tau for tau in taus if tau is not None]
    return fmean(known) if known else None


def _margins(round_: Round, result: _RoundResult) -> Iterator[Margin]:
    """Yield a margin for each pair of members that both answered, in panel order.

    The rankings of a judge weigh as one.
    """
    shares = [(ballot.judge, borda_shares(ballot.ranking)) for ballot in result.ballots]
    authors = [seat.key for seat in round_.panel.members if seat.key in result.labels]
    for first, second in combinations(authors, 2):
        one, other = result.labels[first], result.labels[second]
        # A judge that saw both answers wrote neither of them.
        leads: dict[str, list[float]] = {}
        for judge, share in shares:
            if one in share and other in share:
                leads.setdefault(judge, []).append(share[one] - share[other])
        yield Margin(
            first,
            second,
            margin=fmean(map(fmean, leads.values())) if leads else None,
            judges=len(leads),
            won=result.matrix.get((one, other)),
        )


def _council_record(round_: Round, grade_one: _Grader, *, is_graded: bool) -> CouncilRecord:
    synthesis = round_.synthesis
    reply = synthesis.reply if synthesis else None
    winner: Answer | None = None
    if round_.draw and round_.tally and round_.answers and method_of(round_).is_ranked:
        winner = winning_answer(round_, round_.draw, round_.tally)
    verdict = round_.tally.verdict if winner and round_.tally else None
    return CouncilRecord(
        winner=winner.member if winner else None,
        # A round without a synthesis counts as a wrong answer.
        council_correct=grade_one(SYNTHESIS, synthesis.text).correct
        if synthesis
        else (False if is_graded else None),
        # Decisions come later, and a record never changes.
        cost_usd=replace(round_, decisions=()).cost_usd,
        seconds=round_.closing.seconds if round_.closing else None,
        synthesis_usd=reply.cost_usd if reply else None,
        synthesis_seconds=reply.seconds if reply else None,
        strength=STRENGTHS.index(verdict.strength) if verdict else None,
        is_sure=verdict.is_sure if verdict else None,
        departs=synthesis.departs if synthesis and synthesis.chairman else None,
    )
