"""Default panels without a council.toml: from API keys, Ollama, or the demo models."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from bot.settings import PanelConfig, Settings
from bot.settings.council_toml import ModelSection
from bot.settings.panels import GRACE_SECONDS, make_seat
from council.model_families import family_of
from council.panel import MIN_MEMBERS, THIS_MACHINE, Member, ModelId, Panel, Terms
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
LOCAL, LOCAL_LARGE = "local", "local-large"
LARGE_SIZE = "1.1 GB"  # that the panel local-large downloads
KEYS = "keys"
OLLAMA = "ollama"
# Measured: of 45 answers by the three seats to each question, at least 44 are correct.
DEMO_QUESTIONS = (
    "What does HTML stand for?",
    "What is the capital of France?",
    "Write a Python function that adds two numbers.",
    "What does CPU stand for?",
)
# A model that hangs must not hold the answer until its deadline. Ollama loads one after another.
KEYS_TERMS = Terms(grace_seconds=GRACE_SECONDS)
SLOW_TERMS = Terms(answer_seconds=180, ballot_seconds=180, synthesis_seconds=180)
OLLAMA_TERMS = replace(SLOW_TERMS, grace_seconds=60)


def default_panels(settings: Settings, ollama_models: Sequence[str]) -> PanelConfig:
    """Return the panels that API keys and a running Ollama allow; each needs two seats."""
    models = [model for provider, model in FIRST_MODELS.items() if settings.key_for(provider)]
    with_keys = {model: make_seat(model, ModelSection()) for model in models[:MAX_SEATS_OFFERED]}
    served = {
        f"ollama/{name}": make_seat(f"ollama/{name}", ModelSection(api_base=settings.ollama))
        for name in ollama_models[:MAX_SEATS_OFFERED]
    }
    panels = {
        name: Panel(
            name, tuple(seat.member for seat in seats.values()), DEFAULT_RUBRIC, terms=terms
        )
        for name, seats, terms in ((KEYS, with_keys, KEYS_TERMS), (OLLAMA, served, OLLAMA_TERMS))
        if len(seats) >= MIN_MEMBERS
    }
    return PanelConfig(panels, {**with_keys, **served}, next(iter(panels), None))


def demonstration_panel(models: Mapping[str, str], warm: str = "", name: str = LOCAL) -> Panel:
    """Return a panel of demo models, given by id with their display names, the largest last.

    `warm` has a second seat with a higher temperature.
    """
    seats = {
        model: Member(
            key=f"{name}/{model}",
            model_id=ModelId(f"openai/{model}"),
            display=display,
            family=family_of(model),
            receiver=THIS_MACHINE,
            demonstration=True,
        )
        for model, display in models.items()
    }
    chairman = [*seats.values()][-1]
    warmer = [
        replace(
            seats[model],
            key=f"{seats[model].key}-warm",
            display=f"{seats[model].display}, warmer",
            temperature=0.7,  # at 1.2 it is often wrong where the others are right
        )
        for model in (warm,)
        if model
    ]
    terms = replace(
        SLOW_TERMS,
        audit_share=0,  # audits would compete with the answer for two cores
        answer_temperature=0.3,
        ballot_temperature=0.0,
        synthesis_temperature=0.2,
    )
    return Panel(
        name, (*seats.values(), *warmer), DEFAULT_RUBRIC, chairmen=(chairman,), terms=terms
    )


# --- Proposals from the models that a provider lists

MEMBERS_PROPOSED = 5
_NOT_FOR_CHAT = re.compile(
    r"embed|whisper|tts|audio|realtime|image|dall-e|moderation|transcri|search|davinci|babbage|"
    r"turbo-instruct|computer-use|sora|veo|aqa|guard|rerank|speech|-live|robotics|deep-research|"
    r"codex|ocr|banana|lyria|chatgpt|gpt-3|gpt-4(-turbo|$)|:free$|/auto$"
)
_SNAPSHOT = re.compile(
    r"(-(\d{4}-?\d{2}-?\d{2}|\d{4}|\d{3}|(chat-)?latest|exp|preview(-\d\d-\d{2,4})?)|:(?!\d)[a-z]+)+$"
)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)b\b")
_LARGE_BILLIONS = 100
# From the most to the least preferred, where a provider has models of several families.
_FAMILIES = ("anthropic", "openai", "google", "xai", "deepseek", "qwen", "mistral", "meta")
_SMALLER = {"nano": 3, "mini": 2, "lite": 2, "tiny": 2, "flash": 1, "haiku": 1, "fast": 1}
_DEARER = re.compile(r"\b(gpt|o\d)[^/]*-pro\b")


def propose_seats(models: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return five models and an outside judge, of as many families as there are, best first.

    A dated snapshot stands only where its model is not listed under its plain name.
    """
    by_stem: dict[str, str] = {}
    for model in sorted(models, key=lambda model: (len(model), model)):
        if not _NOT_FOR_CHAT.search(model.lower()):
            by_stem.setdefault(_SNAPSHOT.sub("", model.lower()), model)
    by_family: dict[str, list[str]] = {}
    for model in sorted(by_stem.values() or models, key=_rank):
        by_family.setdefault(family_of(model), []).append(model)
    families = sorted(by_family, key=lambda f: _FAMILIES.index(f) if f in _FAMILIES else 99)
    in_turn = zip_longest(*(by_family[family] for family in families))
    chosen = [model for row in in_turn for model in row if model]
    return chosen[:MEMBERS_PROPOSED], chosen[MEMBERS_PROPOSED : MEMBERS_PROPOSED + 1]


def _rank(model: str) -> tuple[int, list[float], float, int]:
    """Return a sort key: full-size models first, then newer, then larger."""
    name = _SNAPSHOT.sub("", model.lower().rpartition("/")[2])
    size = max(map(float, _SIZE.findall(name)), default=0.0)
    words = set(re.split(r"[-_.:]", name))
    penalty = max((level for word, level in _SMALLER.items() if word in words), default=0)
    if _DEARER.search(name) or 0 < size < _LARGE_BILLIONS:
        penalty += 4
    version = [-float(number) for number in re.findall(r"\d+", _SIZE.sub("", name))[:2]]
    return penalty, [*version, *[0.0] * (2 - len(version))], -size, len(name)
