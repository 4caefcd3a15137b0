"""The thread of a closed round: the answer first, then what is under it."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from bot.chat import Button, Buttons, Caution, Heading, Note, Part, Post, Prose, Thread
from bot.render.agreement import agreement_parts, split_line
from bot.render.formatting import local_time, seat_names
from bot.render.markdown_parser import first_sentence
from bot.render.round_report.answers import answers_by_label
from bot.render.round_report.cautions import cautions, missing_line
from bot.render.round_report.decisions import (
    decide_button,
    decision_posts,
    own_cautions,
    own_lines,
)
from bot.render.round_report.exchanges import exchanges_post
from bot.render.round_report.rankings import rankings_post
from bot.render.round_report.results import result_lines, results_post
from bot.render.round_report.verdict import verdict_line
from bot.render.voting import READ_AND_VOTE, VOTE
from council.digests import Erasure
from council.ports import RoundSummary
from council.rounds import Draw, Round, Stage

VIEWS = (
    ("answers", "Answers"),
    ("ballots", "Rankings"),
)
RATINGS = (
    ("helpful", "Helpful"),
    ("unhelpful", "Not helpful"),
)
MENU = (
    ("again", "Run again"),
    ("export", "Export"),
    ("forget", "Forget"),
)
REVEAL = "reveal"  # the action
DISCLAIMER = "AI-generated. Agreement is not truth; check what matters."


def whole_round(round_: Round) -> Thread:
    """Return a round with every ranking and answer in full; only its root until it is closed."""
    draw = round_.draw
    if not draw or not (round_.closing or round_.forgotten):
        return Thread(round_post(round_))
    details = details_posts(round_, draw)
    answers = () if round_.forgotten else answers_by_label(round_, draw)
    decided = decision_posts(round_)
    posts = (*decided, results_post(round_, draw), *details, *(post for _, post in answers))
    return Thread(round_post(round_), posts)


def round_post(round_: Round, *, with_results: bool = False) -> Post:
    """Return the answer of a closed round; where it has no thread, with the results and the map."""
    results: Sequence[Part] = ()
    if with_results and round_.draw and not round_.forgotten:
        results = (*result_lines(round_), *agreement_parts(round_, round_.draw))
    answer = round_.final.text if round_.final else ""
    return Post(tuple(_root_parts(round_, results)), first_sentence(answer) or round_title(round_))


def brief_post(round_: Round, *, is_titled: bool = False) -> Post:
    """Return the answer for one who reads alone: no buttons, and by default not the question."""
    left_out = Buttons if is_titled else Buttons | Heading
    post = round_post(round_)
    return Post(tuple(part for part in post.parts if not isinstance(part, left_out)), post.summary)


def held_post(round_: Round, until: datetime) -> Post:
    """Return the answer of a round whose names and table come at a time, or before on a press."""
    again, *_, forget = menu_buttons(round_.id)
    answer = round_.synthesis.text if round_.synthesis else ""
    missing = missing_line(round_, seat_names(round_.panel))
    split = split_line(round_, is_revealed=False)
    parts: tuple[Part, ...] = (
        Heading(round_title(round_)),
        *([Caution(missing)] if missing else []),
        Prose(answer),
        *([Note(split)] if split else []),
        Note(f"Vote first: the names come with Reveal, at the latest {local_time(until)}."),
        Note(DISCLAIMER),
        Buttons(
            (Button(VOTE, READ_AND_VOTE, round_.id), Button(REVEAL, "Reveal", round_.id)),
            (again, forget),
        ),
    )
    return Post(parts, first_sentence(answer) or round_title(round_))


def menu_buttons(round_id: str) -> tuple[Button, ...]:
    """Return the less common buttons under an answer, which a menu shows."""
    return tuple(Button(action, label, round_id) for action, label in MENU)


def round_title(round_: Round) -> str:
    """Return the question, or the title of a forgotten one."""
    return round_.question.text or "A forgotten question"


def round_state(line: RoundSummary) -> str:
    """Return the state of a stored round: "answered", "failed", "unfinished" or "forgotten"."""
    if line.forgotten:
        return "forgotten"
    if line.stage is not Stage.CLOSED:
        return "unfinished"
    return "failed" if line.failed else "answered"


def forgotten_line(forgotten: Erasure) -> str:
    """Return since when the texts are deleted, and what remains."""
    return (
        f"The texts of this round were forgotten on {forgotten.at:%Y-%m-%d}. Its models, "
        "rankings and cost are kept."
    )


def _root_parts(round_: Round, results: Sequence[Part]) -> Iterator[Part]:
    yield Heading(round_title(round_))
    if round_.forgotten:
        yield Caution(forgotten_line(round_.forgotten))
    if round_.closing and round_.closing.failure:
        yield Caution(round_.closing.failure)
        again, *_, forget = menu_buttons(round_.id)
        yield from () if round_.forgotten else (Buttons((again, forget)),)
        return
    if round_.forgotten:
        yield Note(verdict_line(round_))
        return
    yield from map(Caution, cautions(round_))
    yield from own_cautions(round_)
    if round_.final:
        yield Prose(round_.final.text)
    yield from own_lines(round_)
    if split := split_line(round_):
        yield Note(split)
    yield Note(verdict_line(round_))
    yield from results
    yield Note(DISCLAIMER)
    views, ratings = (
        tuple(Button(action, label, round_.id) for action, label in actions)
        for actions in (VIEWS, RATINGS)
    )
    yield Buttons((*views, *decide_button(round_), *ratings), menu_buttons(round_.id))


def details_posts(round_: Round, draw: Draw, max_text: int | None = None) -> tuple[Post, ...]:
    """Return the rankings, and what else the method asked; texts cut to so many characters."""
    rankings = rankings_post(round_, draw, max_text) if draw.slates else None
    return tuple(post for post in (rankings, exchanges_post(round_, max_text)) if post)
