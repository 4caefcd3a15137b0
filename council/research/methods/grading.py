"""Grading: every judge grades each answer on a scale, and ranks follow from the grades.

Half of the judges give the best answer the highest number, the others the lowest; stored grades
are on one scale, the best highest.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from council.answers import Prompt
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
from council.labels import LabelMap, Slate, draw_slates
from council.methods import Method
from council.panel import Rubric
from council.prompts.ballot import BallotPrompt, answer_parts, judge_rules, question_parts
from council.research.methods.worst_first import alternate
from council.rounds import Question

HIGH_IS_GOOD, LOW_IS_GOOD = "high is good", "low is good"
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


def _scale(low: int, high: int) -> Scale:
    return Scale(
        *(low, high),
        f"a whole number from {low} (worst) to {high} (best)",
        f"a whole number from {low} (best) to {high} (worst)",
    )


FIVE, HUNDRED, THREE = _scale(1, 5), _scale(0, 100), _scale(1, 3)
BINARY = Scale(
    *(0, 1),
    "1 if the asker can use it as it is, else 0",
    "1 if the asker cannot use it as it is, else 0",
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """How one kind of grading asks and reads: what is graded, its scale, the form of an answer.

    `describe` takes wording and rubric. `schema` is of one answer's grades. `read`
    takes what stands under a letter, the wording and how many grades there must be.
    """

    what: str
    describe: Callable[[str, Rubric], str]
    example: str
    schema: Mapping[str, object]
    read: Callable[[object, str, int], float]
    has_segments: bool = False


_NUMBER: Mapping[str, object] = {"type": "number"}


def _plain(scale: Scale) -> Sheet:
    return Sheet(
        "the grade of each answer",
        lambda wording, _rubric: scale.text(wording),
        "…",
        # Local servers enforce the schema, so small models keep to the scale.
        _NUMBER if scale is HUNDRED else {"enum": [*range(scale.low, scale.high + 1)]},
        lambda value, wording, _count: scale.read(value, wording),
    )


def _describe_likert(wording: str, rubric: Rubric) -> str:
    return (
        f"for each of the {len(rubric.criteria)} criteria, in their order, {THREE.text(wording)}; "
        f"then overall {FIVE.text(wording)}"
    )


def _read_likert(value: object, wording: str, _count: int) -> float:
    if not isinstance(value, dict) or value.keys() != {"criteria", "overall"}:
        raise BallotParseError(BallotFault.GRADE)
    for one in _list(value["criteria"]):
        THREE.read(one, wording)
    return FIVE.read(value["overall"], wording)


def _read_segments(value: object, wording: str, count: int) -> float:
    grades = [FIVE.read(one, wording) for one in _list(value)]
    if len(grades) != count:
        raise BallotParseError(BallotFault.GRADE)
    return fmean(grades)


def _list(value: object) -> list[object]:
    if not isinstance(value, list) or not value:
        raise BallotParseError(BallotFault.GRADE)
    return value


_LIKERT = Sheet(
    "the grades of each answer",
    _describe_likert,
    '{"criteria": […], "overall": …}',
    {
        "type": "object",
        "properties": {
            "criteria": {"type": "array", "minItems": 1, "items": {"enum": [1, 2, 3]}},
            "overall": {"enum": [1, 2, 3, 4, 5]},
        },
        "required": ["criteria", "overall"],
        "additionalProperties": False,
    },
    _read_likert,
)
_SEGMENTS = Sheet(
    "one grade for each numbered paragraph of each answer, in their order",
    lambda wording, _rubric: FIVE.text(wording),
    "[…]",
    {"type": "array", "minItems": 1, "items": {"enum": [1, 2, 3, 4, 5]}},
    _read_segments,
    has_segments=True,
)


def number_paragraphs(text: str) -> str:
    """Return an answer with each of its paragraphs numbered, from [1]."""
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    return "\n\n".join(f"[{i}] {part}" for i, part in enumerate(paragraphs, 1))


def _count_paragraphs(prompt: Prompt, letter: str, nonce: str) -> int:
    """Return how many paragraphs an answer has in the prompt; only its fence has the nonce."""
    start, end = f'<response label="{letter}" nonce="{nonce}">\n', f'\n</response nonce="{nonce}">'
    return len(prompt.user.partition(start)[2].partition(end)[0].split("\n\n"))


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


def _schema(sheet: Sheet, letters: Sequence[str], nonce: str) -> dict[str, object]:
    grades = {
        "type": "object",
        "properties": dict.fromkeys(letters, sheet.schema),
        "required": [*letters],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "nonce": {"type": "string", "enum": [nonce]},
            "reason": {"type": "string"},
            "grades": grades,
        },
        "required": ["nonce", "reason", "grades"],
        "additionalProperties": False,
    }


def _cast(
    sheet: Sheet, slate: Slate, nonce: str, paper: BallotExchange, *, version: str = VERSION
) -> Ballot | SpoiledBallot:
    def read(value: object, letter: str) -> float:
        count = _count_paragraphs(paper.prompt, letter, nonce) if sheet.has_segments else 1
        return sheet.read(value, slate.wording, count)

    return cast_ballot(slate, nonce, paper, version=version, parse=partial(_parse, read))


def _parse(
    read: Callable[[object, str], float],
    text: str,
    nonce: str,
    letters: Sequence[str],
    version: str,
) -> ParsedBallot | BallotFault:
    try:
        found = parse_signed_object(text, nonce, version)
        given = _letters(found, letters)
        grades = tuple((letter, read(given[letter], letter)) for letter in letters)
        return ParsedBallot(rank_by_grades(grades), read_reason(found), grades)
    except BallotParseError as error:
        return error.fault


def _letters(found: Mapping[str, object], letters: Sequence[str]) -> Mapping[str, object]:
    """Return what stands under each letter; raise BallotParseError unless it is exactly these."""
    if found.keys() - {"nonce", "reason", "grades"}:
        raise BallotParseError(BallotFault.OTHER_KEY)
    given = found.get("grades")
    if not isinstance(given, dict):
        raise BallotParseError(BallotFault.GRADE)
    by_letter = {str(key).strip().upper(): value for key, value in given.items()}
    if by_letter.keys() != {*letters} or len(by_letter) < len(given):
        raise BallotParseError(BallotFault.GRADE)
    return by_letter


def _method(variant: str, summary: str, sheet: Sheet) -> Method:
    return Method(
        f"grading:{variant}" if variant else "grading",
        summary,
        draw_graded_slates,
        prompt=partial(_prompt, sheet),
        schema=partial(_schema, sheet),
        cast=partial(_cast, sheet),
    )


GRADING = (
    _method("", "Every judge grades each answer from 1 to 5; ranks follow.", _plain(FIVE)),
    _method("binary", "Every judge says of each answer whether it can be used.", _plain(BINARY)),
    _method("0-100", "Every judge grades each answer from 0 to 100.", _plain(HUNDRED)),
    _method("likert", "Every judge grades each criterion, then the answer.", _LIKERT),
    _method("segments", "Every judge grades each paragraph; their mean counts.", _SEGMENTS),
)
