"""Grading: every judge grades each answer on a scale, and ranks follow from the grades.

Half of the judges give the best answer the highest number, the others the lowest; stored grades
are on one scale, the best highest. Where a reply has the log-probabilities of all its grades, these
are expectations, which tie less often (G-Eval, Liu et al. 2023).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import exp, nan
from statistics import fmean

from council.answers import Prompt, Reply, Scores
from council.ballots import (
    VERSION,
    Ballot,
    BallotExchange,
    BallotFault,
    BallotParseError,
    ParsedBallot,
    SpoiledBallot,
    cast_ballot,
    parse_signed_object,
    rank_by_grades,
    read_reason,
)
from council.labels import LOW_IS_GOOD, LabelMap, Slate, draw_slates
from council.methods import FIRST_VERSION, Method
from council.panel import Rubric
from council.prompts.ballot import BallotPrompt, answer_parts, judge_rules, question_parts
from council.prompts.shared import object_schema
from council.research.methods.worst_first import alternate
from council.rounds import Question

HIGH_IS_GOOD = "high is good"
_MAX_PARAGRAPHS = 20  # a judge that grades many more loses count, so one answer could spoil all
TOP_LOGPROBS = 8  # no provider is known to refuse so few, and a scale has at most five numbers
_ROUNDING = 1e-6  # by how much rounded probabilities may exceed 1
_GRADES = '"grades"'
_NUMBER_OR_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"|([0-9]+)', re.DOTALL)
_CRITERIA_COUNT = re.compile(r"for each of the (\d+) criteria, in their order")
_FORM = """\
First write a short reason, then {what}: {scale}. Grade each for itself, not against the others. \
Call the answers Response A, Response B and so on in the reason. Only the grades count.
Reply with one JSON object and nothing else, in this form, using the nonce given to you:
{{"nonce": "…", "reason": "…", "grades": {{"A": {example}, "B": {example}, …}}}}"""


@dataclass(frozen=True, slots=True)
class Scale:
    """Grades from `low` to `high`; `good` and `bad` describe it in its two wordings."""

    low: int
    high: int
    good: str
    bad: str

    def text(self, wording: str) -> str:
        """Return what a judge is told about it."""
        return self.bad if wording == LOW_IS_GOOD else self.good

    def read(self, value: object, wording: str) -> float:
        """Return a number on the scale, the best highest; raise BallotParseError for another."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not self.low <= value <= self.high:  # type: ignore[operator]
            raise BallotParseError(BallotFault.GRADE)
        return self.turn(float(value), wording)  # type: ignore[arg-type]

    def turn(self, grade: float, wording: str) -> float:
        """Return a grade given in this wording on the scale whose best is highest."""
        return self.low + self.high - grade if wording == LOW_IS_GOOD else grade

    def expectation(self, number: str, logprobs: Scores) -> float:
        """Return Σ k·p(k) over the scale's numbers k, p being renormalised over them, to 6 digits.

        NaN unless these are log-probabilities, among them that of the number given.
        """
        if number not in dict(logprobs) or not all(one <= 0 for _, one in logprobs):
            return nan
        alternatives = [(text, exp(one)) for text, one in logprobs]
        if sum(p for _, p in alternatives) > 1 + _ROUNDING:
            return nan
        values = {str(k): k for k in range(self.low, self.high + 1)}
        on_scale = [(values[text], p) for text, p in alternatives if text in values]
        total = sum(p for _, p in on_scale)
        return round(sum(k * p for k, p in on_scale) / total, 6) if total else nan


def _scale(low: int, high: int) -> Scale:
    return Scale(
        low=low,
        high=high,
        good=f"a whole number from {low} (worst) to {high} (best)",
        bad=f"a whole number from {low} (best) to {high} (worst)",
    )


FIVE, HUNDRED, THREE = _scale(1, 5), _scale(0, 100), _scale(1, 3)
BINARY = Scale(
    low=0,
    high=1,
    good="1 if the asker can use it as it is, else 0",
    bad="1 if the asker cannot use it as it is, else 0",
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """How one kind of grading asks and reads: what is graded, its scale, the form of an answer.

    `describe` takes wording and rubric; `schema`, of one answer's grades, takes the rubric. `read`
    takes what stands under a letter, the wording and how many grades there must be. `count` finds
    that in the prompt, for a letter and a nonce; None is any number. `expects` is the scale of the
    numbers that count, where each can be one token; only they can have expectations. `only_whole`
    says that no grade may have a fraction.
    """

    what: str
    describe: Callable[[str, Rubric], str]
    example: str
    schema: Callable[[Rubric], Mapping[str, object]]
    read: Callable[[object, str, int | None], float]
    count: Callable[[Prompt, str, str], int | None] = lambda *_: None
    expects: Scale | None = None
    has_segments: bool = False
    only_whole: bool = True


_NUMBER: Mapping[str, object] = {"type": "number"}


def _enum(scale: Scale) -> Mapping[str, object]:
    return {"enum": [*range(scale.low, scale.high + 1)]}


def _plain(scale: Scale) -> Sheet:
    return Sheet(
        "the grade of each answer",
        lambda wording, _rubric: scale.text(wording),
        "…",
        # Local servers enforce the schema, so small models keep to the scale.
        lambda _rubric: _NUMBER if scale is HUNDRED else _enum(scale),
        lambda value, wording, _count: scale.read(value, wording),
        expects=None if scale is HUNDRED else scale,
    )


def _describe_likert(wording: str, rubric: Rubric) -> str:
    return (
        f"for each of the {len(rubric.criteria)} criteria, in their order, {THREE.text(wording)}; "
        f"then overall {FIVE.text(wording)}"
    )


def _likert_schema(rubric: Rubric) -> Mapping[str, object]:
    count = len(rubric.criteria)
    criteria = {"type": "array", "minItems": count, "maxItems": count, "items": _enum(THREE)}
    return object_schema({"criteria": criteria, "overall": _enum(FIVE)})


def _read_likert(value: object, wording: str, count: int | None) -> float:
    if not isinstance(value, dict) or value.keys() != {"criteria", "overall"}:
        raise BallotParseError(BallotFault.GRADE)
    _read_list(THREE, value["criteria"], wording, count)
    return FIVE.read(value["overall"], wording)


def _read_segments(value: object, wording: str, count: int | None) -> float:
    return fmean(_read_list(FIVE, value, wording, count))


def _read_list(scale: Scale, value: object, wording: str, count: int | None) -> list[float]:
    if not isinstance(value, list) or not value or count not in (None, len(value)):
        raise BallotParseError(BallotFault.GRADE)
    return [scale.read(one, wording) for one in value]


def number_paragraphs(text: str) -> str:
    """Return an answer with each of its paragraphs numbered, "[1 of 3]"; the last has the rest."""
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    first, rest = paragraphs[: _MAX_PARAGRAPHS - 1], paragraphs[_MAX_PARAGRAPHS - 1 :]
    parts = [*first, *(["\n".join(rest)] if rest else [])]
    return "\n\n".join(f"[{i} of {len(parts)}] {part}" for i, part in enumerate(parts, 1))


def _count_paragraphs(prompt: Prompt, letter: str, nonce: str) -> int:
    """Return how many paragraphs an answer has in the prompt; only its fence has the nonce."""
    start, end = f'<response label="{letter}" nonce="{nonce}">\n', f'\n</response nonce="{nonce}">'
    return len(prompt.user.partition(start)[2].partition(end)[0].split("\n\n"))


def _count_criteria(prompt: Prompt, _letter: str, _nonce: str) -> int | None:
    """Return how many criteria the form names, below the rubric; None if it names none."""
    counts = _CRITERIA_COUNT.findall(prompt.system)
    return int(counts[-1]) if counts else None


_LIKERT = Sheet(
    "the grades of each answer",
    _describe_likert,
    '{"criteria": […], "overall": …}',
    _likert_schema,
    _read_likert,
    _count_criteria,
    FIVE,
)
_SEGMENTS = Sheet(
    "one grade for each numbered paragraph of each answer, in their order",
    lambda wording, _rubric: FIVE.text(wording),
    "[…]",
    lambda _rubric: {"type": "array", "minItems": 1, "items": _enum(FIVE)},
    _read_segments,
    _count_paragraphs,
    FIVE,
    has_segments=True,
)


def draw_graded_slates(labels: LabelMap, onlookers: Sequence[str], seed: str) -> tuple[Slate, ...]:
    """Return the balanced slates; for half of the judges, by seed, low grades are good."""
    return alternate(draw_slates(labels, onlookers, seed), seed, (HIGH_IS_GOOD, LOW_IS_GOOD))


def _prompt(sheet: Sheet, question: Question, rubric: Rubric, ballot: BallotPrompt) -> Prompt:
    if sheet.has_segments:
        texts = {letter: number_paragraphs(text) for letter, text in ballot.texts.items()}
        ballot = replace(ballot, texts=texts)
    form = _FORM.format(
        what=sheet.what, scale=sheet.describe(ballot.wording, rubric), example=sheet.example
    )
    parts = question_parts(question, ballot.reader) + answer_parts(ballot)
    parts.append(
        f"Grade {', '.join(ballot.texts)}. Reply with the JSON object alone: nonce, reason, grades."
    )
    return Prompt(f"{judge_rules(rubric, 'Grade each of them')}\n{form}", "\n\n".join(parts))


def _schema(sheet: Sheet, letters: Sequence[str], nonce: str, rubric: Rubric) -> dict[str, object]:
    return object_schema(
        {
            "nonce": {"type": "string", "enum": [nonce]},
            "reason": {"type": "string"},
            "grades": object_schema(dict.fromkeys(letters, sheet.schema(rubric))),
        }
    )


def _cast(
    sheet: Sheet, slate: Slate, nonce: str, paper: BallotExchange, *, version: str = VERSION
) -> Ballot | SpoiledBallot:
    def read(given: Mapping[str, object]) -> Scores:
        counts = {letter: sheet.count(paper.prompt, letter, nonce) for letter in slate.letters}
        return tuple(
            (letter, sheet.read(given[letter], slate.wording, counts[letter]))
            for letter in slate.letters
        )

    def read_expected(given: Mapping[str, object]) -> Scores:
        plain = read(given)
        if sheet.only_whole and not _is_whole(given):
            raise BallotParseError(BallotFault.GRADE)
        # A number without an expectation is on no scale.
        with suppress(BallotParseError):
            if sheet.expects:
                return read(_expected(sheet.expects, given, paper.reply))
        return plain

    return cast_ballot(slate, nonce, paper, version=version, parse=partial(_parse, read_expected))


def _is_whole(value: object) -> bool:
    """Return whether there is no fraction among the numbers of a value."""
    if isinstance(value, Mapping):
        return all(map(_is_whole, value.values()))
    if isinstance(value, list):
        return all(map(_is_whole, value))
    return not isinstance(value, float) or value.is_integer()


def _parse(
    read: Callable[[Mapping[str, object]], Scores],
    text: str,
    nonce: str,
    letters: Sequence[str],
    version: str,
) -> ParsedBallot | BallotFault:
    try:
        reply = parse_signed_object(text, nonce, version)
        grades = read(_letters(reply, letters))
        return ParsedBallot(rank_by_grades(grades), read_reason(reply), grades)
    except BallotParseError as error:
        return error.fault


def _expected(scale: Scale, given: Mapping[str, object], reply: Reply) -> dict[str, object]:
    """Return grades with each number replaced by its expectation, NaN where that is unknown.

    The log-probabilities are those at which the number begins in the text, where the same numbers
    must follow each other.
    """
    text, logprobs = reply.text, dict(reply.logprobs)
    matches = _NUMBER_OR_TEXT.finditer(text, text.rfind(_GRADES) + len(_GRADES))
    numbers = ((match[1], logprobs.get(match.start(1), ())) for match in matches if match[1])
    return {letter: _expect(scale, value, numbers) for letter, value in given.items()}


def _expect(scale: Scale, value: object, numbers: Iterator[tuple[str, Scores]]) -> object:
    if isinstance(value, dict):
        return {
            key: _expect(THREE if key == "criteria" else scale, one, numbers)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_expect(scale, one, numbers) for one in value]
    number, logprobs = next(numbers, ("", ()))
    return scale.expectation(number, logprobs) if number == str(value) else nan


def _letters(reply: Mapping[str, object], letters: Sequence[str]) -> Mapping[str, object]:
    """Return what stands under each letter; raise BallotParseError unless it is exactly these."""
    if reply.keys() - {"nonce", "reason", "grades"}:
        raise BallotParseError(BallotFault.OTHER_KEY)
    given = reply.get("grades")
    if not isinstance(given, dict):
        raise BallotParseError(BallotFault.GRADE)
    by_letter = {str(key).strip().upper(): value for key, value in given.items()}
    if by_letter.keys() != {*letters} or len(by_letter) < len(given):
        raise BallotParseError(BallotFault.GRADE)
    return by_letter


def _method(variant: str, summary: str, sheet: Sheet) -> Method:
    first = Method(
        f"grading:{variant}" if variant else "grading",
        summary,
        draw_graded_slates,
        prompt=partial(_prompt, sheet),
        schema=partial(_schema, sheet),
        cast=partial(_cast, _as_first(sheet)),
        version=FIRST_VERSION,
    )
    return replace(
        first,
        cast=partial(_cast, sheet),
        top_logprobs=TOP_LOGPROBS if sheet.expects else None,
        version="2",
        earlier=(first,),
    )


def _as_first(sheet: Sheet) -> Sheet:
    """Return how version 1 reads: no expectations, fractions, any number of criteria."""
    sheet = replace(sheet, expects=None, only_whole=False)
    return sheet if sheet.has_segments else replace(sheet, count=lambda *_: None)


GRADING = _method("", "Every judge grades each answer from 1 to 5; ranks follow.", _plain(FIVE))
GRADING_BINARY = _method(
    "binary", "Every judge says of each answer whether it can be used.", _plain(BINARY)
)
GRADING_HUNDRED = _method("0-100", "Every judge grades each answer from 0 to 100.", _plain(HUNDRED))
GRADING_LIKERT = _method("likert", "Every judge grades each criterion, then the answer.", _LIKERT)
GRADING_SEGMENTS = _method(
    "segments", "Every judge grades each paragraph; their mean counts.", _SEGMENTS
)
