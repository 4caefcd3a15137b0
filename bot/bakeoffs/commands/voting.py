"""Votes of people in a bake-off, question by question, without the authors' names."""

from contextlib import suppress
from dataclasses import replace

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
)
from bot.commands.parameters import LAST
from bot.commands.rounds import FeedbackError
from bot.commands.voting import draw_to_vote_on
from bot.context import AppContext
from bot.render.formatting import count_noun
from bot.render.voting import READ_AND_VOTE, voting_posts
from council.bakeoffs.models import Bakeoff, split_round_id
from council.ports import RoundQuery
from council.randomness import shuffle
from council.rounds import Round

BAKEOFF_VOTE = "bakeoff_vote"  # the action
NO_MORE = "You have voted on every question that has answers to compare. Thank you."


async def vote_in_bakeoff(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Show how far the voting in a bake-off is, and the way to the next question."""
    bakeoff = await find_bakeoff(app, message, name or LAST)
    line = await voting_progress(app, bakeoff, message.asker.id)
    how: Part = Buttons((Button(BAKEOFF_VOTE, READ_AND_VOTE, bakeoff.id),))
    if not chat.is_room:
        how = Note(f"Vote on its page, or in a shell: `council bakeoff vote {bakeoff.typed_name}`")
    await chat.send_ephemeral(
        message, Post((Heading(bakeoff_title(bakeoff)), Line(line), how), line)
    )


async def next_question_posts(
    app: AppContext, message: IncomingMessage, bakeoff_id: str
) -> list[Post]:
    """Return the answers of a bake-off's next question, without their authors.

    Raise BakeoffError for one that may not be read here.
    """
    by = message.asker.id
    bakeoff = await find_bakeoff(app, message, bakeoff_id)
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
            draw_to_vote_on(round_)
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
