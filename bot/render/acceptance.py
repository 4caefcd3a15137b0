"""What the asker is told at once: who sits, who receives the text, what it costs and takes."""

from bot.chat import Line, Note, Post
from bot.render.figures import duration, listed, roughly
from bot.render.names import names_of
from council.budget import Estimate
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


def accepted_post(round_: Round, estimate: Estimate, usual_seconds: float | None) -> Post:
    """Give the private word that the question was taken in.

    How long it usually takes is told where it is known, else how long it may take.
    """
    names = names_of(round_.panel)
    members = listed(names[seat.key] for seat in round_.panel.members)
    asking = f"Asking {members} in round {round_.id}."
    terms = terms_of(round_, estimate, usual_seconds)
    return Post((Line(asking), Note(terms)), f"{asking} {terms}")


def terms_of(round_: Round, estimate: Estimate, usual_seconds: float | None) -> str:
    """Say who receives the text, what the round may cost, and how long it takes."""
    return (
        f"Your text goes to {receivers(round_.panel)}. {_cost(round_.panel, estimate)}. "
        f"It {_time(round_.panel, usual_seconds)}."
    )


def _cost(panel: Panel, estimate: Estimate) -> str:
    """Say what a round may cost: "It costs about $0.04 at most; cost unknown for Qwen 3"."""
    names, cap = names_of(panel), panel.terms.max_round_usd
    micro = estimate.micro if cap is None else min(cap_micro(cap), estimate.micro)
    told = [f"it costs about {about(micro)} at most"] if micro else []
    if estimate.unknown:
        told.append(f"cost unknown for {listed(names[key] for key in estimate.unknown)}")
    sentence = "; ".join(told) or "it costs nothing"
    return sentence[0].upper() + sentence[1:]


def _time(panel: Panel, usual_seconds: float | None) -> str:
    """Say how long a round takes: "usually takes about 40 s", "takes 3 min at most"."""
    if usual_seconds is not None:
        return f"usually takes about {roughly(usual_seconds)}"
    terms = panel.terms
    chairing = terms.synthesis_seconds * len(panel.chair_order)
    most = terms.answer_seconds + terms.ballot_seconds + chairing
    return f"takes {duration(min(most, terms.round_seconds or most))} at most"


def receivers(panel: Panel) -> str:
    """Give everybody who receives the text, by the route of each seat."""
    seats = (*panel.judges, *panel.chairmen)
    return listed(dict.fromkeys(_receiver(seat.receiver or seat.model_id) for seat in seats))


def _receiver(route: str) -> str:
    provider = route.partition("/")[0]
    return _PROVIDERS.get(provider, provider)
