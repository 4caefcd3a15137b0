"""Where in a text the final answer stands: after "Answer:", else at its ends."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, prod
from unicodedata import normalize

import regex

from council.bakeoffs.models import Grading, Reference
from council.errors import SuiteError
from council.prompt_injection import visible

# --- Where in a text the final answer stands: after "Answer:", else at its ends.

MOST_MARKS = 20  # the last ones; nobody marks more, and some models never stop

# `**Answer:** 42` and "The answer to it is 42", but not "the answer is not 42".
_MARK = re.compile(
    r"^[^\w\n]*(?:(?:the|my|final|correct|short)[ \t]+)*answer[^\w\n]*$"
    r"|\banswer\b(?:[ \t]*\([^()\n]{0,40}\)|[ \t]+(?:to|for|here|in)\b[^.:=\n]{0,80}?)?"
    r"(?:[ \t]+(?:is|would be)\b(?![ \t]+not\b)[ \t]*[:=]?|[ \t]*[:=]|[ \t]+[–—-](?=[ \t]))",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_LINE = re.compile(r"\s*([^\n]{1,2500})")
_BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_TEXT = re.compile(r"\\(?:text|textbf|mathrm)\{([^{}]*)\}")
# Inside a word they mean something: 10**6, my__name.
_EMPHASIS = re.compile(r"(?<!\w)(?:\*\*|__)|(?:\*\*|__)(?!\w)|`|\$|\\[()\[\]]")
_LINE_SIGNS = re.compile(r"^[ \t]*(?:(?:#{1,6}|[*+-])[ \t]+|>[ \t]?)+", re.MULTILINE)


def plain(text: str) -> str:
    """Give a text without the marks of Markdown and LaTeX that carry no meaning here."""
    text = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _TEXT.sub(r"\1", _FRACTION.sub(r"\1/\2", text)).replace(r"\%", "%")
    return _LINE_SIGNS.sub("", _EMPHASIS.sub("", text))


def marked_answers(text: str) -> list[str]:
    """Give what a plain text marks as its answer, in order: the rest of the line, or the next.

    Boxed, as mathematics has it, goes before all else.
    """
    boxed = [box[1] for box in deque(_BOXED.finditer(text), MOST_MARKS)]
    marks = deque(_MARK.finditer(text), MOST_MARKS)
    after = (_NEXT_LINE.match(text, mark.end()) for mark in marks)
    answers = boxed or [line[1] for line in after if line]
    return [answer.strip() for answer in answers if answer.strip()]


def first_and_last_line(text: str) -> tuple[str, str]:
    """Give the first and the last line that is not empty; the same where there is one."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return (lines[0], lines[-1]) if lines else ("", "")


# --- Numbers as people and models write them, compared exactly or within a tolerance.

MOST_DIGITS = 400
_BIGGEST_BASE = 1_000
_GROUP = ",'’_ \u00a0\u202f\u2009"


def _power(name: str) -> str:
    return rf"\{{?(?P<{name}>[-+−]?[0-9]{{1,3}})\}}?"


_NUMBER = re.compile(
    rf"""
    (?<![\w.])
    (?P<sign>(?<![\w)\]])[-+−–])?
    [€£¥]?
    (?: (?P<whole> [0-9]{{1,3}}(?P<by>[{_GROUP}])[0-9]{{3}}(?:(?P=by)[0-9]{{3}})*(?![0-9])
                 | [0-9]{{1,3}}(?:\.[0-9]{{3}}){{2,}}(?![0-9])
                 | [0-9]{{1,3}}(?:\.[0-9]{{3}})+(?=,[0-9])
                 | [0-9]+ )
        (?P<part>[.,][0-9]+(?![.,]?[0-9]))?
      | (?P<bare>\.[0-9]+) )
    (?: [eE](?P<e>[-+−]?[0-9]{{1,3}})(?![0-9])
      | \s?[×x*·]\s?10\s?(?:\^|\*\*)\s?{_power("ten")}
      | \s?(?:\^|\*\*)\s?{_power("power")} )?
    (?: \s?/\s?(?P<below>[0-9]+)(?![0-9]|\s?/|[.,][0-9]) )?
    (?: \s?(?P<scale>thousand|million|billion|trillion)\b )?
    (?P<percent> \s?(?:%|percent\b|per\ cent\b) )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_LIST = re.compile(r"(?<![0-9.,])[0-9]+(?:,[0-9]+){2,}")  # 1,2,3
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+")
_EQUALS = re.compile(r"[=≈]")
_RAISED = re.compile(r"(?<=[0-9])[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_CURRENCY = re.compile(r"(?<=[A-Za-z])\$")  # of US$100
_LATEX = ((r"{,}", ","), (r"\,", ""), (r"\times", "×"), (r"\cdot", "×"), ("⁄", "/"))


@dataclass(frozen=True, slots=True)
class _Number:
    """A number, and whether it was written with a percent sign."""

    value: Fraction
    is_percent: bool


def is_number(text: str) -> bool:
    """Say whether a text is one number and nothing else."""
    seen = _seen(text).strip()
    found = _NUMBER.fullmatch(seen)
    return found is not None and _read(found) is not None


def numbers_agree(value: str, tolerance: float, text: str) -> bool:
    """Say whether a text ends in this number, give or take; one it marks as its answer goes first.

    Where only one of both has a percent sign, 25 % is 25 as well as 0.25.
    """
    right = _last(_seen(value))
    said = _answered(_seen(text)) if right else None
    if right is None or said is None:
        return False
    most = Fraction(str(tolerance))
    return any(abs(one - right.value) <= most for one in _readings(said, right))


def _readings(said: _Number, right: _Number) -> tuple[Fraction, ...]:
    if said.is_percent == right.is_percent:
        return (said.value,)
    return (said.value, said.value / 100 if said.is_percent else said.value * 100)


def _answered(text: str) -> _Number | None:
    """Give the number marked as the answer, behind the last = of its line; else the last one."""
    for marked in reversed(marked_answers(text)):
        behind = _EQUALS.split(marked)[-1]
        if found := next(_numbers(behind), None) or next(_numbers(marked), None):
            return found
    return _last(text)


def _last(text: str) -> _Number | None:
    found = reversed(list(_NUMBER.finditer(text)))
    return next(filter(None, map(_read, found)), None)


def _numbers(text: str) -> Iterator[_Number]:
    return filter(None, map(_read, _NUMBER.finditer(text)))


def _seen(text: str) -> str:
    """Give a text with one way of writing powers, fractions and signs."""
    seen = plain(_CURRENCY.sub(" ", text))
    for written, read in _LATEX:
        seen = seen.replace(written, read)
    seen = _LIST.sub(_parted, seen)
    return _RAISED.sub(lambda power: f"^{power[0].translate(_LOWERED)}", seen)


def _parted(found: re.Match[str]) -> str:
    numbers = found[0]
    return numbers if _THOUSANDS.fullmatch(numbers) else numbers.replace(",", ", ")


def _read(found: re.Match[str]) -> _Number | None:
    """Give what is written; None for what is too long, or divides by nothing."""
    if len(found[0]) > MOST_DIGITS or int(found["below"] or 1) == 0:
        return None
    whole, part = found["whole"] or "0", found["part"] or found["bare"] or ".0"
    digits = "".join(sign for sign in whole if sign.isdigit())
    value = Fraction(f"{digits}.{part[1:]}")
    if found["power"]:
        exponent = _exponent(found["power"])
        if value > _BIGGEST_BASE or (value == 0 and exponent < 0):
            return None
        value **= exponent
    value *= Fraction(10) ** _exponent(found["e"] or found["ten"] or "0")
    value *= 10 ** _SCALES.get((found["scale"] or "").lower(), 0)
    value /= int(found["below"] or 1)
    minus = (found["sign"] or "+") in "-−–"
    return _Number(-value if minus else value, bool(found["percent"]))


def _exponent(text: str) -> int:
    return int(text.replace("−", "-"))


# --- Regular expressions of people's own: searched for under a deadline, since some never end.

MOST_CHARACTERS = 500
MOST_REPEATS = 20_000  # each is a node in memory, half a kilobyte large
SECONDS = 0.1
_COUNT = re.compile(r"\{\s*([0-9]*)\s*(?:,\s*([0-9]*)\s*)?\}")


def fault_in_pattern(pattern: str) -> str:
    """Give what is wrong with a pattern; nothing where it can be used."""
    if len(pattern) > MOST_CHARACTERS:
        return f"it has {len(pattern):,} characters, and at most {MOST_CHARACTERS} are taken"
    if _repeats(pattern) > MOST_REPEATS:
        return f"its counts multiply to more than {MOST_REPEATS:,}: write + or * instead"
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        return str(error) or "it is too deep"
    return ""


def _repeats(pattern: str) -> int:
    """Give how often the innermost part of a pattern may be copied: a{9} is a nine times over."""
    counts = (max(int(least or 1), int(most or 1), 1) for least, most in _COUNT.findall(pattern))
    return prod(counts)


def matches(pattern: str, text: str) -> bool:
    """Say whether a pattern is found in a text; not, where that takes too long to say."""
    if fault_in_pattern(pattern):
        return False
    try:
        return regex.search(pattern, text, timeout=SECONDS) is not None
    except TimeoutError:
        return False


# --- References before they are used: what cannot be graded is refused, with what to do.

MAX_ANSWER_CHARACTERS = 2_000


def usual_grading(value: str) -> Grading:
    """Give how an answer is graded where nobody says: as a number, a single letter, or exactly."""
    if is_number(value):
        return Grading.NUMBER
    return Grading.CHOICE if _is_letter(value) else Grading.EXACT


def check_reference(reference: Reference) -> None:
    """Raise SuiteError for a reference that no answer could be held against."""
    value = reference.value
    if not value.strip():
        raise SuiteError("The answer is empty: write it, or leave out how it is graded.")
    if len(value) > MAX_ANSWER_CHARACTERS:
        raise SuiteError(
            f"The answer has {len(value):,} characters and at most "
            f"{MAX_ANSWER_CHARACTERS:,} can be "
            "graded: shorten it."
        )
    if not isfinite(reference.tolerance) or reference.tolerance < 0:
        raise SuiteError("The tolerance must be a number from 0 up, such as 0.5.")
    if reference.tolerance and reference.grading is not Grading.NUMBER:
        raise SuiteError("A tolerance goes with numbers only: leave it out, or grade as a number.")
    _check_kind(reference)


def _check_kind(reference: Reference) -> None:
    value = reference.value
    match reference.grading:
        case Grading.NUMBER if not is_number(value):
            raise SuiteError(
                f"{_short(value)} is no number: write it as 1234.5, or grade it as exact."
            )
        case Grading.CHOICE if not all(choice.strip() for choice in value.split("|")):
            raise SuiteError(
                f"{_short(value)} names an empty choice: write the right one first, as in "
                "'yes | no'."
            )
        case Grading.REGEX if fault := fault_in_pattern(value):
            raise SuiteError(f"{_short(value)} is no regular expression: {fault}.")
        case _:
            return


def _is_letter(value: str) -> bool:
    letter = value.strip()
    return len(letter) == 1 and "A" <= letter <= "Z"


def _short(value: str) -> str:
    return repr(value if len(value) <= 40 else f"{value[:39]}…")  # noqa: PLR2004


# --- Exact answers: the same words, whatever their case, spacing and the punctuation around them.

_AROUND = " \t\n.,;:!?…\"'“”‘’«»„`*_"  # not the signs of "C#", "-5" or "f()"
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def says(value: str, text: str) -> bool:
    """Say whether a text says exactly this: what it marks as its answer, else all, or its end."""
    seen = plain(text)
    marked = marked_answers(seen)
    said = marked[-1:] or [seen, first_and_last_line(seen)[1]]
    return bare(value) in {bare(words) for words in said}


def bare(words: str) -> str:
    """Give words without case, without punctuation around them, with single spaces inside."""
    folded = " ".join(normalize("NFKC", plain(words)).casefold().split())
    peeled = folded.strip(_AROUND)
    if len(peeled) > 1 and _BRACKETS.get(peeled[0]) == peeled[-1]:
        peeled = peeled[1:-1].strip(_AROUND)
    return peeled or folded


# --- Choices: the letter, or the word among several, that an answer ends up with.

_LETTERED = re.compile(r"\A\s*\(?([A-Za-z])(?:\)|[.:](?=\s|\Z)|\s*\Z)")
_OPPOSITES = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
# "A good answer" and "I think" choose nothing, nor does "X-rays".
_CAPITAL = (
    r"(?:[B-HJ-Z]|[AI](?=[ \t]*(?:\Z|\n|[).,:;/&\]–—-]|(?:because|since|as|and|or)\b)))"
    r"(?![\w'’]|-\w|\.\w)"
)
_SMALL = r"[a-z](?=[ \t]*(?:\Z|\n|[).:\]]))(?!\.\w)"
_LEAD = r"[\s\W_]*(?:(?:option|choice|letter|answer|it['’]s|is)\b[\s\W_]*)*"
_JOINED = r"[ \t]*(?:,[ \t]*(?:and|or)\b|,|/|&|\band\b|\bor\b)[ \t]*"


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one kind of choice is written: at the head of a line, by itself, and anywhere."""

    head: re.Pattern[str]
    single: re.Pattern[str]
    mention: re.Pattern[str]

    def at_head(self, line: str) -> set[str]:
        """Give the choices that a line begins with."""
        found = self.head.match(line)
        return {bare(one) for one in self.single.findall(found[1])} if found else set()

    def mentioned(self, text: str) -> set[str]:
        """Give the choices that a text names as such."""
        return {bare(found[found.lastindex or 0]) for found in self.mention.finditer(text)}


def chooses(value: str, text: str) -> bool:
    """Say whether a text ends up with a choice: "B", "B) Paris", or "yes | no | perhaps".

    Of several the first is right.
    """
    right, *others = [choice.strip() for choice in value.split("|")]
    seen = plain(text)
    letter = _LETTERED.match(right)
    if letter and not others:
        rest = right[letter.end() :].strip()
        chosen = _final(_LETTERS, seen)
        if chosen or not rest:
            return chosen == {letter[1].casefold()}
        right = rest
    right = bare(right)
    known = [bare(other) for other in others or filter(None, [_OPPOSITES.get(right)])]
    # Where the others are not known, a mention may be one of what is not chosen.
    return _final(_words(right, *known), seen, anywhere=bool(known)) == {right}


def _final(kind: _Kind, text: str, *, anywhere: bool = True) -> set[str]:
    """Give the choices that a text ends up with."""
    if marked := marked_answers(text):
        each = (kind.at_head(one) or (kind.mentioned(one) if anywhere else set()) for one in marked)
        return set[str]().union(*each)
    ends = set[str]().union(*map(kind.at_head, first_and_last_line(text)))
    return ends or (kind.mentioned(text) if anywhere else set())


def _words(*choices: str) -> _Kind:
    """Give choices that are words; longer ones go first, so that none hides in another."""
    ordered = sorted(map(re.escape, set(choices)), key=len, reverse=True)
    one = rf"(?<!\w)(?:{'|'.join(ordered)})(?!\w)"
    head = rf"\A{_LEAD}({one}(?:{_JOINED}{one})*)"
    single = re.compile(one, re.IGNORECASE)
    return _Kind(re.compile(head, re.IGNORECASE), single, single)


_ONE = rf"\(?(?:{_CAPITAL}|{_SMALL})\)?"
_LETTERS = _Kind(
    re.compile(rf"\A(?i:{_LEAD})({_ONE}(?:{_JOINED}{_ONE})*)"),
    re.compile(rf"(?<!\w)(?:{_CAPITAL}|{_SMALL})"),
    re.compile(r"\(([A-Z])\)|\b(?i:option|choice|answer|letter)[ \t]+\(?([A-Z])\b"),
)


# --- Grading: whether an answer is the one that is known to be right, without an LLM.

_BY_VALUE = {Grading.EXACT: says, Grading.CHOICE: chooses, Grading.REGEX: matches}


def graded(reference: Reference, text: str) -> bool:
    """Say whether an answer is right."""
    if reference.grading is Grading.NUMBER:
        return numbers_agree(reference.value, reference.tolerance, text)
    return _BY_VALUE[reference.grading](reference.value, text)
