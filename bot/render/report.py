"""A finished round as people read it: the answer first, the rest in the thread."""

from collections.abc import Iterator

from bot.chat import (
    Button,
    Buttons,
    Caution,
    Heading,
    Line,
    Note,
    Part,
    Post,
    Prose,
    Quote,
    Table,
    Thread,
)
from bot.render.audits import audit_lines, ranking_text
from bot.render.cautions import cautions
from bot.render.figures import counted, duration, listed, money, points
from bot.render.forgotten import GONE, forgotten_line
from bot.render.names import authors_of, names_of
from bot.render.verdict_line import agreement_line, verdict_line
from council.ballots import Ballot, SpoiledBallot
from council.labels import Label
from council.rounds import Draw, Round

ACTIONS = (
    ("answers", "Answers"),
    ("ballots", "Ballots"),
    ("again", "Run again"),
    ("suite", "Add to suite"),
    ("export", "Export"),
    ("helpful", "Helpful"),
    ("unhelpful", "Not helpful"),
)
HEADED = "Who wrote what, and how they were ranked"
BLIND = "Each judge saw the others' answers, without names, in an order of its own."


def report(round_: Round) -> Thread:
    """Give a closed round: the answer with its honest line, then the reveal."""
    root = Post(tuple(_root(round_)), title_of(round_))
    if not round_.draw:
        return Thread(root)
    return Thread(root, tuple(_replies(round_, round_.draw)))


def title_of(round_: Round) -> str:
    """Give what a round goes by: its question, or that it is forgotten."""
    return GONE if round_.forgotten else round_.question.text


def _root(round_: Round) -> Iterator[Part]:
    yield Heading(title_of(round_))
    if round_.forgotten:
        yield Caution(forgotten_line(round_.forgotten))
    if round_.closing and round_.closing.failure:
        yield Caution(round_.closing.failure)
        return
    if round_.forgotten:
        yield Note(verdict_line(round_))
        return
    yield from map(Caution, cautions(round_))
    if round_.synthesis:
        yield Prose(round_.synthesis.text)
    yield Note(verdict_line(round_))
    yield Buttons(tuple(Button(action, label, round_.id) for action, label in ACTIONS))


def _replies(round_: Round, draw: Draw) -> Iterator[Post]:
    yield standings_post(round_, draw)
    if draw.slates:
        yield ballots_post(round_, draw)
    if not round_.forgotten:
        yield from answer_posts(round_, draw)


def standings_post(round_: Round, draw: Draw) -> Post:
    """Give who wrote what: with standings the Borda table, without them the plain list."""
    rows = tuple(_standing_rows(round_, draw)) or tuple(_plain_rows(round_, draw))
    columns: tuple[str, ...] = ("Response", "Author", "Time", "Cost")
    if round_.tally and round_.tally.standings:
        columns = ("", "Response", "Author", "Points", "First votes", "Time", "Cost")
    numeric = frozenset(i for i, name in enumerate(columns) if name not in {"Response", "Author"})
    notes = map(Note, (*_chairman(round_), *_agreement(round_), *_flags(round_)))
    return Post((Heading(HEADED), Table(columns, rows, numeric), *notes), HEADED)


def _chairman(round_: Round) -> Iterator[str]:
    """Say who wrote the answer, and what it says that it drew on."""
    written = round_.synthesis
    if written and written.chairman:
        drawn_on = listed(written.drawn_on or ())
        drew = f"drew on {drawn_on}" if drawn_on else "did not say what it drew on"
        name = names_of(round_.panel)[written.chairman]
        yield f"Chairman: {name}, who saw the answers without names and {drew}."


def _agreement(round_: Round) -> Iterator[str]:
    if agreed := agreement_line(round_):
        yield f"{agreed}."


def _standing_rows(round_: Round, draw: Draw) -> Iterator[tuple[str, ...]]:
    authors = authors_of(round_.panel, draw)
    for line in round_.tally.standings if round_.tally else ():
        yield (
            str(line.place),
            line.label,
            authors[line.label],
            points(line.points, line.max_points),
            str(line.first_votes),
            *_effort(round_, draw, line.label),
        )


def _plain_rows(round_: Round, draw: Draw) -> Iterator[tuple[str, ...]]:
    authors = authors_of(round_.panel, draw)
    for label in sorted(draw.labels.labels):
        yield (label, authors[label], *_effort(round_, draw, label))


def _effort(round_: Round, draw: Draw, label: Label) -> tuple[str, str]:
    author = draw.labels.author_of(label)
    reply = next(answer.reply for answer in round_.answers if answer.member == author)
    return duration(reply.seconds), money(reply.cost_usd).removeprefix("cost ")


def _flags(round_: Round) -> list[str]:
    names = names_of(round_.panel)
    flags = [_about(flag, names) for flag in (round_.tally.verdict.flags if round_.tally else ())]
    flags += [f"{names[a.member]}'s answer {s}" for a in round_.answers for s in a.suspicions]
    return [f"Flag: {flag}." for flag in flags]


def _about(flag: str, names: dict[str, str]) -> str:
    """Give a flag with the seat it begins with under its display name."""
    seat, _, rest = flag.partition(" ")
    return f"{names[seat]} {rest}" if seat in names else flag


def ballots_post(round_: Round, draw: Draw) -> Post:
    """Give every ballot: what the judge saw, how it ranked and why, or what spoiled it."""
    parts: list[Part] = [Heading("Ballots"), Note(BLIND), Note(_opened(round_, draw))]
    names = names_of(round_.panel)
    for slate in draw.slates:
        judge = names[slate.judge]
        shown = " ".join(slate.shown)
        cast = [b for b in round_.ballots if b.judge == slate.judge and b.counts]
        spoiled = [s for s in round_.spoiled if s.judge == slate.judge and not s.is_audit]
        parts += _ballot_parts(judge, shown, cast, spoiled)
        parts += map(Note, audit_lines(round_, slate.judge))
    return Post(tuple(parts), "Ballots")


def _opened(round_: Round, draw: Draw) -> str:
    """Say who stood behind which letter, so that a ranking can be read where it stands."""
    authors = authors_of(round_.panel, draw)
    return f"{listed(f'{label} is {authors[label]}' for label in sorted(authors))}."


def _ballot_parts(
    judge: str, shown: str, cast: list[Ballot], spoiled: list[SpoiledBallot]
) -> Iterator[Part]:
    if not cast:
        yield Line(f"{judge} saw {shown}; no ballot of it counts")
    for ballot in cast:
        yield Line(f"{judge} saw {shown} and ranked {ranking_text(ballot)}")
        if ballot.reason:
            yield Quote(ballot.reason)
    for reply in spoiled:
        yield Note(f"{judge}'s reply {reply.paper.attempt} was not counted: {reply.fault}")
    if any(ballot.paper and ballot.paper.cut_to for ballot in cast):
        yield Note(f"{judge} saw every answer cut to one length, to fit its context")


def answer_posts(round_: Round, draw: Draw) -> Iterator[Post]:
    """Give each answer whole, in the order of the standings, as its author wrote it."""
    yield from (post for _, post in labelled_answers(round_, draw))


def labelled_answers(round_: Round, draw: Draw) -> Iterator[tuple[Label, Post]]:
    """Give the same, each with its label."""
    authors = authors_of(round_.panel, draw)
    texts = {draw.labels.label_of(answer.member): answer for answer in round_.answers}
    lines = round_.tally.standings if round_.tally else ()
    for label in [line.label for line in lines] or sorted(draw.labels.labels):
        answer = texts[label]
        title = f"Response {label}, by {authors[label]}"
        notes = []
        if answer.scrubbed:
            masked = counted(len(answer.scrubbed), "name")
            notes.append(Note(f"Judges and chairman saw it with {masked} masked."))
        if answer.reply.cut:
            notes.append(Note("It ended at its model's token limit."))
        yield label, Post((Heading(title), *notes, Prose(answer.text)), title)
