"""The shape of `[suites.NAME]` in `council.toml`, and the suite it makes."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from bot.settings.council_toml import Part
from bot.suites.reading import in_category, read_file, suite_of
from council.bakeoffs.models import Suite
from council.errors import SuiteError


class SuiteSection(Part):
    """A suite of the house: its questions, or the file that holds them."""

    questions: tuple[Any, ...] | None = None
    file: str | None = None
    category: str = ""
    judges_see_references: bool = False

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if (self.questions is None) == (self.file is None):
            raise ValueError('Write either questions = ["…"] or file = "….csv"')
        return self


def suite_from(name: str, section: SuiteSection, folder: Path) -> Suite:
    """Give the suite of a section; its file is looked for beside `council.toml`. SuiteError."""
    if section.file is None:
        suite = suite_of(name, section.questions or (), section.category)
    else:
        suite = in_category(read_file(name, *_file(folder / section.file)), section.category)
    seen = section.judges_see_references or suite.judges_see_references
    return replace(suite, judges_see_references=seen)


def _file(path: Path) -> tuple[str, bytes]:
    try:
        return path.name, path.read_bytes()
    except OSError as error:
        raise SuiteError(
            f"The file {path} cannot be read ({error.strerror}): name one beside council.toml, or "
            "with its whole path."
        ) from None
