"""Builders of small valid council values for tests; arguments are what the test is about.

Rankings are written "B C=D": places best first, tied labels joined by "=".
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from council.answers import Absence, Answer, Prompt, Reply, Role
from council.ballots import Ballot, BallotExchange, Ranking, SpoiledBallot, cast_ballot
from council.labels import Label, Slate
from council.model_families import family_of
from council.panel import Member, ModelId, Panel, Rubric, Terms
from council.prompts.shared import nonce_for
from council.registry import NO_PLUGINS, Registry
from council.round_rules import compute_draw, compute_tally
from council.rounds import Question, Round
from council.tally.chance_rule import DEFAULT_RULE

NAMES = {
    "anthropic/claude-sonnet-4-6": "Claude Sonnet 4.6",
    "openai/gpt-5.1": "GPT-5.1",
    "gemini/gemini-3-pro": "Gemini 3 Pro",
    "deepseek/deepseek-chat": "DeepSeek V3.2",
    "xai/grok-4": "Grok 4",
    "mistral/mistral-large-2512": "Mistral Large",
    "ollama/qwen3": "Qwen3",
    "cohere/command-r-plus": "Command R+",
    "groq/llama-3.3-70b": "Llama 3.3 70B",
    "azure/phi-4": "Phi-4",
    "moonshot/kimi-k2": "Kimi K2",
    "zai/glm-4.6": "GLM 4.6",
    "ibm/granite-4": "Granite 4",
    "nvidia/nemotron-3": "Nemotron 3",
}
KEYS = tuple(NAMES)
CLAUDE, GPT, GEMINI, DEEPSEEK, GROK = KEYS[:5]

RUBRIC = Rubric("test", "1", ("Correct: what it claims is true.",))
TERMS = Terms(audit_share=0)  # few tests are about audit ballots
ASKED_AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)

Vote = Callable[[Slate], str | None]  # a ranking of slot letters; None is a reply that spoils


def a_member(
    key: str = CLAUDE, *, temperature: float | None = None, demonstration: bool = False
) -> Member:
    return Member(
        key=key,
        model_id=ModelId(key),
        display=NAMES.get(key, key),
        family=family_of(key),
        temperature=temperature,
        demonstration=demonstration,
    )


def a_panel(
    members: int = 3, *, outside: int = 0, chairmen: Sequence[str] = (), terms: Terms = TERMS
) -> Panel:
    seats = [a_member(key) for key in KEYS[: members + outside]]
    return Panel(
        name="house",
        members=tuple(seats[:members]),
        rubric=RUBRIC,
        outside_judges=tuple(seats[members:]),
        chairmen=tuple(a_member(key) for key in chairmen),
        terms=terms,
    )


def a_question(text: str = "Is Postgres enough for a job queue?", context: str = "") -> Question:
    return Question(text, asked_by="U1", context=context)


def a_round(
    panel: Panel | None = None,
    *,
    seed: str = "seed",
    question: Question | None = None,
    registry: Registry = NO_PLUGINS,
) -> Round:
    """Return an open round under today's rule of chance."""
    return Round(
        id="r1",
        question=question or a_question(),
        panel=panel or a_panel(),
        seed=seed,
        asked_at=ASKED_AT,
        versions=tuple(DEFAULT_RULE.versions.items()),
        registry=registry,
    )


def an_answer(
    member: str = CLAUDE,
    text: str = "Yes.",
    *,
    cost: float | None = None,
    seconds: float = 0.0,
    cut: bool = False,
) -> Answer:
    reply = Reply(text, cut=cut, cost_usd=cost, seconds=seconds)
    return Answer(member, Prompt("system", "user"), reply)


def an_absence(member: str = CLAUDE, role: Role = Role.ANSWER, reason: str = "hung up") -> Absence:
    return Absence(member, role, reason)


def a_slate(shown: str, judge: str = "J") -> Slate:
    return Slate(judge, labels(shown))


def labels(text: str) -> tuple[Label, ...]:
    return tuple(map(Label, text.split()))


def a_ranking(text: str) -> Ranking:
    return tuple(tuple(map(Label, place.split("="))) for place in text.split())


def a_ballot(ranking: str, by: str = "J", *, reason: str = "", audit: str | None = None) -> Ballot:
    """Return a ballot; write unranked labels as a tie in the last place, as the parser does."""
    places = a_ranking(ranking)
    shown = tuple(sorted(label for place in places for label in place))
    return Ballot(by, shown, places, reason, audit=audit)


def ballot_text(ranking: str, nonce: str, reason: str = "It is right.") -> str:
    """Return a judge's whole reply, in slot letters."""
    places = [place.split("=") for place in ranking.split()]
    return json.dumps({"nonce": nonce, "reason": reason, "ranking": places})


def an_exchange(
    text: str = "I rank none.", *, nonce: str = "n0", attempt: int = 1
) -> BallotExchange:
    return BallotExchange(nonce, Prompt("system", "user"), Reply(text), attempt)


def a_spoiled_ballot(judge: str = CLAUDE, attempt: int = 1) -> SpoiledBallot:
    return SpoiledBallot(judge, "it held no JSON object", an_exchange(attempt=attempt))


def with_answers(round_: Round, texts: Mapping[str, str] | None = None) -> Round:
    """Return the round with an answer of every member, or of those in `texts` alone."""
    written = texts or {seat.key: f"Answer {i}." for i, seat in enumerate(round_.panel.members)}
    absent = [seat.key for seat in round_.panel.members if seat.key not in written]
    return replace(
        round_,
        answers=tuple(an_answer(member, text) for member, text in written.items()),
        absences=tuple(an_absence(member) for member in absent),
    )


def vote_in_slot_order(slate: Slate) -> str:
    return " ".join(slate.letters)


def vote_in_label_order(slate: Slate) -> str:
    """Vote for the labels in their alphabetical order, so that all judges agree."""
    return " ".join(sorted(slate.letters, key=slate.label_at))


def with_ballots(round_: Round, vote: Vote = vote_in_label_order) -> Round:
    """Return an answered round with its draw, a ballot of every judge, and its tally."""
    draw = compute_draw(round_)
    round_ = replace(round_, draw=draw)
    for slate in draw.slates:
        nonce = nonce_for(round_.seed, slate.voter)
        ranking = vote(slate)
        text = ballot_text(ranking, nonce) if ranking else "I rank none."
        round_ = round_.with_(cast_ballot(slate, nonce, an_exchange(text, nonce=nonce)))
    return round_.with_(compute_tally(round_, draw))
