"""The shape of `council.toml`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.access import Access, ChannelRules, allows
from bot.suite_files import in_category, read_file, suite_of
from council.bakeoffs.models import Suite
from council.errors import CouncilError, SuiteError
from council.money import cap_micro
from council.panel import Panel
from council.places import Place
from council.providers import Limits

# --- The shape of `council.toml`.


class Part(BaseModel):
    """A part of the document; a name it does not know is a fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PanelSection(Part):
    """One panel; what it leaves out has the defaults of `council.panel.Terms`."""

    members: tuple[str, ...]
    outside_judges: tuple[str, ...] = ()
    chairman: tuple[str, ...] = ()
    method: str = "blind-ranking"
    quorum: int = 2
    answer_seconds: float = Field(60, gt=0)
    ballot_seconds: float = Field(60, gt=0)
    synthesis_seconds: float = Field(60, gt=0)
    round_seconds: float | None = Field(None, gt=0)
    answer_temperature: float | None = Field(1.0, ge=0)
    ballot_temperature: float | None = Field(0.0, ge=0)
    synthesis_temperature: float | None = Field(0.3, ge=0)
    audit_share: float = Field(0.2, ge=0, le=1)
    max_round_usd: float | None = Field(None, gt=0)
    rubric: str = "default"


class ModelSection(Part):
    """A seat of its own, or what is particular about a model."""

    model: str | None = None
    api_base: str | None = None
    api_key_env: str | None = None
    family: str | None = None
    display: str | None = None
    temperature: float | None = Field(None, ge=0)
    max_tokens: int | None = Field(None, gt=0)
    context_tokens: int | None = Field(None, gt=0)
    stream: bool = False
    input_usd_per_million: float | None = Field(None, ge=0)
    output_usd_per_million: float | None = Field(None, ge=0)


class ProviderSection(Part):
    """How hard a provider may be called, or a server named by host and port."""

    concurrency: int = Field(Limits().concurrency, ge=1)
    requests_per_minute: int | None = Field(None, ge=1)


class BudgetsSection(Part):
    """What may be spent, in USD; days and months are UTC, and what is left out has no cap."""

    day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    month_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    user_day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    channel_day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    workspace_day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    schedule_day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    unknown_prices: Literal["allowed", "forbidden"] = "allowed"


class RubricSection(Part):
    """Criteria of one's own for judges."""

    criteria: tuple[str, ...] = Field(min_length=1)


class RetentionSection(Part):
    """How many days texts are kept; None is for ever."""

    texts_days: int | None = Field(None, ge=1, le=36_500)


class BakeoffsSection(Part):
    """How bake-offs are held."""

    rounds_at_once: int = Field(2, ge=1, le=50)


SECTIONS: dict[str, type[Part]] = {
    "panels": PanelSection,
    "models": ModelSection,
    "providers": ProviderSection,
    "rubrics": RubricSection,
}
# What stands once, without a name of its own, and what is read in a file of its own.
ALONE = ("default_panel", "time_zone", "budgets", "retention", "access", "suites", "bakeoffs")
Document = dict[str, Any]


# --- The shape of `[access]` in `council.toml`, and the policy it makes.


class ChannelSection(Part):
    """What goes for one channel, under its id."""

    panel: str | None = None
    vendors: tuple[str, ...] = ()
    day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)


class WorkspaceSection(Part):
    """What goes for one workspace of Slack, or server of Discord, under its id."""

    rounds_at_once: int | None = Field(None, ge=1)
    day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)


class AccessSection(Part):
    """Who may ask where, and how often; `in` names channels by their ids."""

    channels: tuple[str, ...] | None = None
    admins: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    shared_channels: bool = False
    guests: bool = False
    direct_messages: bool = True
    rounds_per_hour: int | None = Field(None, ge=1)
    rounds_per_day: int | None = Field(None, ge=1)
    rounds_at_once: int | None = Field(None, ge=1)
    in_: dict[str, ChannelSection] = Field(default_factory=dict, alias="in")
    workspaces: dict[str, WorkspaceSection] = Field(default_factory=dict)


def access_of(section: AccessSection) -> Access:
    """Give the policy that a section describes."""
    rules = {
        channel: ChannelRules(found.panel, found.vendors) for channel, found in section.in_.items()
    }
    at_once = {
        workspace: found.rounds_at_once
        for workspace, found in section.workspaces.items()
        if found.rounds_at_once is not None
    }
    plain = section.model_dump(exclude={"in_", "workspaces"})
    return Access(rules=rules, workspaces=at_once, **plain)


def channel_caps(section: AccessSection) -> dict[str, int]:
    """Give the caps of single channels a day, by the channels' ids."""
    return _caps({channel: found.day_usd for channel, found in section.in_.items()})


def workspace_caps(section: AccessSection) -> dict[str, int]:
    """Give the caps of single workspaces a day, by the workspaces' ids."""
    return _caps({workspace: found.day_usd for workspace, found in section.workspaces.items()})


def _caps(given: Mapping[str, float | None]) -> dict[str, int]:
    return {id_: cap_micro(usd) for id_, usd in given.items() if usd is not None}


def faults_in(
    access: Access, panels: Mapping[str, Panel], known: Mapping[str, object]
) -> Iterator[str]:
    """Give what is wrong with the panels that channels name; `known` are unsound ones too."""
    for channel, rules in access.rules.items():
        if rules.panel is None:
            continue
        where = f"access.in.{channel}.panel"
        if rules.panel not in known:
            yield f"{where}: there is no panel {rules.panel!r}."
        elif rules.panel in panels and not allows(
            access, Place("", channel=channel), panels[rules.panel]
        ):
            vendors = ", ".join(rules.vendors)
            yield f"{where}: {rules.panel!r} also seats models of others than {vendors}."


# --- The shape of `[suites.NAME]` in `council.toml`, and the suite it makes.


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


# --- How a model is called towards people, where nobody says it.

_CAPITALS = {"gpt": "GPT", "glm": "GLM", "qwq": "QwQ", "smollm2": "SmolLM2", "deepseek": "DeepSeek"}


def display_name(key: str) -> str:
    """Give a readable name: "Claude Sonnet 4.6" for "anthropic/claude-sonnet-4-6"."""
    words = re.split(r"[-_ ]+", key.rsplit("/", 1)[-1].rsplit(":", 1)[0])
    merged: list[str] = []
    for word in words:
        if merged and re.fullmatch(r"\d", word) and re.fullmatch(r"\d", merged[-1]):
            merged[-1] += f".{word}"
        else:
            merged.append(_CAPITALS.get(word, _capital(word)))
    return " ".join(merged).replace("GPT ", "GPT-")


def _capital(word: str) -> str:
    return word.upper() if re.fullmatch(r"\d+b", word) else word[:1].upper() + word[1:]


# --- Faults in settings, told one a line.


class SettingsError(CouncilError):
    """Settings that the bot cannot start with; its text has a line for each fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


def faults_of(error: ValidationError, where: str) -> list[str]:
    """Give a line for each thing a document got wrong; values that may be secret are not shown."""
    return [_line(fault["loc"], fault["msg"], where) for fault in error.errors()]


def _line(location: tuple[int | str, ...], message: str, where: str) -> str:
    name = ".".join(str(part) for part in location)
    plain = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    place = f"{where}{name}".rstrip(" .:")
    return f"{place}: {plain[0].lower()}{plain[1:]}."
