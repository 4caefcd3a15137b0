"""What a method asked besides answers and rankings: critiques, revisions, grades."""

from bot.chat import Heading, Line, Part, Post, Quote
from bot.render.formatting import author_names, join_words, seat_names
from bot.render.round_report.flags import name_suspects
from bot.render.round_report.revealed import mention_names
from bot.render.text_safety import shorten
from council.filters import FILTER
from council.rounds import REVISION, Round
from council.rubric_grader import GRADE, grade_reasons

EXCHANGES_TITLE = "Also asked"


def exchanges_post(round_: Round, max_text: int | None = None) -> Post | None:
    """Return what else the method asked, texts cut to so many characters; None if nothing."""
    parts: list[Part] = []
    for title, note, text in exchange_rows(round_):
        parts.append(Line(f"**{title}**{': ' if note else ''}{note}"))
        parts += [Quote(shorten(text, max_text) if max_text else text)] if text else []
    return Post((Heading(EXCHANGES_TITLE), *parts), EXCHANGES_TITLE) if parts else None


def exchange_rows(round_: Round) -> list[tuple[str, str, str]]:
    """Return what was asked besides answers and rankings: who about what, what was read, text.

    A revision that counts is among the answers.
    """
    names = seat_names(round_.panel)
    authors = author_names(round_.panel, round_.draw) if round_.draw else {}
    rows = []
    for one in round_.exchanges:
        if one.kind == REVISION and not one.fault:
            continue
        about = f" for {names[one.subject]}" if one.subject in names else ""
        if one.subject in authors:
            about = f" on the answer of {authors[one.subject]}"
        title = f"{one.kind.capitalize()} from {names[one.seat]}{about}"
        read = ", ".join(f"{authors.get(name, name)} {score:.3g}" for name, score in one.scores)
        text = mention_names(round_, one.reply.text, authors)
        if one.kind == FILTER and not one.fault:
            owners = join_words(owner for owner, _ in name_suspects(round_, names))
            read, text = f"suspects {owners or 'nothing'}", ""
        if one.kind == GRADE and not one.fault:
            grades = [f"{key} {'yes' if met else 'no'}" for key, met in one.scores]
            reasons = grade_reasons(round_, one)
            read, text = ", ".join(grades), " ".join(f"{x}: {reasons[x]}" for x in sorted(reasons))
        rows.append((title, f"not counted: {one.fault}" if one.fault else read, text))
    return rows
