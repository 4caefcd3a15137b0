"""Graders of plug-ins in suites: named in files and imports, refused and shown where missing."""

import pytest

from bot.bakeoffs.commands.bakeoffs import apply_methods
from bot.bakeoffs.lifecycle import begin_bakeoff, reopen_bakeoff
from bot.bakeoffs.render.suites import suite_post
from bot.bakeoffs.suite_files import (
    parse_suite_file,
    read_suite_file,
    suite_csv,
    suite_from_rows,
    suite_from_section,
)
from council.bakeoffs.models import Bakeoff, Reference, Suite, SuiteQuestion
from council.errors import SuiteError
from council.places import NOWHERE
from council.registry import NO_PLUGINS
from tests.bot.app_fakes import an_app
from tests.bot.rounds import words_of
from tests.builders import ASKED_AT, a_panel
from tests.registries import a_registry


class Syllables:
    def check(self, reference: str) -> None:
        if not reference.isdigit():
            raise SuiteError(f"{reference!r} is no number of syllables. Write it as 17.")

    def grade(self, answer: str, reference: str) -> float | None:
        return float(len(answer) == int(reference))


REGISTRY = a_registry(syllables=Syllables())
SUITE = Suite("haiku", (SuiteQuestion("A haiku?", "", Reference("syllables", "17")),))
ROW = {"question": "A haiku?", "answer": "17", "grading": "syllables"}
PROMPTFOO = b"prompts: [A haiku?]\ntests: [{assert: [{type: syllables, value: %s}]}]\n"


def test_a_suite_names_a_plug_ins_grader_in_every_form() -> None:
    csv = suite_csv(SUITE).encode()

    assert parse_suite_file("haiku", "haiku.csv", csv, registry=REGISTRY) == SUITE
    assert suite_from_rows("haiku", [ROW], REGISTRY) == SUITE
    assert suite_from_section("haiku", [ROW], registry=REGISTRY) == SUITE
    imported = read_suite_file("haiku", "haiku.yaml", PROMPTFOO % b"17", registry=REGISTRY)
    assert imported.suite == SUITE
    assert imported.left_out == ()


def test_a_reference_that_the_grader_refuses_is_named_with_its_place() -> None:
    with pytest.raises(SuiteError, match="Question 1: 'x' is no number of syllables"):
        suite_from_rows("haiku", [{**ROW, "answer": "x"}], REGISTRY)
    with pytest.raises(SuiteError, match="is no number of syllables"):
        read_suite_file("haiku", "haiku.yaml", PROMPTFOO % b"x", registry=REGISTRY)


def test_an_unknown_grader_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SuiteError, match="an unknown grading 'syllables'. Choose one of exact"):
        suite_from_rows("haiku", [ROW])
    with pytest.raises(SuiteError, match="'tanka'. Choose one of exact, .*, syllables"):
        suite_from_rows("haiku", [{**ROW, "grading": "tanka"}], REGISTRY)


async def test_a_run_with_a_missing_grader_is_refused_and_its_suite_is_shown() -> None:
    app, panel = an_app(), a_panel(3)
    bakeoff = Bakeoff("bo:a", SUITE, panel, NOWHERE, "u", ASKED_AT)

    assert apply_methods(SUITE, panel, [], REGISTRY) == (SUITE, panel)
    with pytest.raises(SuiteError, match="The grader 'syllables' is missing"):
        apply_methods(SUITE, panel, [], NO_PLUGINS)
    for begin in (begin_bakeoff(app, None, bakeoff), reopen_bakeoff(app, bakeoff)):
        with pytest.raises(SuiteError, match="The grader 'syllables' is missing"):
            await begin
    said = words_of(suite_post(SUITE, None, NO_PLUGINS))
    assert "Question 1 has no grade, shown as ?. The grader 'syllables' is missing here." in said
    assert "missing" not in words_of(suite_post(SUITE, None, REGISTRY))
