"""The results of a closed round: who wrote what, points, weights and agreement."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from bot.chat import PLACE, Heading, Line, Note, Part, Post, Table
from bot.render.agreement import agreement_parts
from bot.render.formatting import (
    author_names,
    count_noun,
    duration,
    join_words,
    money,
    points,
    seat_names,
)
from bot.render.round_report.flags import flag_notes
from council.answers import Reply
from council.labels import Label
from council.methods import missing_rules, shown_method
from council.round_rules import weighted_standings
from council.rounds import Draw, Round
from council.tally import Standing

_TITLE = "Results"
ResultRow = tuple[Label, str, Standing | None, Reply]


def results_post(round_: Round, draw: Draw) -> Post:
    """Return who wrote what and where the answers differ: the Borda table, or a plain list."""
    notes = [*result_notes(round_), *flag_notes(round_)]
    table = _result_table(round_, draw)
    parts = (Heading(_TITLE), *table, *agreement_parts(round_, draw), *map(Note, notes))
    return Post(parts, _TITLE)


def _result_table(round_: Round, draw: Draw) -> tuple[Part, ...]:
    """Return the table of a phone's width, and a line on what the answers took."""
    rows = result_rows(round_, draw)
    if not round_.tally or not round_.tally.standings:
        took = [(name, duration(reply.seconds), _cost_cell(reply)) for _, name, _, reply in rows]
        return (Table(("Model", "Time", "Cost"), tuple(took), frozenset({1, 2})),)
    columns = (PLACE, "Model", "Points", "First votes")
    ranked = tuple(
        (str(line.place), name, points(line.points, line.max_points), str(line.first_votes))
        for _, name, line, _ in rows
        if line
    )
    use = _use_text([reply for *_, reply in rows])
    return Table(columns, ranked, frozenset({0, 2, 3})), Note(use)


def _cost_cell(reply: Reply) -> str:
    return money(reply.cost_usd).removeprefix("cost ")


def _use_text(replies: Iterable[Reply]) -> str:
    """Return the time and cost of the answers: "4.1 to 9.6 s · $0.012 to $0.019 each"."""
    replies = [*replies]
    costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    parts = [_range_text(duration, [reply.seconds for reply in replies])]
    parts += [_range_text(money, costs)] if costs else []
    if len(costs) < len(replies):
        parts.append(f"cost unknown for {len(replies) - len(costs)}" if costs else "cost unknown")
    return " · ".join(parts) + (" each" if costs else "")


def _range_text(format_number: Callable[[float], str], values: Sequence[float]) -> str:
    """Return the smallest and the largest value with its unit: "4.1 to 9.6 s"."""
    least, most = format_number(min(values)), format_number(max(values))
    if least == most:
        return most
    unit = f" {least.rpartition(' ')[2]}"
    return f"{least.removesuffix(unit) if most.endswith(unit) else least} to {most}"


def result_rows(round_: Round, draw: Draw) -> list[ResultRow]:
    """Return each answer's label, author, standing if it was ranked, and reply, best first."""
    names = author_names(round_.panel, draw)
    standings = {line.label: line for line in (round_.tally.standings if round_.tally else ())}
    replies = {draw.labels.label_of(answer.member): answer.reply for answer in round_.revised}
    labels = ordered_labels(round_, draw)
    return [(label, names[label], standings.get(label), replies[label]) for label in labels]


def result_lines(round_: Round) -> Iterator[Line]:
    """Yield a line for each model, in the order of the standings."""
    for _, name, line, reply in result_rows(round_, round_.draw) if round_.draw else ():
        facts = [f"**{name}**"]
        if line:
            score = f"{points(line.points, line.max_points)} points"
            facts = [f"**{line.place}. {name}**", score, count_noun(line.first_votes, "first vote")]
        facts.append(duration(reply.seconds))
        facts += [] if reply.cost_usd is None else [money(reply.cost_usd)]
        yield Line(" · ".join(facts))


def result_notes(round_: Round) -> Iterator[str]:
    """Yield who wrote the answer, and what weights change, if known.

    First what this program lacks to recompute the round.
    """
    if missing := missing_rules(round_):
        yield missing
    names = author_names(round_.panel, round_.draw) if round_.draw else {}
    yield from _chairman_notes(round_, names)
    yield from _weight_notes(round_, names)


def agreement_note(round_: Round) -> str:
    """Return how far the judges agreed, for those who read details; "" if that is unknown."""
    tau = round_.tally.verdict.agreement.tau_b if round_.tally else None
    if tau is None:
        return ""
    figure = f"{tau:.2f}".replace("-", "−")
    return f"Judges {_agreement_word(tau)} ({figure}; 1 is full agreement, 0 is chance)."


def _agreement_word(tau: float) -> str:
    """Return how far judges agreed: "agreed a little"."""
    words = ((-0.05, "disagreed"), (0.05, "neither agreed nor disagreed"), (0.5, "agreed a little"))
    return next((word for below, word in words if tau < below), "mostly agreed")


def _weight_notes(round_: Round, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the result by judges weighted by consistency, or that the official one is so."""
    weighted, tally = weighted_standings(round_), round_.tally
    if not weighted or not tally:
        return
    if shown_method(round_).is_weighted:
        yield "Judges weigh by their consistency in earlier rounds."
        return
    first = {line.label for line in tally.standings if line.place == 1}
    now = {line.label for line in weighted if line.place == 1}
    winners = join_words(sorted(names[label] for label in now))
    change = "The winner stays the same" if now == first else f"{winners} would win"
    shares, official = (_share_list(lines, names) for lines in (weighted, tally.standings))
    yield f"Weighted by consistency: {shares} (official: {official}). {change}."


def _share_list(lines: Iterable[Standing], names: Mapping[str, str]) -> str:
    known = ((names[line.label], line.share) for line in lines if line.share is not None)
    return ", ".join(f"{name} {share:.2f}" for name, share in known)


def _chairman_notes(round_: Round, names: Mapping[str, str]) -> Iterator[str]:
    """Yield which chairman wrote the answer, and from what; nothing if none did."""
    written = round_.final
    if written and written.chairman:
        drawn_on = join_words(names[label] for label in written.drawn_on if label in names)
        name = seat_names(round_.panel)[written.chairman]
        used = f" It used the answers of {drawn_on}." if drawn_on else ""
        yield f"Chairman: {name}.{used}"


def ordered_labels(round_: Round, draw: Draw) -> list[Label]:
    """Return the labels in the order of the standings, or by letter without any."""
    standings = round_.tally.standings if round_.tally else ()
    return [line.label for line in standings] or sorted(draw.labels.labels)
