"""What the asker is told at once: who sits, who receives the text, and what it may cost."""

from bot.chat import Note, Post
from bot.render.figures import listed
from bot.render.names import names_of
from council.estimates import Estimate
from council.money import about, cap_micro
from council.panel import Panel
from council.rounds import Round

_PROVIDERS = {
    "anthropic": "Anthropic",
    "azure": "Microsoft Azure",
    "bedrock": "Amazon",
    "cohere": "Cohere",
    "deepseek": "DeepSeek",
    "gemini": "Google",
    "groq": "Groq",
    "mistral": "Mistral AI",
    "ollama": "Ollama on your own machine",
    "openai": "OpenAI",
    "scripted": "nobody, since the members are scripted",
    "openrouter": "OpenRouter",
    "vertex_ai": "Google",
    "xai": "xAI",
}


def accepted_post(round_: Round, estimate: Estimate) -> Post:
    """Give the private word that the question was taken in."""
    names = names_of(round_.panel)
    members = listed(names[seat.key] for seat in round_.panel.members)
    line = (
        f"Round {round_.id}: asking {members}. Your text goes to {receivers(round_.panel)}. "
        f"{_cost(round_.panel, estimate)}."
    )
    return Post((Note(line),), line)


def _cost(panel: Panel, estimate: Estimate) -> str:
    """Say what a round may cost: "It costs about $0.04 at most; cost unknown for Qwen 3"."""
    names, cap = names_of(panel), panel.terms.max_round_usd
    micro = estimate.micro if cap is None else min(cap_micro(cap), estimate.micro)
    told = [f"it costs about {about(micro)} at most"] if micro else []
    if estimate.unknown:
        told.append(f"cost unknown for {listed(names[key] for key in estimate.unknown)}")
    sentence = "; ".join(told) or "it costs nothing"
    return sentence[0].upper() + sentence[1:]


def receivers(panel: Panel) -> str:
    """Give everybody who receives the text, by the route of each seat."""
    seats = (*panel.judges, *panel.chairmen)
    return listed(dict.fromkeys(_receiver(seat.receiver or seat.model_id) for seat in seats))


def _receiver(route: str) -> str:
    provider = route.partition("/")[0]
    return _PROVIDERS.get(provider, provider)
