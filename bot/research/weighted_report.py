"""Renderer of unofficial leaderboards: weighted judges, and the leaderboard as a prior."""

from collections.abc import Iterator, Sequence
from typing import Any

from bot.bakeoffs.render.leaderboard_tables import (
    Addition,
    Leaderboard,
    interval_text,
    percent,
    signed_number,
)
from bot.chat import Heading, Line, Note, Part, Post, Table
from bot.render.formatting import (
    count_noun,
    join_words,
    number_table,
    number_word,
    ordinal,
    seat_names,
)
from council.research.judge_weights import (
    FAMILY,
    HUMAN,
    INDEPENDENCE,
    MIN_INDEPENDENT_JUDGES,
    PEERRANK,
    UNIFORM,
)
from council.research.posterior import ANSWER_SD, WinChance
from council.research.weighted_leaderboard import WeightedBoard, WeightedLine
from council.rounds import Draw, Round
from council.tally.consistency import CONSISTENCY, JudgeWeight

_MAX_CHANCE = 0.99
_PRIOR_TITLE = "With the leaderboard as a prior"


# --- Weighted judges

_TITLES = {
    UNIFORM: "With judges weighted equally",
    CONSISTENCY: "With judges weighted by consistency",
    HUMAN: "With judges weighted by what people chose",
    FAMILY: "With judges weighted by family",
    PEERRANK: "With judges weighted by PeerRank",
    INDEPENDENCE: "With judges weighted by independence",
}
_NEED_TEXTS = {
    CONSISTENCY: "Consistency needs {need} repeated rankings of one judge; the most so far is "
    "{have}.",
    HUMAN: "What people chose needs {need} votes ({have} so far). Cast one with `/council vote`.",
    INDEPENDENCE: "Independence needs {need} rounds that the same "
    f"{number_word(MIN_INDEPENDENT_JUDGES)} judges or more ranked ({{have}} so far).",
}
_BASIS_COLUMNS = {
    CONSISTENCY: ("Consistency", "Repeated rankings"),
    HUMAN: ("β", "Votes"),
    FAMILY: ("Mean weight", "Rankings"),
    PEERRANK: ("Own score", ""),
    INDEPENDENCE: ("Shared error", "Common rounds"),
}
_WEIGHING_NOTES = {
    CONSISTENCY: "A judge that ranks the same way when it sees the answers in another order "
    "weighs more: (2c − 1)² of the pairs it ranks the same way, pulled a quarter "
    "of the way to equal weights. A judge that is consistently wrong weighs as "
    "much as one that is consistently right.",
    HUMAN: "A judge whose rankings predict what people chose weighs more. Only blind votes count.",
    FAMILY: "In each round a judge weighs 1 / the number of valid rankings by its maker, so "
    "that every maker has one voice.",
    PEERRANK: "A judge weighs as much as its own answers are worth, but at least a quarter of "
    "an equal weight. This assumes that good authors judge well.",
    INDEPENDENCE: "A judge whose errors resemble those of others weighs less, pulled half of the "
    "way to equal weights. What most judges agree on is taken for the quality of the answers, so "
    "an error that most share goes unseen.",
}
_UNOFFICIAL_NOTE = "This is in addition to the official places and changes none of them."


def weighted_addition(leaderboard: Leaderboard, board: WeightedBoard) -> Addition:
    """Return the board by weighted judges, to be shown after a leaderboard."""
    parts = tuple(_board_parts(leaderboard, board))
    return Addition(parts, _weighted_document(board, leaderboard))


def _board_parts(leaderboard: Leaderboard, board: WeightedBoard) -> Iterator[Part]:
    yield Heading(_TITLES[board.weights.name])
    if not board.rows:
        yield Line(_no_weights_line(board))
        return
    yield Line(_changed_line(leaderboard, board))
    yield _member_table(leaderboard, board)
    if board.weights.name != UNIFORM:
        yield Line("What each judge weighs, of the total:")
        yield _judge_table(leaderboard, board)
    yield Note(
        " ".join(
            filter(
                None, (_WEIGHING_NOTES.get(board.weights.name), _coverage_note(leaderboard, board))
            )
        )
    )


def _no_weights_line(board: WeightedBoard) -> str:
    weighing = board.weights
    if weighing.is_usable:
        return "The rankings of these rounds were not saved, only their results."
    text = _NEED_TEXTS[weighing.name].format(need=weighing.need, have=weighing.have)
    return f"{text} Until then judges are weighted equally."


def _changed_line(leaderboard: Leaderboard, board: WeightedBoard) -> str:
    """Return what the weights change, in one sentence."""
    if not board.moved:
        return "The order is the same as with equal weights."
    moves = join_words(
        f"{leaderboard.name(line.member)} is {ordinal(line.rank)} instead of "
        f"{ordinal(line.uniform_rank)}"
        for line in board.moved
    )
    return f"By average points, {moves}."


def _member_table(leaderboard: Leaderboard, board: WeightedBoard) -> Table:
    columns = ("", "Model", "Weighed", "95 % interval", "Alike", "Change", "Rounds")
    rows = tuple(_member_row(leaderboard, line) for line in board.rows)
    return Table(columns, rows, frozenset({0, 2, 3, 4, 5, 6}))


def _member_row(leaderboard: Leaderboard, line: WeightedLine) -> tuple[str, ...]:
    alike = f"{percent(line.uniform)} ({ordinal(line.uniform_rank)})"
    change = signed_number(line.change) if abs(line.change) >= 0.005 else "0"  # noqa: PLR2004
    name = leaderboard.name(line.member)
    share = percent(line.share)
    return (str(line.rank), name, share, interval_text(line.ci), alike, change, str(line.rounds))


def _judge_table(leaderboard: Leaderboard, board: WeightedBoard) -> Table:
    weighing = board.weights
    basis, observed = _BASIS_COLUMNS[weighing.name]
    columns = ("Judge", "Weight", basis, *([observed] if observed else []))
    heaviest = sorted(weighing.judges, key=lambda line: (-line.weight, line.judge))
    rows = (_judge_row(leaderboard, line, has_count=bool(observed)) for line in heaviest)
    return number_table(columns, rows)


def _judge_row(leaderboard: Leaderboard, line: JudgeWeight, *, has_count: bool) -> tuple[str, ...]:
    basis = "too few to say" if line.basis is None else f"{line.basis:.2f}".replace("-", "−")
    return (
        leaderboard.name(line.judge),
        percent(line.weight),
        basis,
        *([str(line.n)] if has_count else []),
    )


def _coverage_note(leaderboard: Leaderboard, board: WeightedBoard) -> str:
    without = leaderboard.coverage.rounds - board.rounds
    if without <= 0:
        return _UNOFFICIAL_NOTE
    return f"{_UNOFFICIAL_NOTE} {count_noun(without, 'round')} have no saved rankings."


def _weighted_document(board: WeightedBoard, leaderboard: Leaderboard) -> dict[str, Any]:
    """Return the board by weighted judges; without usable weights it has no rows."""
    return {
        "weights": board.weights.name,
        "is_usable": board.weights.is_usable,
        "have": board.weights.have,
        "need": board.weights.need,
        "rounds": board.rounds,
        "rows": [_weighted_row_document(line, leaderboard) for line in board.rows],
        "moved": [line.member for line in board.moved],
        "judges": [_weight_document(line, leaderboard) for line in board.weights.judges],
    }


def _weighted_row_document(line: WeightedLine, leaderboard: Leaderboard) -> dict[str, Any]:
    return {
        "member": line.member,
        "name": leaderboard.name(line.member),
        "rank": line.rank,
        "share": line.share,
        "ci": [*line.ci],
        "uniform_rank": line.uniform_rank,
        "uniform_share": line.uniform,
        "change": line.change,
        "rounds": line.rounds,
    }


def _weight_document(line: JudgeWeight, leaderboard: Leaderboard) -> dict[str, Any]:
    return {
        "judge": line.judge,
        "name": leaderboard.name(line.judge),
        "weight": line.weight,
        "basis": line.basis,
        "n": line.n,
    }


# --- Leaderboard as a prior

_PRIOR_COLUMNS = (
    "Answer",
    "By",
    ("From the leaderboard alone"),
    "With this round's rankings",
    "Counted",
)
_PRIOR_NOTE = (
    "The estimated chance that each answer is the best of the round. It combines the model's "
    "strength on the leaderboard of earlier rounds, from which an answer varies by {stray:g} in "
    "log-odds, with this round's rankings. It is not confirmed that this finds better answers. The "
    "official result does not use the leaderboard and stays the same."
)


def prior_post(round_: Round, draw: Draw, chances: Sequence[WinChance], rounds: int) -> Post:
    """Return the chances, likeliest first, with each answer's place in the official count."""
    names = seat_names(round_.panel)
    labels = dict(draw.labels.pairs)
    lines = round_.tally.standings if round_.tally else ()
    places = {line.label: line.place for line in lines if line.share is not None}
    rows = tuple(
        (
            f"Response {labels[chance.member]}",
            names[chance.member],
            _chance_text(chance.before),
            _chance_text(chance.after),
            str(places.get(labels[chance.member], "–")),
        )
        for chance in chances
    )
    parts = (
        Heading(_PRIOR_TITLE),
        Table(_PRIOR_COLUMNS, rows, frozenset({2, 3, 4})),
        Note(
            f"{_PRIOR_NOTE.format(stray=ANSWER_SD)} The leaderboard counts "
            f"{count_noun(rounds, 'round')}."
        ),
    )
    return Post(parts, _PRIOR_TITLE)


def _chance_text(share: float) -> str:
    """Return a chance, at most "over 99 %" and at least "under 1 %"."""
    if share > _MAX_CHANCE:
        return "over 99 %"
    return percent(share) if share >= 1 - _MAX_CHANCE else "under 1 %"


def too_few_rounds_post(round_: Round, rounds: int, min_rounds: int) -> Post:
    """Return that there is too little data to say."""
    reason = (
        f"Needs {min_rounds} earlier rounds ({rounds} so far)."
        if rounds < min_rounds
        else f"Round {round_.id} has no valid ranking."
    )
    return Post((Heading(_PRIOR_TITLE), Line(reason)), _PRIOR_TITLE)
