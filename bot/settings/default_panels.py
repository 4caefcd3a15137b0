"""Default panels without a council.toml: from API keys, Ollama, or the demo models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.settings import PanelConfig, Seat, Settings
from bot.settings.council_toml import ModelSection, display_name
from council.model_families import family_of
from council.panel import MIN_MEMBERS, Member, ModelId, Panel, Terms
from council.prompts.shared import DEFAULT_RUBRIC

# One model of each provider; council.toml names others.
FIRST_MODELS = {
    "openai": "openai/gpt-5.1",
    "anthropic": "anthropic/claude-sonnet-4-6",
    "gemini": "gemini/gemini-3-pro-preview",
    "mistral": "mistral/mistral-large-latest",
    "xai": "xai/grok-4",
    "deepseek": "deepseek/deepseek-chat",
}
MAX_SEATS_OFFERED = 4
LOCAL = "local"
KEYS = "keys"
OLLAMA = "ollama"
SLOW_TERMS = Terms(answer_seconds=180, ballot_seconds=180, synthesis_seconds=180)


def default_panels(settings: Settings, ollama_models: Sequence[str]) -> PanelConfig:
    """Return the panels that API keys and a running Ollama allow; each needs two seats."""
    models = [model for provider, model in FIRST_MODELS.items() if settings.key_for(provider)]
    with_keys = {model: _seat(model) for model in models[:MAX_SEATS_OFFERED]}
    served = {
        f"ollama/{name}": _seat(f"ollama/{name}", settings.ollama)
        for name in ollama_models[:MAX_SEATS_OFFERED]
    }
    panels = {
        name: Panel(
            name, tuple(seat.member for seat in seats.values()), DEFAULT_RUBRIC, terms=terms
        )
        for name, seats, terms in ((KEYS, with_keys, Terms()), (OLLAMA, served, SLOW_TERMS))
        if len(seats) >= MIN_MEMBERS
    }
    return PanelConfig(panels, {**with_keys, **served}, next(iter(panels), None))


def _seat(model: str, api_base: str | None = None) -> Seat:
    receiver = "Ollama on this machine" if api_base else ""
    member = Member(model, ModelId(model), display_name(model), family_of(model), receiver=receiver)
    return Seat(member, ModelSection(api_base=api_base))


def demonstration_panel(models: Mapping[str, str], warm: str) -> Panel:
    """Return the panel of the demo models, given by id with their display names.

    `warm` has a second seat with a higher temperature.
    """
    seats = {
        model: Member(
            key=f"{LOCAL}/{model}",
            model_id=ModelId(f"openai/{model}"),
            display=display,
            family=family_of(model),
            receiver="this machine",
            demonstration=True,
        )
        for model, display in models.items()
    }
    chairman = seats[warm]
    warmer = replace(
        chairman,
        key=f"{chairman.key}-warm",
        display=f"{chairman.display}, warmer",
        temperature=1.2,
    )
    terms = replace(
        SLOW_TERMS,
        audit_share=0,  # audits would compete with the answer for two cores
        answer_temperature=0.3,
        ballot_temperature=0.0,
        synthesis_temperature=0.2,
    )
    return Panel(
        LOCAL, (*seats.values(), warmer), DEFAULT_RUBRIC, chairmen=(chairman,), terms=terms
    )
