"""Candidates: the answers under their labels, as judges and chairmen see them."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from council.labels import Label
from council.panel import Member
from council.prompts.fences import CUT_MARK, SHORTENED_MARK, blind
from council.prompts.lengths import FEWEST_TOKENS, common_length, estimated_tokens, shortened
from council.rounds import Draw, Round

Name = TypeVar("Name", bound=str)

_TELLING = re.compile(r"\w/\w|[A-Za-z]{2}.*\d")  # a route, or a name with a version


def own_names(member: Member) -> tuple[str, ...]:
    """Give the ids and names that would give a member away wherever they stand.

    Only what no answer says by chance: a seat called "a" or "warm" is also a word.
    """
    bare = member.model_id.rpartition("/")[2]
    names = (member.key, member.model_id, member.display, bare)
    return tuple(name for name in names if _TELLING.search(name))


def candidates(round_: Round, draw: Draw) -> dict[Label, str]:
    """Give each answer under its label: traces of its author masked, imitations defused."""
    texts = {}
    for answer in round_.answers:
        text = blind(answer.text, own_names(round_.panel.seat(answer.member)))
        label = draw.labels.label_of(answer.member)
        if label is not None:
            texts[label] = f"{text}\n{CUT_MARK}" if answer.reply.cut else text
    return texts


def lengths_to_try(texts: Sequence[str], budget: int | None) -> tuple[int | None, ...]:
    """Give the common lengths, in tokens, at which a reader may be shown the texts.

    First what should fit the budget (None: whole; an unknown budget is trusted), then half of it,
    since an estimate can be wrong. Lengths at which nothing can be judged are left out.
    """
    first = None if budget is None else common_length(texts, budget)
    if budget is not None and first is not None:
        first = common_length(texts, budget - len(texts) * estimated_tokens(f"\n{SHORTENED_MARK}"))
    longest = max(estimated_tokens(text) for text in texts)
    half = (longest if first is None else first) // 2
    return tuple(length for length in (first, half) if length is None or length >= FEWEST_TOKENS)


def at_length(texts: Mapping[Name, str], length: int | None) -> dict[Name, str]:
    """Give all texts cut to one length and marked, or whole where there is none."""
    if length is None:
        return dict(texts)
    return {name: f"{shortened(text, length)}\n{SHORTENED_MARK}" for name, text in texts.items()}
