"""Schema of `council.toml`: pydantic models of its sections, and errors as one line each."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.access import Access, ChannelRules, allows_panel
from council.errors import CouncilError
from council.money import cap_micro_usd
from council.panel import MAX_MEMBERS, Panel
from council.places import Place
from council.providers import Limits
from storage.validation import describe_fault


class Section(BaseModel):
    """A section; unknown names are faults."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# Settings of a panel that only researchers of judges need.
_LAB_SETTINGS = frozenset({"equal_length", "text_checks", "filter", "canary_share"})


class PanelSection(Section):
    """A panel; the defaults are those of `council.panel.Terms`.

    Settings for researchers stand in `[panels.NAME.lab]`; in the panel itself they are read, too.
    """

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
    audit_share: float | None = Field(None, ge=0, le=1)
    max_round_usd: float | None = Field(None, gt=0)
    grace_seconds: float | None = Field(None, gt=0)
    equal_length: bool = False
    text_checks: bool = False
    filter: str | None = None
    canary_share: float | None = Field(None, ge=0, le=1)
    rubric: str = "default"

    @model_validator(mode="before")
    @classmethod
    def _read_lab(cls, given: Any) -> Any:  # noqa: ANN401 - what was written
        """Return the section with the settings of its `lab`; another name there is a fault."""
        lab = given.get("lab") if isinstance(given, dict) else None
        if not isinstance(lab, dict) or not lab.keys() <= _LAB_SETTINGS:
            return given
        return {**{name: value for name, value in given.items() if name != "lab"}, **lab}


class ModelSection(Section):
    """A named seat, or the settings of a model."""

    model: str | None = None
    api_base: str | None = None
    api_key_env: str | None = None
    family: str | None = None
    display: str | None = None
    temperature: float | None = Field(None, ge=0)
    role: str | None = Field(None, min_length=1, max_length=2000)
    drafts: int = Field(1, ge=1, le=MAX_MEMBERS)
    fallback: str | None = None
    max_tokens: int | None = Field(None, gt=0)
    context_tokens: int | None = Field(None, gt=0)
    vision: bool | None = None
    web_search: bool = False
    stream: bool = False
    input_usd_per_million: float | None = Field(None, ge=0)
    output_usd_per_million: float | None = Field(None, ge=0)


class ProviderSection(Section):
    """Rate limits of a provider, or of a server named by host and port."""

    concurrency: int = Field(Limits().concurrency, ge=1)
    requests_per_minute: int | None = Field(None, ge=1)


class BudgetsSection(Section):
    """Spending caps in USD; days and months are UTC, and what is left out has no cap."""

    day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    month_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    user_day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    channel_day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    workspace_day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    schedule_day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    unknown_prices: Literal["allowed", "forbidden"] = "allowed"


class RubricSection(Section):
    """Custom criteria for judges."""

    criteria: tuple[str, ...] = Field(min_length=1)


class RetentionSection(Section):
    """How many days texts are kept; None means forever."""

    texts_days: int | None = Field(None, ge=1, le=36_500)


class PluginsSection(Section):
    """Plug-ins of other packages that run, and plug-ins of any kind that do not."""

    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()


SECTIONS = frozenset(
    {
        "panels",
        "models",
        "providers",
        "rubrics",
        "default_panel",
        "budgets",
        "retention",
        "access",
        "plugins",
    }
)
# Sections of our own plug-ins, and whose they are: without its package they are left out.
PLUGIN_SECTIONS = {"suites": "bakeoffs", "bakeoffs": "bakeoffs", "time_zone": "bakeoffs"}
Document = dict[str, Any]


class ChannelSection(Section):
    """The rules of one channel, under its id."""

    panel: str | None = None
    vendors: tuple[str, ...] = ()
    day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)


class PolicySection(Section):
    """Who may ask where, and how often; `in` maps channel ids to their rules."""

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

    def applied_to(self, access: Access) -> Access:
        """Return a policy with what this section sets; a channel's rules replace its earlier."""
        given = self.model_dump(exclude_unset=True, exclude={"in_", "workspaces", "day_usd"})
        own = {
            channel: ChannelRules(rules.panel, rules.vendors) for channel, rules in self.in_.items()
        }
        fixed = access.fixed | given.keys()
        return replace(access, rules={**access.rules, **own}, fixed=fixed, **given)


class WorkspaceSection(PolicySection):
    """The policy of one workspace or server of a chat; what it leaves out is as for all."""

    day_usd: float | None = Field(None, ge=0, allow_inf_nan=False)


class AccessSection(PolicySection):
    """The policy for all workspaces, and those of single ones by id."""

    workspaces: dict[str, WorkspaceSection] = Field(default_factory=dict)

    @property
    def channel_sections(self) -> dict[str, ChannelSection]:
        """Return the rules of all channels, whose ids are unique across workspaces."""
        sections = (self, *self.workspaces.values())
        return {id_: rules for section in sections for id_, rules in section.in_.items()}


def access_of(section: AccessSection) -> Access:
    """Return the access policy of a section."""
    access = section.applied_to(Access())
    own = {id_: one.applied_to(access) for id_, one in section.workspaces.items()}
    return replace(access, workspaces=own)


def day_caps(sections: Mapping[str, ChannelSection | WorkspaceSection]) -> dict[str, int]:
    """Return the daily caps in micro-dollars, by the id of the channel or workspace."""
    caps_usd = {id_: section.day_usd for id_, section in sections.items()}
    return {id_: cap_micro_usd(usd) for id_, usd in caps_usd.items() if usd is not None}


def channel_panel_faults(
    access: Access, panels: Mapping[str, Panel], known: Mapping[str, object]
) -> Iterator[str]:
    """Yield faults in the panels that channels name.

    `panels` are the valid ones; `known` also contains those with faults.
    """
    own = [
        (f"workspaces.{workspace}.in.{channel}", workspace, channel, rules)
        for workspace, policy in access.workspaces.items()
        for channel, rules in policy.rules.items()
        if rules != access.rules.get(channel)
    ]
    shared = [(f"in.{channel}", "", channel, rules) for channel, rules in access.rules.items()]
    for path, workspace, channel, rules in (*shared, *own):
        if rules.panel is None:
            continue
        where = f"access.{path}.panel"
        if rules.panel not in known:
            yield f"{where}: there is no panel {rules.panel!r}; add it, or name another panel."
        elif rules.panel in panels and not allows_panel(
            access, Place("", workspace, channel), panels[rules.panel]
        ):
            vendors = ", ".join(rules.vendors)
            yield (
                f"{where}: panel {rules.panel!r} includes models that are not from {vendors}; "
                "take them out, or allow their vendor."
            )


_CAPITALS = {"gpt": "GPT", "glm": "GLM", "qwq": "QwQ", "smollm2": "SmolLM2", "deepseek": "DeepSeek"}


def display_name(key: str) -> str:
    """Return a readable name: "Claude Sonnet 4.6" for "anthropic/claude-sonnet-4-6"."""
    words = re.split(r"[-_ ]+", key.rsplit("/", 1)[-1].rsplit(":", 1)[0])
    merged: list[str] = []
    for word in words:
        if merged and re.fullmatch(r"\d", word) and re.fullmatch(r"\d", merged[-1]):
            merged[-1] += f".{word}"
        else:
            is_size = re.fullmatch(r"\d+b", word)
            capitalized = word.upper() if is_size else word[:1].upper() + word[1:]
            merged.append(_CAPITALS.get(word, capitalized))
    return " ".join(merged).replace("GPT ", "GPT-")


class SettingsError(CouncilError):
    """Settings that the bot cannot start with; the text has a line for each fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


def validation_faults(error: ValidationError, where: str) -> list[str]:
    """Return a line for each fault of a document, without its values, which may be secret."""
    lines = []
    for fault in error.errors():
        place = (where + ".".join(map(str, fault["loc"]))).rstrip(" .:")
        lines.append(f"{place}: {describe_fault(fault)}.")
    return lines
