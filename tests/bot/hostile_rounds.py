"""Whole finished rounds of hostile texts, made from a number: every chat shows each of them safely.

Everything that a person or model writes is hostile: question, names, answers, reasons, synthesis.
"""

import random
from dataclasses import replace
from itertools import chain

from bot.chat import Post
from bot.render.round_report.thread import round_post, whole_round
from bot.render.round_status import add_asker, running_post
from council.answers import Absence, Reply, Role
from council.rounds import Closing, Fallback, Round, Synthesis
from tests.bot.render.hostile import CONSTRUCTS, DISCORD_TOKENS, FORGED, LINKS, PARTED, TOKENS
from tests.bot.rounds import round_thread
from tests.builders import a_panel, a_question, a_round, with_answers, with_ballots

ANSWERS_PER_ROUND = 4
_TOKENS = (*TOKENS, *DISCORD_TOKENS, *PARTED, *LINKS, *FORGED)
_PIECES = (
    "So: {}.",
    "{}{}",
    "{}\n\n{}",
    "- {}\n  - {}\n\n    ```\n    {}\n    ```",
    "| {} | b |\n|---|--:|\n| {} | 1 |",
    "> {}\n> > {}",
    "# {}\n{}",
    "1. {}\n1. {}",
    "```md\n{}\n```",
    *CONSTRUCTS,
)
_JOINS = ("", " ", "\n", "\n\n", "\n\n", "\u200b", "**", "`", "|", "<", "@")


def hostile_round(seed: int) -> Round:
    """Return a closed round with answers of four models; the same seed gives the same round."""
    rng = random.Random(seed)
    members = tuple(
        replace(seat, display=_name(rng, seat.display))
        for seat in a_panel(ANSWERS_PER_ROUND).members
    )
    question = a_question(_text(rng, 3), _text(rng, 2))
    round_ = a_round(replace(a_panel(), members=members), seed=str(seed), question=question)
    round_ = with_ballots(with_answers(round_, {m.key: _text(rng, 9) for m in members}))
    ballots = (replace(ballot, reason=_text(rng, 3)[:2_000]) for ballot in round_.ballots)
    absences = (Absence(rng.choice(members).key, Role.BALLOT, _name(rng, "hung up")),)
    round_ = replace(round_, ballots=tuple(ballots), absences=absences if seed % 3 == 0 else ())
    fallback = rng.choice((None, None, Fallback.CHAIRMAN, Fallback.ANSWER))
    synthesis = Synthesis(
        _text(rng, 9),
        None if fallback is Fallback.ANSWER else members[0].key,
        fallback,
        departs=rng.random() < 0.3,
        why=_text(rng, 1),
        reply=Reply("", cost_usd=0.01, seconds=2.0),
    )
    failure = _text(rng, 1) if rng.random() < 0.05 else None
    return replace(round_, synthesis=synthesis, closing=Closing(21.4, failure))


def hostile_posts(seed: int) -> list[Post]:
    """Return everything that a chat shows of a hostile round, while it runs and afterwards."""
    round_, rng = hostile_round(seed), random.Random(-seed)
    asker, draft = _name(rng, "Ada"), _text(rng, 5)
    running = replace(round_, closing=None, synthesis=None)
    posts = [add_asker(running_post(running, 3.0, draft), round_, asker)]
    short, whole = round_thread(round_), whole_round(round_)
    roots = (short.root, round_post(round_, with_results=True))
    posts += [add_asker(root, round_, asker) for root in roots]
    return list(dict.fromkeys((*posts, *short.replies, *whole.replies)))


def _name(rng: random.Random, name: str) -> str:
    """Return a name that may be hostile, as short as names are."""
    hostile = f"{name} {rng.choice(_TOKENS)}" if rng.random() < 0.5 else name
    return " ".join(hostile.split())[:60] or name


def _text(rng: random.Random, pieces: int) -> str:
    """Return up to so many pieces of Markdown around hostile tokens; some rounds are long."""
    texts = [
        rng.choice(_PIECES).format(*(rng.choice(_TOKENS) for _ in range(3)))
        for _ in range(rng.randint(1, pieces))
    ]
    joins = (rng.choice(_JOINS) for _ in texts)
    text = "".join(chain.from_iterable(zip(texts, joins, strict=True)))
    repeats = rng.choice((1,) * 15 + (12,))
    return (text * repeats)[:20_000].strip() or "Yes."
