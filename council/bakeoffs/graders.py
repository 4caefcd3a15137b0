"""Graders in code: compare an answer with a known reference, without an LLM.

A plug-in's grader is a `Grader`; suites name it in the column `grading`.
"""

import json
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isfinite, prod
from typing import NamedTuple, NoReturn, Protocol, runtime_checkable
from unicodedata import normalize

import regex

from council.bakeoffs.models import Grading, Reference, Suite
from council.confusables import remove_invisible
from council.errors import PanelError, SuiteError
from council.registry import NO_PLUGINS, Registry

BUILT_IN = frozenset[str](Grading)
MAX_ANSWER_CHARACTERS = 2_000
MAX_OTHERS = 100
ANY_JSON = "any"  # a reference that every valid JSON matches
_GSM8K = re.compile(r"(?:\A|\n)[ \t]*####[ \t]*([^\n]+?)\s*\Z")
_CHECKS = re.compile(r"[0-9]{1,4} of [0-9]{1,4}")


@runtime_checkable
class Grader(Protocol):
    """What a plug-in grades answers with; `reference` is the suite's column `answer`."""

    def check(self, reference: str) -> None:
        """Raise SuiteError, which says what to write, if no answer could be graded by it."""

    def grade(self, answer: str, reference: str) -> float | None:
        """Return how right an answer is, 0 to 1; None if that can't be told. Only 1 is right."""


def find_grader(name: str, registry: Registry) -> Grader:
    """Return a plug-in's grader; raise SuiteError for one that is missing or broken."""
    part = registry.graders.get(name)
    if part is None:
        raise SuiteError(
            f"The grader {name!r} is missing here. {registry.missing_part('graders', name)}Enable "
            "the plug-in that has it."
        )
    try:
        found: Grader = part.load(Grader)
    except PanelError as error:
        raise SuiteError(f"The grader {name!r} is missing here. {error}") from error
    return found


def missing_grader(reference: Reference | None, registry: Registry) -> str:
    """Return a sentence about a reference's grader, if a plug-in should have it and none has."""
    if reference is None or reference.grading in BUILT_IN:
        return ""
    try:
        find_grader(reference.grading, registry)
    except SuiteError as error:
        return str(error)
    return ""


def check_graders(suite: Suite, registry: Registry) -> None:
    """Raise SuiteError for a suite with a question whose grader is missing."""
    for question in suite.questions:
        if why := missing_grader(question.reference, registry):
            raise SuiteError(f"Suite {suite.name} can't be run. {why}")


def grade(reference: Reference | None, text: str, registry: Registry = NO_PLUGINS) -> float | None:
    """Return how right an answer is, 0 to 1; None if judges grade it, or if the grader fails.

    None also if the grader is missing. Only 1 is right.
    """
    if reference is None or reference.grading in {Grading.JUDGE, Grading.MISSING}:
        return None
    try:
        if reference.grading in BUILT_IN:
            return float(is_correct(reference, text))
        share = find_grader(reference.grading, registry).grade(text, reference.closest(text))
        return float(share) if share is not None and 0 <= share <= 1 else None
    # One answer that a grader can't take must not cost the round its other numbers.
    except Exception:  # noqa: BLE001
        return None


def is_correct(reference: Reference, text: str) -> bool:
    """Return whether an answer is right by a built-in grader. Raise if it fits no answer."""
    graders: dict[str, Callable[[str, str], bool]] = {
        Grading.NUMBER: lambda value, given: matches_number(value, reference.tolerance, given),
        Grading.EXACT: matches_exactly,
        Grading.CHOICE: matches_choice,
        Grading.REGEX: matches_pattern,
        Grading.CONTAINS: contains_text,
        Grading.JSON: matches_json,
    }
    matches = graders[reference.grading]
    return any(matches(value, text) for value in reference.values)


def final_answer(reference: Reference, text: str) -> str:
    """Return what an answer says in the end, alike for answers that say the same; "" if nothing.

    A number, the choices, else its marked answer or last line. The right answer plays no part but
    for the choices that it names.
    """
    if reference.grading == Grading.NUMBER:
        found = _final_number(_normalize_numbers(text))
        return f"{found.value}{'%' * found.is_percent}" if found else ""
    if reference.grading == Grading.CHOICE:
        return " ".join(sorted(_choices(reference.value, text)[0]))
    plain_text = strip_markup(text)
    marked = marked_answers(plain_text)
    return normalize_words(marked[-1] if marked else first_and_last_line(plain_text)[1])


def default_grading(value: str) -> Grading:
    """Return the default grading of a reference: number, single letter (choice) or exact."""
    if is_number(value):
        return Grading.NUMBER
    return Grading.CHOICE if re.fullmatch(r"\s*[A-Z]\s*", value) else Grading.EXACT


def default_reference(value: str) -> Reference:
    """Return a reference with its default grading; a solution of GSM8K ends in "#### 72"."""
    value = final_number(value) or value
    return Reference(default_grading(value), value)


def final_number(solution: str) -> str:
    """Return the number after the "####" that a solution of GSM8K ends in; "" if it does not."""
    match = _GSM8K.search(solution)
    return match[1] if match and is_number(match[1]) else ""


def check_reference(reference: Reference, registry: Registry = NO_PLUGINS) -> None:
    """Raise SuiteError if no answer could be graded against this reference, or nobody could."""
    if reference.others and reference.grading in {Grading.JUDGE, Grading.MISSING}:
        raise SuiteError("A rubric has no other answers. Write them into it.")
    if len(reference.others) > MAX_OTHERS:
        raise SuiteError(f"There are more than {MAX_OTHERS} other answers. Keep the usual ones.")
    for value in reference.values:
        _check_length(value)
    if not isfinite(reference.tolerance) or reference.tolerance < 0:
        raise SuiteError("The tolerance must be 0 or more, such as 0.5.")
    if reference.tolerance and reference.grading != Grading.NUMBER:
        raise SuiteError("Only numbers have a tolerance. Leave it out, or grade as a number.")
    if reference.checks and not _CHECKS.fullmatch(reference.checks):
        raise SuiteError(f"{_shorten(reference.checks)} are no checks. Write them as in '2 of 5'.")
    for value in reference.values:
        if reference.grading in BUILT_IN:
            _check_value(reference.grading, value)
        else:
            find_grader(reference.grading, registry).check(value)


def _check_length(value: str) -> None:
    if not value.strip():
        raise SuiteError("The answer is empty. Write it, or leave out how it is graded.")
    if len(value) > MAX_ANSWER_CHARACTERS:
        raise SuiteError(
            f"The answer has {len(value):,} characters; the limit is {MAX_ANSWER_CHARACTERS:,}. "
            "Shorten it."
        )


def _check_value(grading: str, value: str) -> None:
    """Raise SuiteError if a built-in grader could grade no answer against this value."""
    match grading:
        case Grading.NUMBER if not is_number(value):
            raise SuiteError(
                f"{_shorten(value)} is not a number. Write it as 1234.5, or grade it as exact."
            )
        case Grading.CHOICE if not all(choice.strip() for choice in value.split("|")):
            raise SuiteError(
                f"{_shorten(value)} has an empty choice. Write the right one first, as in 'yes | "
                "no'."
            )
        case Grading.REGEX if fault := pattern_error(value):
            raise SuiteError(f"{_shorten(value)} is not a valid regular expression: {fault}.")
        case Grading.JSON if value != ANY_JSON and not is_json(value):
            raise SuiteError(
                f"{_shorten(value)} is not valid JSON. Write it in double quotes, as in "
                f'{{"a": 1}}, or {ANY_JSON!r} for any valid JSON.'
            )
        case _:
            return


def _shorten(value: str) -> str:
    return repr(value if len(value) <= 40 else f"{value[:39]}…")  # noqa: PLR2004


# --- Markup and marked answers

MAX_MARKS = 20  # only the last ones are read: some models repeat themselves endlessly

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
_LATEX_TEXT = re.compile(r"\\(?:text|textbf|mathrm)\{([^{}]*)\}")
# Inside a word they have a meaning: 10**6, my__name.
_EMPHASIS = re.compile(r"(?<!\w)(?:\*\*|__)|(?:\*\*|__)(?!\w)|`|\$|\\[()\[\]]")
_LINE_MARKUP = re.compile(r"^[ \t]*(?:(?:#{1,6}|[*+-])[ \t]+|>[ \t]?)+", re.MULTILINE)


def strip_markup(text: str) -> str:
    """Return a text without the Markdown and LaTeX markup that does not affect its meaning."""
    text = remove_invisible(text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _LATEX_TEXT.sub(r"\1", _FRACTION.sub(r"\1/\2", text)).replace(r"\%", "%")
    return _LINE_MARKUP.sub("", _EMPHASIS.sub("", text))


def marked_answers(text: str) -> list[str]:
    """Return the LaTeX boxes of a plain text or, without any, what follows its marks "Answer:"."""
    boxed = [box[1] for box in deque(_BOXED.finditer(text), MAX_MARKS)]
    marks = deque(_MARK.finditer(text), MAX_MARKS)
    after = (_NEXT_LINE.match(text, mark.end()) for mark in marks)
    answers = boxed or [line[1] for line in after if line]
    return [answer.strip() for answer in answers if answer.strip()]


def first_and_last_line(text: str) -> tuple[str, str]:
    """Return the first and last non-empty lines, which may be the same; "" if there is none."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return (lines[0], lines[-1]) if lines else ("", "")


# --- Exact answers

_PUNCTUATION = " \t\n.,;:!?…\"'“”‘’«»„`*_"  # without the signs of "C#", "-5" or "f()"
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def matches_exactly(value: str, text: str) -> bool:
    """Return whether a text says exactly this value.

    Compared are its marked answer or, if it has none, the whole text and its last line. Case,
    spacing and the punctuation around them do not count.
    """
    plain_text = strip_markup(text)
    marked = marked_answers(plain_text)
    candidates = marked[-1:] or [plain_text, first_and_last_line(plain_text)[1]]
    return normalize_words(value) in {normalize_words(candidate) for candidate in candidates}


def normalize_words(words: str) -> str:
    """Return words in lower case, without punctuation around them, separated by single spaces."""
    folded = " ".join(normalize("NFKC", strip_markup(words)).casefold().split())
    stripped = folded.strip(_PUNCTUATION)
    if len(stripped) > 1 and _BRACKETS.get(stripped[0]) == stripped[-1]:
        stripped = stripped[1:-1].strip(_PUNCTUATION)
    return stripped or folded


# --- Choices

_LETTERED = re.compile(r"\A\s*\(?([A-Za-z])(?:\)|[.:](?=\s|\Z)|\s*\Z)")
_OPPOSITES = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
# "A good answer", "I think" and "X-rays" choose nothing.
_CAPITAL = (
    r"(?:[B-HJ-Z]|[AI](?=[ \t]*(?:\Z|\n|[).,:;/&\]–—-]|(?:because|since|as|and|or)\b)))"
    r"(?![\w'’]|-\w|\.\w)"
)
_SMALL = r"[a-z](?=[ \t]*(?:\Z|\n|[).:\]]))(?!\.\w)"
_LEAD = r"[\s\W_]*(?:(?:option|choice|letter|answer|it['’]s|is)\b[\s\W_]*)*"
_JOINED = r"[ \t]*(?:,[ \t]*(?:and|or)\b|,|/|&|\band\b|\bor\b)[ \t]*"


@dataclass(frozen=True, slots=True)
class _ChoicePatterns:
    """Patterns for one kind of choice: at the start of a line, by itself, and anywhere."""

    head: re.Pattern[str]
    single: re.Pattern[str]
    mention: re.Pattern[str]

    def at_head(self, line: str) -> set[str]:
        """Return the choices that a line begins with."""
        match = self.head.match(line)
        choices = self.single.findall(match[1]) if match else []
        return {normalize_words(choice) for choice in choices}

    def mentioned(self, text: str) -> set[str]:
        """Return the choices that a text mentions."""
        return {
            normalize_words(match[match.lastindex or 0]) for match in self.mention.finditer(text)
        }


def matches_choice(value: str, text: str) -> bool:
    """Return whether a text chooses "B", "B) Paris", or the first of "yes | no | perhaps"."""
    chosen, right = _choices(value, text)
    return chosen == {right}


def _choices(value: str, text: str) -> tuple[set[str], str]:
    """Return what a text chooses, and what would be right."""
    right, *others = [choice.strip() for choice in value.split("|")]
    plain_text = strip_markup(text)
    letter = _LETTERED.match(right)
    if letter and not others:
        words = right[letter.end() :].strip()
        chosen = _final_choices(_LETTER_PATTERNS, plain_text)
        if chosen or not words:
            return chosen, letter[1].casefold()
        right = words
    right = normalize_words(right)
    alternatives = [
        normalize_words(other) for other in others or filter(None, [_OPPOSITES.get(right)])
    ]
    # If the alternatives are unknown, a mention may be of a choice that is rejected.
    patterns = _word_patterns(right, *alternatives)
    return _final_choices(patterns, plain_text, anywhere=bool(alternatives)), right


def _final_choices(patterns: _ChoicePatterns, text: str, *, anywhere: bool = True) -> set[str]:
    if marked := marked_answers(text):
        chosen_by_mark = (
            patterns.at_head(answer) or (patterns.mentioned(answer) if anywhere else set())
            for answer in marked
        )
        return set[str]().union(*chosen_by_mark)
    at_ends = set[str]().union(*map(patterns.at_head, first_and_last_line(text)))
    return at_ends or (patterns.mentioned(text) if anywhere else set())


def _word_patterns(*choices: str) -> _ChoicePatterns:
    """Return patterns for choices that are words; longer ones come first, so none is hidden."""
    ordered = sorted(map(re.escape, set(choices)), key=len, reverse=True)
    any_choice = rf"(?<!\w)(?:{'|'.join(ordered)})(?!\w)"
    head = rf"\A{_LEAD}({any_choice}(?:{_JOINED}{any_choice})*)"
    single = re.compile(any_choice, re.IGNORECASE)
    return _ChoicePatterns(re.compile(head, re.IGNORECASE), single, single)


_ONE = rf"\(?(?:{_CAPITAL}|{_SMALL})\)?"
_LETTER_PATTERNS = _ChoicePatterns(
    re.compile(rf"\A(?i:{_LEAD})({_ONE}(?:{_JOINED}{_ONE})*)"),
    re.compile(rf"(?<!\w)(?:{_CAPITAL}|{_SMALL})"),
    re.compile(r"\(([A-Z])\)|\b(?i:option|choice|answer|letter)[ \t]+\(?([A-Z])\b"),
)


# --- Numbers

MAX_DIGITS = 400
_MAX_BASE = 1_000
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
_SUPERSCRIPT = re.compile(r"(?<=[0-9])[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_FROM_SUPERSCRIPT = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_CURRENCY = re.compile(r"(?<=[A-Za-z])\$")  # of US$100
_LATEX = ((r"{,}", ","), (r"\,", ""), (r"\times", "×"), (r"\cdot", "×"), ("⁄", "/"))


class _Number(NamedTuple):
    """A number, and whether it was written with a percent sign."""

    value: Fraction
    is_percent: bool


@lru_cache(maxsize=64)  # a reference is checked several times in a row
def is_number(text: str) -> bool:
    """Return whether a text is one number and nothing else."""
    match = _NUMBER.fullmatch(_normalize_numbers(text).strip())
    return match is not None and _parse_number(match) is not None


def matches_number(value: str, tolerance: float, text: str) -> bool:
    """Return whether the final number of a text is this value, within the tolerance.

    A number marked as the answer takes precedence. If only one of the two has a percent sign, 25 %
    equals both 25 and 0.25.
    """
    expected = _last_number(_normalize_numbers(value))
    given = _final_number(_normalize_numbers(text)) if expected else None
    if expected is None or given is None:
        return False
    readings = [given.value]
    if given.is_percent != expected.is_percent:
        readings.append(given.value / 100 if given.is_percent else given.value * 100)
    return any(abs(reading - expected.value) <= Fraction(str(tolerance)) for reading in readings)


def _final_number(text: str) -> _Number | None:
    """Return the number marked as the answer, after the last = of its line; else the last one."""
    for marked in reversed(marked_answers(text)):
        after_equals = _EQUALS.split(marked)[-1]
        if found := _numbers(after_equals) or _numbers(marked):
            return found[0]
    return _last_number(text)


def _last_number(text: str) -> _Number | None:
    matches = reversed(list(_NUMBER.finditer(text)))
    return next(filter(None, map(_parse_number, matches)), None)


def _numbers(text: str) -> list[_Number]:
    return [*filter(None, map(_parse_number, _NUMBER.finditer(text)))]


def _normalize_numbers(text: str) -> str:
    normalized = strip_markup(_CURRENCY.sub(" ", text))
    for written, read in _LATEX:
        normalized = normalized.replace(written, read)
    normalized = _LIST.sub(
        lambda match: match[0] if _THOUSANDS.fullmatch(match[0]) else match[0].replace(",", ", "),
        normalized,
    )
    return _SUPERSCRIPT.sub(lambda power: f"^{power[0].translate(_FROM_SUPERSCRIPT)}", normalized)


def _parse_number(match: re.Match[str]) -> _Number | None:
    """Return the value of a match; None if it is too long or divides by zero."""
    if len(match[0]) > MAX_DIGITS or int(match["below"] or 1) == 0:
        return None
    whole, fraction = match["whole"] or "0", match["part"] or match["bare"] or ".0"
    digits = "".join(sign for sign in whole if sign.isdigit())
    value = Fraction(f"{digits}.{fraction[1:]}")
    if match["power"]:
        exponent = _exponent(match["power"])
        if value > _MAX_BASE or (value == 0 and exponent < 0):
            return None
        value **= exponent
    if power := match["e"] or match["ten"]:
        value *= Fraction(10) ** _exponent(power)
    if match["scale"]:
        value *= 10 ** _SCALES[match["scale"].lower()]
    if match["below"]:
        value /= int(match["below"])
    minus = (match["sign"] or "+") in "-−–"
    return _Number(-value if minus else value, bool(match["percent"]))


def _exponent(text: str) -> int:
    return int(text.replace("−", "-"))


# --- Regular expressions

MAX_PATTERN_CHARACTERS = 500
MAX_PATTERN_REPEATS = 20_000  # each is a node in memory of half a kilobyte
PATTERN_TIMEOUT_SECONDS = 0.1
_COUNT = re.compile(r"\{\s*([0-9]*)\s*(?:,\s*([0-9]*)\s*)?\}")


@lru_cache(maxsize=64)  # a pattern is checked several times in a row
def pattern_error(pattern: str) -> str:
    """Return what is wrong with a pattern; "" if it can be used."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        return f"it has {len(pattern):,} characters; the limit is {MAX_PATTERN_CHARACTERS}"
    if _repeat_count(pattern) > MAX_PATTERN_REPEATS:
        return f"its counts multiply to more than {MAX_PATTERN_REPEATS:,}; write + or * instead"
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        return str(error) or "it is nested too deeply"
    return ""


def _repeat_count(pattern: str) -> int:
    """Return how often the innermost part of a pattern may be copied: nine times in a{9}."""
    return prod(max(int(low or 1), int(high or 1), 1) for low, high in _COUNT.findall(pattern))


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether a pattern is found; False if it is invalid or the search times out."""
    if pattern_error(pattern):
        return False
    try:
        return regex.search(pattern, text, timeout=PATTERN_TIMEOUT_SECONDS) is not None
    except TimeoutError:
        return False


# --- Texts that occur in the answer


def contains_text(value: str, text: str) -> bool:
    """Return whether a value occurs in a text or in its plain form; case counts, spacing not."""
    wanted = " ".join(value.split())
    return any(wanted in " ".join(form.split()) for form in (text, strip_markup(text)))


# --- JSON

_FENCED = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)


def is_json(text: str) -> bool:
    """Return whether a text is one valid JSON value; NaN and Infinity are none."""
    try:
        _load_json(text)
    except (ValueError, ArithmeticError, RecursionError):
        return False
    return True


def matches_json(value: str, text: str) -> bool:
    """Return whether a text is JSON equal to a value, or any JSON for the value "any".

    Compared is the text's last fenced block, or the whole text if it has none. The order of keys,
    spacing and the way a number is written do not count. Raise ValueError if the value
    is not JSON.
    """
    wanted = None if value == ANY_JSON else _load_json(value)
    blocks = deque(_FENCED.finditer(text.replace("\r\n", "\n")), 1)
    given = blocks[0][2] if blocks else text
    return is_json(given) and (value == ANY_JSON or _load_json(given) == wanted)


def _load_json(text: str) -> object:
    """Return JSON with its numbers as pairs, so that 1 equals 1.0 but not true."""
    return json.loads(
        text, parse_int=_json_number, parse_float=_json_number, parse_constant=_refuse_constant
    )


def _json_number(digits: str) -> tuple[str, Decimal]:
    return ("number", Decimal(digits))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")
