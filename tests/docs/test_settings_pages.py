"""The pages of settings name every field with its default."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel
from pydantic_core import PydanticUndefined

from bot.bakeoffs.settings import BakeoffsSection, SuiteSection
from bot.settings.council_toml import (
    PLUGIN_SECTIONS,
    SECTIONS,
    AccessSection,
    BudgetsSection,
    ChannelSection,
    ModelSection,
    PanelSection,
    PluginsSection,
    ProviderSection,
    RetentionSection,
    RubricSection,
)
from bot.settings.environment import API_KEY_VARIABLES, Settings
from council.methods import METHODS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/council_toml.md").read_text(encoding="utf-8")
VARIABLES = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
ROW = re.compile(r"^\|(.*?`.*?)\|(.*?)\|.*\|$", re.MULTILINE)
NOTHING = "–"
# The models of the tables below each heading.
TABLES: dict[str, tuple[type[BaseModel], ...]] = {
    "[panels.NAME]": (PanelSection,),
    '[models."ID"]': (ModelSection,),
    "[providers.NAME]": (ProviderSection,),
    "[budgets]": (BudgetsSection,),
    "[access]": (AccessSection, ChannelSection),
}
OTHERS: dict[str, type[BaseModel]] = {
    "rubrics.NAME": RubricSection,
    "retention": RetentionSection,
    "plugins": PluginsSection,
    "bakeoffs": BakeoffsSection,
    "suites.NAME": SuiteSection,
}
# Named in the text of [access], since they are tables themselves.
SUBTABLES = {"in", "workspaces"}


def read_rows(page: str) -> dict[str, str]:
    """Return the second cell of each row of the tables in a text, by the names in the first."""
    return {
        name: default.strip(" `")
        for names, default in ROW.findall(page)
        for name in re.findall(r"`([^`]+)`", names)
    }


def below(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def defaults_of(model: type[BaseModel], prefix: str = "") -> dict[str, str]:
    """Return the defaults of a model's fields as the page writes them."""
    return {
        f"{prefix}{field.alias or name}": written(field.get_default(call_default_factory=True))
        for name, field in model.model_fields.items()
    }


def written(default: Any) -> str:  # noqa: ANN401 - of any field
    if default is PydanticUndefined:
        return ""
    if default in (None, (), "", {}):
        return NOTHING
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float | int) else str(default)


@pytest.mark.parametrize("heading", TABLES)
def test_every_field_of_a_section_is_on_the_page_with_its_default(heading: str) -> None:
    expected: dict[str, str] = {}
    for model in TABLES[heading]:
        expected |= defaults_of(model)
    without_subtables = {name: text for name, text in expected.items() if name not in SUBTABLES}

    assert read_rows(below(heading)) == without_subtables
    assert all(f"[access.{name}." in PAGE for name in SUBTABLES)


def test_every_field_of_the_small_sections_is_on_the_page_with_its_default() -> None:
    expected: dict[str, str] = {}
    for prefix, model in OTHERS.items():
        expected |= defaults_of(model, f"{prefix}.")

    assert read_rows(below("Others")) == expected


def test_every_section_and_method_is_on_the_page() -> None:
    assert all(re.search(rf"\b{name}\b", PAGE) for name in {*SECTIONS, *PLUGIN_SECTIONS})
    assert all(f"`{method}`" in PAGE for method in METHODS)


def test_every_variable_is_on_the_page() -> None:
    aliases = [field.validation_alias for field in Settings.model_fields.values()]
    choices = [one.choices if isinstance(one, AliasChoices) else [one] for one in aliases if one]
    known = {str(name) for names in choices for name in names}
    in_example = set(re.findall(r"^# ([A-Z_]+)=", EXAMPLE, re.MULTILINE))
    named = read_rows(VARIABLES).keys() | set(re.findall(r"`([A-Z_]+)`", VARIABLES))

    assert known | in_example | {*API_KEY_VARIABLES.values()} <= named


@pytest.mark.parametrize(
    ("variable", "field"),
    [
        ("COUNCIL_CONFIG", "config"),
        ("COUNCIL_HOST", "host"),
        ("COUNCIL_PORT", "port"),
        ("OLLAMA_API_BASE", "ollama"),
    ],
)
def test_defaults_of_variables_are_those_of_the_settings(variable: str, field: str) -> None:
    assert read_rows(VARIABLES)[variable] == str(Settings.model_fields[field].default)
