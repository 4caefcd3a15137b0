"""The results of a closed round: who wrote what, points, weights and agreement."""

from collections.abc import Iterable, Iterator

from bot.chat import Heading, Line, Note, Post, Table
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
    """Return where the answers differ and who wrote what: the Borda table, or a plain list."""
    columns: tuple[str, ...] = ("Model", "Time", "Cost", "Response")
    if round_.tally and round_.tally.standings:
        columns = ("", "Model", "Points", "First votes", "Time", "Cost", "Response")
    rows = tuple(_result_cells(*row) for row in result_rows(round_, draw))
    numeric = frozenset(i for i, name in enumerate(columns) if name not in {"Model", "Response"})
    notes = [*result_notes(round_), *flag_notes(round_)]
    table = Table(columns, rows, numeric)
    parts = (Heading(_TITLE), *agreement_parts(round_, draw), table, *map(Note, notes))
    return Post(parts, _TITLE)


def result_rows(round_: Round, draw: Draw) -> list[ResultRow]:
    """Return each answer's label, author, standing if it was ranked, and reply, best first."""
    names = author_names(round_.panel, draw)
    standings = {line.label: line for line in (round_.tally.standings if round_.tally else ())}
    replies = {draw.labels.label_of(answer.member): answer.reply for answer in round_.revised}
    labels = ordered_labels(round_, draw)
    return [(label, names[label], standings.get(label), replies[label]) for label in labels]


def _result_cells(label: Label, name: str, line: Standing | None, reply: Reply) -> tuple[str, ...]:
    use = (duration(reply.seconds), money(reply.cost_usd).removeprefix("cost "), label)
    if not line:
        return (name, *use)
    return (
        str(line.place),
        name,
        points(line.points, line.max_points),
        str(line.first_votes),
        *use,
    )


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
    """Yield who wrote the answer, how far the judges agreed, and what weights change, if known.

    First what this program lacks to recompute the round.
    """
    if missing := missing_rules(round_):
        yield missing
    yield from _chairman_notes(round_)
    tau = round_.tally.verdict.agreement.tau_b if round_.tally else None
    if tau is not None:
        agreed = f"{tau:+.2f}".replace("-", "−")
        yield f"Judges' agreement: {agreed} (mean Kendall τ_b; 1 is full agreement, 0 is chance)."
    yield from _weight_notes(round_)


def _weight_notes(round_: Round) -> Iterator[str]:
    """Yield the result by judges weighted by consistency, or that the official one is so."""
    weighted, tally = weighted_standings(round_), round_.tally
    if not weighted or not tally:
        return
    if shown_method(round_).is_weighted:
        yield "Judges weigh by their consistency in earlier rounds."
        return
    first = {line.label for line in tally.standings if line.place == 1}
    now = {line.label for line in weighted if line.place == 1}
    change = "The winner stays the same" if now == first else f"{join_words(sorted(now))} would win"
    shares, official = map(_share_list, (weighted, tally.standings))
    yield f"Weighted by consistency: {shares} (official: {official}). {change}."


def _share_list(lines: Iterable[Standing]) -> str:
    known = ((line.label, line.share) for line in lines if line.share is not None)
    return ", ".join(f"{label} {share:.2f}" for label, share in known)


def _chairman_notes(round_: Round) -> Iterator[str]:
    """Yield which chairman wrote the answer, and from what; nothing if none did."""
    written = round_.synthesis
    if written and written.chairman:
        drawn_on = join_words(written.drawn_on or ())
        drew = f"used {drawn_on}" if drawn_on else "did not name its sources"
        name = seat_names(round_.panel)[written.chairman]
        how = "saw the answers without names and " if shown_method(round_).is_blind else ""
        yield f"Chairman: {name}, who {how}{drew}."


def ordered_labels(round_: Round, draw: Draw) -> list[Label]:
    """Return the labels in the order of the standings, or by letter without any."""
    standings = round_.tally.standings if round_.tally else ()
    return [line.label for line in standings] or sorted(draw.labels.labels)
