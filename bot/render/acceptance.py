"""What the asker is told at once: who sits, and who receives the text."""

from bot.chat import Note, Post
from bot.render.figures import listed
from bot.render.names import names_of
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


def accepted_post(round_: Round) -> Post:
    """Give the private word that the question was taken in."""
    names = names_of(round_.panel)
    members = listed(names[seat.key] for seat in round_.panel.members)
    line = f"Round {round_.id}: asking {members}. Your text goes to {receivers(round_.panel)}."
    return Post((Note(line),), line)


def receivers(panel: Panel) -> str:
    """Give everybody who receives the text, by the route of each seat."""
    seats = (*panel.judges, *panel.chairmen)
    return listed(dict.fromkeys(_receiver(seat.receiver or seat.model_id) for seat in seats))


def _receiver(route: str) -> str:
    provider = route.partition("/")[0]
    return _PROVIDERS.get(provider, provider)
