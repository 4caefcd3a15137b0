"""The shape of `council.toml`."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from council.providers import Limits


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
