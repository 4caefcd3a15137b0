"""Renderer of people's votes: the answers without names, the offer to vote, and the count.

Until a round has its result, nothing here may show who wrote which answer.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.chat import Button, Buttons, Heading, Line, Note, Post, Prose
from bot.render.formatting import add_note, author_names, join_words
from council.answers import Answer, Role
from council.feedback import HumanVote
from council.labels import MIN_TO_RANK
from council.methods import shown_method
from council.pipeline.session import identifying_names
from council.prompts.shared import anonymize_answer
from council.randomness import shuffle
from council.rounds import Draw, Round

# Actions: read the answers of a round, and choose the best.
VOTE, BEST = "vote", "best"
READ_AND_VOTE = "Read and vote"
LATER = "after the result"
MIN_PUBLIC_VOTERS = 3  # with fewer, the outcome would tell who chose what


@dataclass(frozen=True, slots=True)
class BlindAnswer:
    """An answer without its author; `label` is "" until all are in, `text` until it is written.

    The text of a missing answer is None.
    """

    label: str
    text: str | None


def blind_answers(round_: Round, reader: str = "") -> tuple[BlindAnswer, ...]:
    """Return the answers in an order drawn from the seed, apart from those of the judges.

    It does not depend on who wrote first. In a bake-off, each `reader` has an order to themselves.
    """
    written = {answer.member: answer for answer in round_.revised}
    purpose = f"reading {reader}" if reader else "reading"
    keys = shuffle((seat.key for seat in round_.panel.members), round_.seed, purpose)
    return tuple(_blind_answer(round_, key, written.get(key)) for key in keys)


def _blind_answer(round_: Round, key: str, answer: Answer | None) -> BlindAnswer:
    if answer is None or answer.scrubbed is None:
        return BlindAnswer("", None if round_.absence(key, Role.ANSWER) else "")
    label = round_.draw.labels.label_of(key) if round_.draw else None
    # Who read the others under their names may name any of them.
    is_blind = shown_method(round_).is_blind
    seats = (round_.panel.seat(key),) if is_blind else round_.panel.members
    names = tuple(name for seat in seats for name in identifying_names(seat))
    # Names in a draft were found when it came; a revision may name its author anew.
    is_clean = answer in round_.answers and not answer.scrubbed
    text = answer.text if is_clean else _masked_text(answer.text, names)
    return BlindAnswer(label or "", text)


@lru_cache(maxsize=64)  # every event shows the same answers
def _masked_text(text: str, names: tuple[str, ...]) -> str:
    return anonymize_answer(text, names).text


def is_votable(round_: Round) -> bool:
    """Return whether there are answers to choose from."""
    is_drawn = round_.draw is not None and len(round_.draw.labels.labels) >= MIN_TO_RANK
    return is_drawn and not round_.forgotten


def takes_blind_votes(round_: Round) -> bool:
    """Return whether the judges are voting, so that people may vote blind too."""
    is_over = round_.tally or round_.closing
    is_ranked = shown_method(round_).is_ranked
    return is_votable(round_) and not is_over and is_ranked and has_its_answers(round_)


def has_its_answers(round_: Round) -> bool:
    """Return whether a round's answers stay as they are.

    Where members are asked for more than answers, these may be drafts until a judge ranked.
    """
    asked = shown_method(round_).exchanges(round_.panel).keys()
    may_revise = any(seat.key in asked for seat in round_.panel.members)
    return not may_revise or bool(
        round_.ballots or round_.spoiled or round_.tally or round_.closing
    )


def offer_post(round_id: str, *, is_held: bool = False) -> Post:
    """Return the private offer to vote while the judges do, or until a held reveal."""
    line = "The judges are voting. Which answer is the best? You can vote too, until the result."
    if is_held:
        line = "Which answer is the best? Vote before everybody sees who wrote what."
    return Post((Line(line), Buttons((Button(VOTE, READ_AND_VOTE, round_id),))), line)


def choice_post(round_: Round, draw: Draw) -> Post:
    """Return a button for each model of a round with a result: the best is named, not found."""
    line = "Which answer was the best? You know who wrote what, so your vote is not blind."
    names = author_names(round_.panel, draw)
    buttons = (Button(BEST, names[label], f"{round_.id}:{label}") for label in sorted(names))
    return Post((Line(line), Buttons(tuple(buttons))), line)


def hint_post(round_id: str) -> Post:
    """Return how to vote, for a terminal that is busy with the round."""
    line = f"Which answer is the best? Vote in another terminal: `council vote {round_id}`"
    return Post((Note(line),), line)


def voting_posts(round_: Round, own: HumanVote | None = None, reader: str = "") -> list[Post]:
    """Return each answer without its author, with a button that chooses it as the best."""
    posts = []
    for answer in blind_answers(round_, reader):
        if answer.label and answer.text:
            is_own = own is not None and own.label == answer.label
            label = "✓ Your choice" if is_own else f"{answer.label} is the best"
            button = Button(BEST, label, f"{round_.id}:{answer.label}")
            title = f"Response {answer.label}"
            parts = (Heading(title), Prose(answer.text), Buttons((button,)))
            posts.append(Post(parts, title))
    return posts


def votes_line(round_: Round, votes: Iterable[HumanVote]) -> str:
    """Return what people chose, once so many voted that none of them is recognised; else "".

    Votes from a page are counted apart, since a page cannot tell one visitor from several.
    """
    votes, draw = [*votes], round_.draw
    if not draw or not round_.closing or sum(vote.is_named for vote in votes) < MIN_PUBLIC_VOTERS:
        return ""
    names = author_names(round_.panel, draw)
    named = [vote for vote in votes if vote.is_named]
    kinds = [
        _kind_text([names[x.label] for x in named if x.blind], "person", "people", "blind"),
        _kind_text([names[x.label] for x in named if not x.blind], "person", "people", LATER),
        _kind_text(
            [names[x.label] for x in votes if not x.is_named], "visitor", "visitors", "on the page"
        ),
    ]
    standings = round_.tally.standings if round_.tally else ()
    if first := [names[line.label] for line in standings if line.place == 1]:
        kinds.append(f"the council chose {join_words(first)}")
    text = "; ".join(filter(None, kinds))
    return f"{text}."


def _kind_text(chosen: Sequence[str], one: str, many: str, how: str) -> str:
    if not chosen:
        return ""
    people = f"1 {one}" if len(chosen) == 1 else f"{len(chosen)} {many}"
    if len({*chosen}) == 1:
        return f"{people} voted {how} for {chosen[0]}"
    counts = sorted(Counter(chosen).items(), key=lambda item: (-item[1], item[0]))
    return f"{people} voted {how}: {', '.join(f'{number} for {name}' for name, number in counts)}"


def add_votes(post: Post, round_: Round, votes: Iterable[HumanVote]) -> Post:
    """Return the answer of a round with what people chose, above its buttons."""
    line = votes_line(round_, votes)
    return add_note(post, line) if line else post
