"""Measure the perplexity of a round's answers under its local judges, and show what it changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp
from typing import Any

from bot.bakeoffs.render.leaderboard_tables import percent
from bot.chat import Heading, Line, Note, Part, Post, Table
from bot.render.formatting import author_names, join_words, seat_names
from council.ballots import Ballot
from council.errors import ExperimentError, GatewayError
from council.integrity.erasure import check_not_forgotten
from council.labels import Label
from council.methods import method_of
from council.panel import Member
from council.research.perplexity import (
    MAX_TOKENS,
    LlamaServer,
    Surprise,
    matrix_shares,
    mean_surprise,
    perplexity_matrix,
)
from council.rounds import Draw, Round
from council.tally.borda import counted_ballots, pair_matrix

TITLE = "How familiar each answer is to its judges"
_NOTE = (
    f"Perplexity of the first {MAX_TOKENS} tokens of an answer after its question: low means that "
    "the judge could have written it. Judges tend to prefer what is familiar to them. Weighted, a "
    "judge counts on a pair as the lower perplexity divided by the higher one. The official result "
    "stays."
)


@dataclass(frozen=True, slots=True)
class Familiarity:
    """A round's surprise by judge and label, and the judges that gave none, with the reason."""

    round_: Round
    surprise: Surprise
    missing: Mapping[str, str]

    @property
    def shares(self) -> dict[Label, float]:
        """The shares by the measured judges, weighted by perplexity."""
        return matrix_shares(perplexity_matrix(self._ballots, self.surprise))

    @property
    def uniform(self) -> dict[Label, float]:
        """The shares by the same judges, all alike."""
        return matrix_shares(pair_matrix(self._ballots))

    @property
    def _ballots(self) -> list[Ballot]:
        counted = _counted_ballots(self.round_)
        return [ballot for ballot in counted if ballot.judge in self.surprise]


def _counted_ballots(round_: Round) -> tuple[Ballot, ...]:
    """Return what the round's method counts: of judges who discussed, the last rankings."""
    return counted_ballots(method_of(round_).ballots(round_, round_.draw)) if round_.draw else ()


def served_model(member: Member) -> str | None:
    """Return the name of a seat's model on the local server; None if it runs elsewhere."""
    return member.model_id.rpartition("/")[2] if member.demonstration else None


def has_local_judges(round_: Round) -> bool:
    """Return whether the local server can tell anything about a round."""
    return any(served_model(seat) for seat in round_.panel.judges)


async def measure_familiarity(
    round_: Round, server: LlamaServer, tell: Callable[[str], None] = lambda _: None
) -> Familiarity:
    """Return the surprise of every answer under each judge that saw it; `tell` gets the progress.

    Raise ExperimentError for a round without a result, ForgottenError for one without texts.
    """
    check_not_forgotten(round_)
    draw, counted = round_.draw, _counted_ballots(round_)
    if not draw or not counted or not round_.tally:
        raise ExperimentError(f"Round {round_.id} has no ranked result yet.")
    surprise: dict[str, dict[Label, float]] = {}
    missing: dict[str, str] = {}
    names = seat_names(round_.panel)
    for judge in dict.fromkeys(ballot.judge for ballot in counted):
        model = served_model(round_.panel.seat(judge))
        if model is None:
            missing[judge] = "is not served by the local llama.cpp server"
            continue
        # In a knock-out, a judge sees other answers on each of its ballots.
        seen = dict.fromkeys(x for ballot in counted if ballot.judge == judge for x in ballot.shown)
        tell(f"{names[judge]} reads {len(seen)} answers …")
        try:
            surprise[judge] = {
                label: await _surprise(round_, draw, label, model, server) for label in seen
            }
        except GatewayError as error:
            missing[judge] = str(error)
    return Familiarity(round_, surprise, missing)


async def _surprise(
    round_: Round, draw: Draw, label: Label, model: str, server: LlamaServer
) -> float:
    author = draw.labels.author_of(label)
    text = next(answer.text for answer in round_.revised if answer.member == author)
    prompt = f"{round_.question.text}\n\n"
    return mean_surprise(await server.log_probabilities(model, prompt, text))


def familiarity_post(found: Familiarity) -> Post:
    """Return the perplexities, what weighting by them changes, and what could not be measured."""
    return Post(tuple(_parts(found)), TITLE)


def _parts(found: Familiarity) -> list[Part]:
    draw = found.round_.draw
    names = seat_names(found.round_.panel)
    parts: list[Part] = [Heading(TITLE)]
    if found.surprise and draw:
        authors = author_names(found.round_.panel, draw)
        shares, uniform = found.shares, found.uniform
        judges = [*found.surprise]
        columns = ("Response", "By", *(names[judge] for judge in judges), "Alike", "Weighted")
        rows = tuple(
            (
                label,
                authors[label],
                *(_perplexity(found.surprise[judge].get(label)) for judge in judges),
                percent(uniform[label]),
                percent(shares[label]),
            )
            for label in sorted(shares, key=lambda x: -shares[x])
        )
        parts += [Table(columns, rows, frozenset(range(2, len(columns)))), Note(_NOTE)]
    for why in dict.fromkeys(found.missing.values()):
        who = join_words(names[judge] for judge in found.missing if found.missing[judge] == why)
        parts.append(Line(f"No perplexity of {who}: {why}. Nothing is guessed."))
    return parts


def _perplexity(surprise: float | None) -> str:
    return "own" if surprise is None else f"{exp(surprise):.1f}"


def familiarity_document(found: Familiarity) -> dict[str, Any]:
    """Return the perplexities by judge and label, and the shares of the measured judges."""
    return {
        "round": found.round_.id,
        "perplexity": {
            judge: {label: exp(value) for label, value in by_label.items()}
            for judge, by_label in found.surprise.items()
        },
        "weighted": found.shares,
        "uniform": found.uniform,
        "missing": dict(found.missing),
    }
