"""A suite written down: as JSON, and as CSV that reads back as the same suite."""

import csv
from io import StringIO
from typing import Any

from bot.suites.entries import COLUMNS
from council.bakeoffs.models import Suite, SuiteQuestion


def suite_document(suite: Suite) -> dict[str, Any]:
    """Give everything a suite holds, as JSON has it."""
    return {
        "name": suite.name,
        "version": suite.version,
        "judges_see_references": suite.judges_see_references,
        "questions": [fields_of(question) for question in suite.questions],
    }


def fields_of(question: SuiteQuestion) -> dict[str, str]:
    """Give what a question has, by column; what it has not is left out."""
    reference = question.reference
    tolerance = repr(reference.tolerance) if reference and reference.tolerance else ""
    fields = {
        "question": question.text,
        "category": question.category,
        "answer": reference.value if reference else "",
        "grading": reference.grading.value if reference else "",
        "tolerance": tolerance,
        "context": question.context,
    }
    return {name: text for name, text in fields.items() if text}


def as_csv(suite: Suite) -> str:
    """Give a suite as CSV with a header."""
    out = StringIO(newline="")
    rows = [fields_of(question) for question in suite.questions]
    used = [name for name in COLUMNS if any(name in row for row in rows)]
    writer = csv.DictWriter(out, used, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
