"""Sections of council.toml about bake-offs: suites, how they run, the time zone of schedules."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from bot.bakeoffs.schedule_parser import find_zone, suggest_zone
from bot.bakeoffs.suite_files import ReadingOptions, parse_suite_file, suite_from_section
from bot.settings.council_toml import Section, SettingsError, validation_faults
from council.bakeoffs.models import Suite
from council.errors import SuiteError
from council.registry import Registry


class BakeoffsSection(Section):
    """How bake-offs run."""

    rounds_at_once: int = Field(2, ge=1, le=50)


class SuiteSection(Section):
    """A suite for everybody: its questions, or the file that contains them."""

    questions: tuple[Any, ...] | None = None
    file: str | None = None
    category: str = ""
    judges_see_references: bool = False
    method: str = ""

    @model_validator(mode="after")
    def _check_one_source(self) -> Self:
        if (self.questions is None) == (self.file is None):
            raise ValueError('Write either questions = ["…"] or file = "….csv"')
        return self


def parse_suite(name: str, section: SuiteSection, folder: Path, registry: Registry) -> Suite:
    """Return the suite of a section; a relative file is resolved against `folder`.

    Raise SuiteError if the file cannot be read or a question is wrong.
    """
    if section.file is None:
        suite = suite_from_section(name, section.questions or (), section.category, registry)
    else:
        path = folder / section.file
        try:
            content = path.read_bytes()
        except OSError as error:
            raise SuiteError(
                f"The file {path} can't be read ({error.strerror}). Put it next to council.toml, "
                "or write its full path."
            ) from None
        options = ReadingOptions(section.category, folder=path.parent)
        suite = parse_suite_file(name, path.name, content, options, registry)
    are_references_shown = section.judges_see_references or suite.judges_see_references
    return replace(suite, judges_see_references=are_references_shown, method=section.method)


def parse_suites(value: object, folder: Path, registry: Registry) -> tuple[Suite, ...]:
    """Return the suites of the section [suites]; raise SettingsError with every fault."""
    if not isinstance(value, Mapping):
        raise SettingsError(["suites: it must be written as [suites.NAME]."])
    suites, faults = [], []
    for name, section in value.items():
        try:
            parsed = SuiteSection.model_validate(section)
            suites.append(parse_suite(name, parsed, folder, registry))
        except ValidationError as error:
            faults += validation_faults(error, f"suites.{name}.")
        except SuiteError as error:
            faults.append(f"suites.{name}: {error}")
    if faults:
        raise SettingsError(faults)
    return tuple(suites)


def parse_bakeoffs(value: object, *_: object) -> BakeoffsSection:
    """Return the section [bakeoffs]; raise SettingsError with every fault."""
    try:
        return BakeoffsSection.model_validate(value)
    except ValidationError as error:
        raise SettingsError(validation_faults(error, "bakeoffs.")) from None


def parse_time_zone(value: object, *_: object) -> str:
    """Return the time zone of schedules that name none; raise SettingsError if there is none."""
    zone = find_zone(value) if isinstance(value, str) else None
    if zone is None:
        nearest = suggest_zone(str(value)) or "Europe/Budapest"
        raise SettingsError(
            [f"time_zone: there is no time zone {value!r}; write it as in {nearest!r}."]
        )
    return zone
