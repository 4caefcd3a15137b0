"""The one honest line under an answer."""

from bot.render.figures import counted, duration, in_words, listed, money, points, total
from bot.render.names import authors_of
from council.rounds import Round
from council.tally import Standing, Strength, Tally

CHECK = "written by AI, check what matters"


def verdict_line(round_: Round) -> str:
    """Give who came first and how sure that is, who took part, time and cost."""
    parts = [_first(round_), *_strength(round_), _turnout(round_), *_demonstration(round_)]
    if round_.closing:
        parts.append(duration(round_.closing.seconds))
    parts.append(money(total(reply.cost_usd for reply in round_.replies)))
    return " · ".join([part for part in parts if part] + [CHECK])


def agreement_line(round_: Round) -> str | None:
    """Give how far the judges agreed, from −1 (opposite) to 1 (the same); None if unknown."""
    tau = round_.tally.verdict.agreement.tau_b if round_.tally else None
    if tau is None:
        return None
    return f"Judges' agreement: {tau:+.2f} (mean Kendall τ_b; 1 is full agreement, 0 is chance)"


def _first(round_: Round) -> str:
    if not round_.tally or not round_.draw:
        return ""
    lines = round_.tally.standings
    authors = authors_of(round_.panel, round_.draw)
    first = [line for line in lines if line.place == 1]
    if not first:
        return "No ranking: nobody was left to judge" if len(lines) else _unranked(round_)
    if len(first) == len(lines):
        return f"No first place: all {in_words(len(first))} answers came out equal"
    if len(first) > 1:
        tied = listed(authors[line.label] for line in first)
        return f"Tied first: {tied}, {points(first[0].points, first[0].max_points)} points"
    return f"First: {authors[first[0].label]}, {_votes(first[0], round_.tally)}"


def _unranked(round_: Round) -> str:
    answers = len(round_.answers)
    if answers == 1:
        return "One answer, nothing to rank"
    if round_.draw and not round_.draw.slates:
        return f"{in_words(answers).capitalize()} answers, nobody left to judge"
    return "No ballot counts, so there is no ranking"


def _votes(line: Standing, tally: Tally) -> str:
    on, of = tally.verdict.first_on
    return f"on {on} of {counted(of, 'ballot')}, {points(line.points, line.max_points)} points"


def _strength(round_: Round) -> list[str]:
    if not round_.tally or not round_.tally.standings:
        return []
    found = round_.tally.verdict
    doubt = ", too few judges to rule out chance" if found.too_few_judges else ""
    if found.strength is Strength.NO_CONSENSUS:
        return [f"no consensus{doubt}"]
    return [f"{found.strength.value}{doubt}"]


def _turnout(round_: Round) -> str:
    seats, answered = len(round_.panel.members), len(round_.answers)
    slates = len(round_.draw.slates) if round_.draw else 0
    count = sum(ballot.counts for ballot in round_.ballots)
    voted = f", {count} of {counted(slates, 'ballot')} {'counts' if slates == 1 else 'count'}"
    return f"{answered} of {seats} answered{voted if slates else ''}"


def _demonstration(round_: Round) -> list[str]:
    if not any(seat.demonstration for seat in round_.panel.judges):
        return []
    models = [seat.model_id for seat in round_.panel.members]
    shared = len(set(models)) < len(models)
    return ["demonstration models" + (", one model in two seats" if shared else "")]
