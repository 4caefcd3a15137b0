"""Panels that need no council.toml: of found keys, of Ollama, of the demonstration models."""

from collections.abc import Mapping, Sequence

from bot.settings import PanelConfig, Seat, Settings
from bot.settings.council_toml import ModelSection, display_name
from council.model_families import family_of
from council.panel import FEWEST_SEATS, Member, ModelId, Panel, Terms
from council.prompts.shared import DEFAULT_RUBRIC

# One model of each provider, to begin with; council.toml names others.
FIRST_MODELS = {
    "openai": "openai/gpt-5.1",
    "anthropic": "anthropic/claude-sonnet-4-6",
    "gemini": "gemini/gemini-3-pro-preview",
    "mistral": "mistral/mistral-large-latest",
    "xai": "xai/grok-4",
    "deepseek": "deepseek/deepseek-chat",
}
MOST_OFFERED = 4
LOCAL = "local"
KEYS = "keys"
OLLAMA = "ollama"
SLOW = Terms(answer_seconds=180, ballot_seconds=180, synthesis_seconds=180)


def offered(settings: Settings, ollama_models: Sequence[str]) -> PanelConfig:
    """Give the panels that found keys and a running Ollama allow; two seats at least."""
    found = [model for provider, model in FIRST_MODELS.items() if settings.key_for(provider)]
    keyed = {model: _seat(model) for model in found[:MOST_OFFERED]}
    served = {
        f"ollama/{name}": _seat(f"ollama/{name}", settings.ollama)
        for name in ollama_models[:MOST_OFFERED]
    }
    panels = {
        name: Panel(
            name, tuple(seat.member for seat in seats.values()), DEFAULT_RUBRIC, terms=terms
        )
        for name, seats, terms in ((KEYS, keyed, Terms()), (OLLAMA, served, SLOW))
        if len(seats) >= FEWEST_SEATS
    }
    return PanelConfig(panels, {**keyed, **served}, next(iter(panels), None))


def _seat(model: str, api_base: str | None = None) -> Seat:
    receiver = "Ollama on this machine" if api_base else ""
    member = Member(model, ModelId(model), display_name(model), family_of(model), receiver=receiver)
    return Seat(member, ModelSection(api_base=api_base))


def demonstration(models: Mapping[str, str], warm: str) -> Panel:
    """Give the panel of demonstration models by display name; `warm` sits twice, once warmer."""
    seats = [
        Member(
            key=f"{LOCAL}/{model}",
            model_id=ModelId(f"openai/{model}"),
            display=display,
            family=family_of(model),
            receiver="this machine",
            demonstration=True,
        )
        for model, display in models.items()
    ]
    again = Member(
        key=f"{LOCAL}/{warm}-warm",
        model_id=ModelId(f"openai/{warm}"),
        display=f"{models[warm]}, warmer",
        family=family_of(warm),
        temperature=1.2,
        receiver="this machine",
        demonstration=True,
    )
    chairmen = tuple(seat for seat in seats if seat.key.endswith(warm))
    return Panel(LOCAL, (*seats, again), DEFAULT_RUBRIC, chairmen=chairmen, terms=_DEMONSTRATION)


_DEMONSTRATION = Terms(
    audit_share=0,  # it would share two cores with the answer people wait for
    answer_seconds=180,
    ballot_seconds=180,
    synthesis_seconds=180,
    answer_temperature=0.3,
    ballot_temperature=0.0,
    synthesis_temperature=0.2,
)
