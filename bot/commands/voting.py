"""Votes of people for the best answer of a round."""

import re
from dataclasses import replace

from bot.access import check_admitted
from bot.chat import Chat, IncomingMessage, Line, Note, Post, send_note
from bot.commands.parameters import Arguments
from bot.commands.reveal import is_held
from bot.commands.rounds import FeedbackError, find_round_or_last, load_readable_round
from bot.context import AppContext
from bot.render.formatting import author_names, join_words
from bot.render.people import with_names
from bot.render.voting import (
    choice_post,
    has_its_answers,
    is_votable,
    offer_post,
    takes_blind_votes,
    voting_posts,
)
from council.feedback import HumanVote
from council.labels import Label
from council.methods import shown_method
from council.rounds import Draw, Round

NOT_BLIND = "You have already seen who wrote what, so this vote is not blind."


async def vote(app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments) -> None:
    """Store a vote for the best answer of a round; without one, show the answers to choose from."""
    round_ = await find_round_or_last(app, message, arguments.get("round", ""))
    if "answer" in arguments:
        hides_result = await is_held(app, round_)
        cast = await cast_vote(
            app, round_, message.asker.id, arguments["answer"], hides_result=hides_result
        )
        line = voted_line(round_, cast, hides_result=hides_result)
        await send_note(chat, message, line)
        return
    held = await is_held(app, round_)
    if chat.is_room and (held or takes_blind_votes(round_)):
        posts = [offer_post(round_.id, is_held=held)]
    elif chat.is_room:
        posts = [choice_post(round_, draw_to_vote_on(round_))]
    else:
        posts = await posts_to_vote(app, message, round_.id)
    for post in posts:
        await chat.send_ephemeral(message, post)


async def posts_to_vote(app: AppContext, message: IncomingMessage, round_id: str) -> list[Post]:
    """Return the answers of a round without their authors.

    Raise FeedbackError for a round with a result, RoundNotFoundError for one that may not be read
    here.
    """
    round_ = await load_readable_round(app, message, round_id)
    draw = draw_to_vote_on(round_)
    if not takes_blind_votes(round_) and not await is_held(app, round_):
        names = author_names(round_.panel, draw)
        labels = join_words(f"{label} ({names[label]})" for label in sorted(names))
        raise FeedbackError(
            f"Round {round_.id} has its result, so the answers are no longer without names. "
            f"Name the best of {labels}: `/council vote {round_.id} LETTER`."
        )
    posts = voting_posts(round_, await own_vote(app, round_id, message.asker.id))
    order = " ".join(sorted(draw.labels.labels))  # a shell takes ">" for a file
    hint = Note(f"To rank all of them, best first: `/council vote last {order}`")
    posts = [*posts[:-1], replace(posts[-1], parts=(*posts[-1].parts, hint))]
    return [with_names(post, round_) for post in posts]


async def cast_pressed(app: AppContext, message: IncomingMessage, value: str) -> tuple[Round, Post]:
    """Store the vote of a button; return its round and the confirmation.

    Raise CouncilError for a vote that may not be cast here.
    """
    check_admitted(app.access, message)
    round_id, _, letter = value.rpartition(":")
    round_, by = await load_readable_round(app, message, round_id), message.asker.id
    hides_result = bool(round_.bakeoff) or await is_held(app, round_)
    cast = await cast_vote(app, round_, by, letter, hides_result=hides_result)
    line = voted_line(round_, cast, hides_result=hides_result)
    return round_, Post((Line(line),), line)


async def cast_vote(
    app: AppContext, round_: Round, by: str, choice: str, *, hides_result: bool = False
) -> HumanVote:
    """Store a person's vote, and return the one that stands: a blind one outlives the result.

    `choice` is the letter of the best answer, or an order as in "K > M = L". With `hides_result`,
    it was made where the result is not shown: in a bake-off, or before the reveal. Raise
    FeedbackError if there are no two answers, or for a letter that the round does not have.
    """
    draw = draw_to_vote_on(round_)
    ranking = _parse_ranking(round_, draw, choice)
    label = Label(ranking[0][0])
    author = draw.labels.author_of(label)
    cast = HumanVote(round_.id, by, label, author, app.now(), hides_result, ranking)
    return await app.store.vote(cast, hides_result=hides_result)


def _parse_ranking(round_: Round, draw: Draw, choice: str) -> tuple[tuple[str, ...], ...]:
    if not choice.strip():
        raise FeedbackError("Mark the best answer, or name it by its letter.")
    text = re.sub(r"\s*=\s*", "=", choice.upper().removeprefix("RESPONSE").strip())
    ranking = tuple(tuple(place.split("=")) for place in re.split(r"[\s>,]+", text))
    named, known = [label for place in ranking for label in place], draw.labels.labels
    if unknown := [label for label in named if label not in known]:
        raise FeedbackError(
            f"There is no Response {unknown[0][:20]}. Choose {join_words(sorted(known))}."
        )
    if len({*named}) < len(named) or len(ranking[0]) > 1:
        raise FeedbackError(
            "Name one best answer, and each other one at most once, as in "
            f"`{' > '.join(sorted(known))}`."
        )
    return ranking


def draw_to_vote_on(round_: Round) -> Draw:
    """Return the draw of a round that takes votes; raise FeedbackError, which says why not."""
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


def voted_line(round_: Round, cast: HumanVote, *, hides_result: bool) -> str:
    """Return the confirmation of the vote that stands."""
    author = author_names(round_.panel, draw_to_vote_on(round_))[cast.label]
    if cast.blind and round_.closing and not hides_result:
        return f"Noted: your blind vote is for {author}."
    if cast.blind:
        is_final = round_.bakeoff or (round_.tally and not hides_result)
        until = "" if is_final else " You can change it until the result."
        return f"Noted: your blind vote is for Response {cast.label}.{until}"
    if not round_.closing:
        return f"Noted: you chose Response {cast.label}. The result came first, so it is not blind."
    return f"Noted: you chose {author} as the best. {NOT_BLIND}"


async def own_vote(app: AppContext, round_id: str, by: str) -> HumanVote | None:
    """Return a person's vote on a round, else None."""
    cast = await app.store.votes(round_id)
    return next((one for one in cast if one.by == by), None)
