"""The shape of `council.toml`."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PanelSection(_Section):
    """One panel; what it leaves out has the defaults of `council.panel.Terms`."""

    members: tuple[str, ...]
    outside_judges: tuple[str, ...] = ()
    chairman: tuple[str, ...] = ()
    method: str = "blind-ranking"
    quorum: int = 2
    answer_seconds: float = Field(60, gt=0)
    ballot_seconds: float = Field(60, gt=0)
    synthesis_seconds: float = Field(60, gt=0)
    answer_temperature: float | None = Field(1.0, ge=0)
    ballot_temperature: float | None = Field(0.0, ge=0)
    synthesis_temperature: float | None = Field(0.3, ge=0)
    audit_share: float = Field(0.2, ge=0, le=1)
    max_round_usd: float | None = Field(None, gt=0)
    rubric: str = "default"


class ModelSection(_Section):
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


class RubricSection(_Section):
    """Criteria of one's own for judges."""

    criteria: tuple[str, ...] = Field(min_length=1)


class RetentionSection(_Section):
    """How many days texts are kept; None is for ever."""

    texts_days: int | None = Field(None, ge=1, le=36_500)


SECTIONS: dict[str, type[_Section]] = {
    "panels": PanelSection,
    "models": ModelSection,
    "rubrics": RubricSection,
}
# Sections that stand once, without a name of their own.
ALONE: dict[str, type[_Section]] = {"retention": RetentionSection}
# Settings of parts that are read elsewhere.
OTHERS = ("default_panel", "access", "suites")

Document = dict[str, Any]
