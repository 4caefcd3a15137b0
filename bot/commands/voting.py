"""Votes of people for the best answer of a round, or question by question in a bake-off."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from bot.access import check_admitted
from bot.bakeoffs.commands.bakeoffs import find_bakeoff
from bot.bakeoffs.render.bakeoffs import bakeoff_title
from bot.chat import (
    Button,
    Buttons,
    Chat,
    Heading,
    IncomingMessage,
    Line,
    Note,
    Part,
    Post,
    Prose,
    send_note,
)
from bot.commands.parameters import LAST, Arguments
from bot.commands.rounds import FeedbackError, find_round_or_last, load_readable_round
from bot.context import AppContext
from bot.render.formatting import author_names, count_noun, join_words
from bot.render.voting import (
    BAKEOFF_VOTE,
    READ_AND_VOTE,
    VOTE,
    has_its_answers,
    is_votable,
    offer_post,
    takes_blind_votes,
    voting_posts,
)
from council.bakeoffs.models import Bakeoff, split_round_id
from council.feedback import HumanVote
from council.labels import Label
from council.methods import shown_method
from council.ports import RoundQuery
from council.randomness import shuffle
from council.rounds import Draw, Round

NOT_BLIND = "You have already seen who wrote what, so this vote is not blind."
NO_MORE = "You have voted on every question that has answers to compare. Thank you."


async def vote(app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments) -> None:
    """Store a vote for the best answer of a round; without one, show the answers to choose from."""
    round_ = await find_round_or_last(app, message, arguments["round"])
    if "answer" in arguments:
        cast = await cast_vote(app, round_, message.asker.id, arguments["answer"])
        await send_note(chat, message, voted_line(round_, cast))
        return
    posts: Sequence[Post] = [offer_post(round_.id)]
    if not chat.is_room or not takes_blind_votes(round_):
        posts = await posts_to_vote(app, message, VOTE, round_.id)
    for post in posts:
        await chat.send_ephemeral(message, post)


async def bakeoff_vote(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Show how far the voting in a bake-off is, and the way to the next question."""
    bakeoff = await find_bakeoff(app, message, name or LAST)
    line = await voting_progress(app, bakeoff, message.asker.id)
    how: Part = Buttons((Button(BAKEOFF_VOTE, READ_AND_VOTE, bakeoff.id),))
    if not chat.is_room:
        how = Note(f"Vote on its page, or in a shell: `council bakeoff vote {bakeoff.id}`")
    await chat.send_ephemeral(
        message, Post((Heading(bakeoff_title(bakeoff)), Line(line), how), line)
    )


async def posts_to_vote(
    app: AppContext, message: IncomingMessage, action: str, id_: str
) -> list[Post]:
    """Return the answers of a round, or of a bake-off's next question, without their authors.

    Raise FeedbackError for a round with a result, RoundNotFoundError or BakeoffError for one that
    may not be read here.
    """
    by = message.asker.id
    if action == VOTE:
        round_ = await load_readable_round(app, message, id_)
        draw = _draw_of(round_)
        if not takes_blind_votes(round_):
            labels = join_words(sorted(draw.labels.labels))
            raise FeedbackError(
                f"Round {round_.id} has its result, so the answers are no longer without names. "
                f"Name the best of {labels}: `/council vote {round_.id} LETTER`."
            )
        posts = voting_posts(round_, await own_vote(app, id_, by))
        order = " ".join(sorted(draw.labels.labels))  # a shell takes ">" for a file
        hint = Note(f"To rank all of them, best first: `/council vote {round_.id} {order}`")
        return [*posts[:-1], replace(posts[-1], parts=(*posts[-1].parts, hint))]
    bakeoff = await find_bakeoff(app, message, id_)
    progress = Note(await voting_progress(app, bakeoff, by))
    found = await next_question(app, bakeoff, by)
    if found is None:
        return [Post((Line(NO_MORE), progress), NO_MORE)]
    number = split_round_id(found.id)[1]
    title = Heading(f"Question {number} of {len(bakeoff.suite.questions)}")
    first, *others = voting_posts(found, reader=by)
    parts = (title, Prose(found.question.text), progress, *first.parts)
    return [replace(first, parts=parts), *others]


async def next_question(app: AppContext, bakeoff: Bakeoff, by: str) -> Round | None:
    """Return a round of a bake-off that a person has not voted on, in an order of their own."""
    voted = {one.round_id for one in await app.store.votes(bakeoff=bakeoff.id) if one.by == by}
    ids = await app.store.ids(wanted=RoundQuery(bakeoff=bakeoff.id, remembered=True))
    for id_ in shuffle((id_ for id_ in ids if id_ not in voted), bakeoff.id, f"voting {by}"):
        round_ = await app.store.load(id_)
        with suppress(FeedbackError):  # it takes no votes, or not yet
            _draw_of(round_)
            return round_
    return None


async def voting_progress(app: AppContext, bakeoff: Bakeoff, by: str) -> str:
    """Return how many questions of a bake-off have votes, of how many people."""
    votes = await app.store.votes(bakeoff=bakeoff.id)
    voted = len({one.round_id for one in votes})
    people = len({one.by for one in votes})
    own = sum(one.by == by for one in votes)
    of = count_noun(len(bakeoff.suite.questions), "question")
    return (
        f"{voted} of {of} voted, by {'1 person' if people == 1 else f'{people} people'}; "
        f"{own} by you. Vote before you look at the results."
    )


async def cast_pressed(app: AppContext, message: IncomingMessage, value: str) -> tuple[Round, Post]:
    """Store the vote of a button; return its round and the confirmation.

    Raise CouncilError for a vote that may not be cast here.
    """
    check_admitted(app.access, message)
    round_id, _, letter = value.rpartition(":")
    round_, by = await load_readable_round(app, message, round_id), message.asker.id
    cast = await cast_vote(app, round_, by, letter, hides_result=bool(round_.bakeoff))
    line = voted_line(round_, cast)
    return round_, Post((Line(line),), line)


async def cast_vote(
    app: AppContext, round_: Round, by: str, choice: str, *, hides_result: bool = False
) -> HumanVote:
    """Store a person's vote, and return the one that stands: a blind one outlives the result.

    `choice` is the letter of the best answer, or an order as in "K > M = L". With `hides_result`,
    it was made where a bake-off's results are not shown. Raise FeedbackError if there are no two
    answers, or for a letter that the round does not have.
    """
    draw = _draw_of(round_)
    ranking = _parse_ranking(round_, draw, choice)
    label = Label(ranking[0][0])
    author = draw.labels.author_of(label)
    return await app.store.vote(
        HumanVote(round_.id, by, label, author, app.now(), hides_result, ranking)
    )


def _parse_ranking(round_: Round, draw: Draw, choice: str) -> tuple[tuple[str, ...], ...]:
    if not choice.strip():
        raise FeedbackError("Mark the best answer, or name it by its letter.")
    text = re.sub(r"\s*=\s*", "=", choice.upper().removeprefix("RESPONSE").strip())
    ranking = tuple(tuple(place.split("=")) for place in re.split(r"[\s>,]+", text))
    named, known = [label for place in ranking for label in place], draw.labels.labels
    if unknown := [label for label in named if label not in known]:
        raise FeedbackError(
            f"Round {round_.id} has no Response {unknown[0][:20]}. Choose "
            f"{join_words(sorted(known))}."
        )
    if len({*named}) < len(named) or len(ranking[0]) > 1:
        raise FeedbackError(
            "Name one best answer, and each other one at most once, as in "
            f"`{' > '.join(sorted(known))}`."
        )
    return ranking


def _draw_of(round_: Round) -> Draw:
    if round_.forgotten:
        raise FeedbackError(f"The answers of round {round_.id} have been forgotten.")
    if not round_.closing and not (method := shown_method(round_)).is_ranked:
        raise FeedbackError(
            f"Nobody votes in round {round_.id} while it runs: method {method.name} ranks nothing. "
            "You can mark the best answer when it is finished."
        )
    if round_.draw and not has_its_answers(round_):
        raise FeedbackError(f"Round {round_.id} takes no votes yet. Vote when its judges do.")
    if round_.draw is None and not round_.closing:
        raise FeedbackError(f"Round {round_.id} is not finished yet. Wait for its answers.")
    if round_.draw is None or not is_votable(round_):
        raise FeedbackError(
            f"Round {round_.id} has fewer than two answers, so there is nothing to choose."
        )
    return round_.draw


def voted_line(round_: Round, cast: HumanVote) -> str:
    """Return the confirmation of the vote that stands."""
    if cast.blind:
        until = "" if round_.tally or round_.bakeoff else " You can change it until the result."
        return f"Noted: your blind vote is for Response {cast.label}.{until}"
    if not round_.closing:
        return f"Noted: you chose Response {cast.label}. The result came first, so it is not blind."
    author = author_names(round_.panel, _draw_of(round_))[cast.label]
    return f"Noted: you chose Response {cast.label}, by {author}, as the best. {NOT_BLIND}"


async def own_vote(app: AppContext, round_id: str, by: str) -> HumanVote | None:
    """Return a person's vote on a round, else None."""
    cast = await app.store.votes(round_id)
    return next((one for one in cast if one.by == by), None)
