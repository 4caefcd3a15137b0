"""Where in a text the final answer stands: after "Answer:", else at its ends."""

import re
from collections import deque

from council.imitations import visible

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
