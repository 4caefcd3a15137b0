"""Decisions on disputed points: which ones a round takes, and whether an answer follows them.

Pure: the map of agreement and texts in, findings out.
"""

from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz

from council.analysis import (
    MIN_SIMILARITY,
    Dispute,
    analyse,
    is_quoted,
    numbers_and_negations,
    plain_words,
)
from council.errors import DecisionError
from council.prompts.synthesis import split_reply
from council.rounds import Choice, Decision, Round

MAX_DECISIONS = 20  # of one round
MIN_SHARED = 0.5  # of a position's words, in a passage that carries it out
_SHORT_WORD = 3  # letters; such words say little
NOTHING_DISPUTED = "The answers to this question contradict each other on no point."
NOTHING_CHOSEN = "Choose a position on at least one point. Nothing was asked."


def disputed_points(round_: Round) -> tuple[Dispute, ...]:
    """Return the points of a round that can be decided: those of its map, once it is closed."""
    if round_.closing is None or round_.closing.failure or round_.forgotten or round_.bakeoff:
        return ()
    found = analyse(round_)
    return found.disputed if found else ()


def match_choices(round_: Round, wanted: Iterable[tuple[str, str]]) -> tuple[Choice, ...]:
    """Return the choices of a round with these points and positions, in the words of its map.

    Raise DecisionError for a point or a position that the map does not have, for a point that is
    decided twice, and if nothing is decided.
    """
    points = {plain_words(one.point): one for one in disputed_points(round_)}
    if not points:
        raise DecisionError(NOTHING_DISPUTED)
    chosen: dict[str, Choice] = {}
    for point, says in wanted:
        dispute = points.get(plain_words(point))
        if dispute is None:
            known = "; ".join(one.point for one in points.values())
            raise DecisionError(f"{point[:100]!r} is not disputed here. Disputed: {known}")
        positions = {plain_words(one.says): one.says for one in dispute.positions}
        if plain_words(says) not in positions:
            known = "; ".join(positions.values())
            raise DecisionError(
                f"No answer says {says[:100]!r} on {dispute.point!r}. Positions: {known}"
            )
        choice = Choice(dispute.point, positions[plain_words(says)])
        if chosen.setdefault(dispute.point, choice) != choice:
            raise DecisionError(f"{dispute.point!r} is decided twice. Choose one position.")
    if not chosen:
        raise DecisionError(NOTHING_CHOSEN)
    return tuple(chosen[one.point] for one in points.values() if one.point in chosen)


def find_strays(round_: Round, decision: Decision) -> tuple[Choice, ...]:
    """Return the choices of a stored decision that are not on the round's map."""
    known = {(one.point, take.says) for one in disputed_points(round_) for take in one.positions}
    return tuple(one for one in decision.choices if (one.point, one.says) not in known)


# --- Whether an answer follows a decision


def unfollowed_points(round_: Round, decision: Decision) -> tuple[str, ...]:
    """Return the decided points that the answer does not carry out, as far as texts can tell.

    It carries one out if it states the chosen position and no other one, or if a passage that its
    chairman quotes from it does. An answer that is as it was before carries out nothing.
    """
    text, reply = decision.synthesis.text, decision.synthesis.reply
    if not text or reply is None:  # its texts are forgotten
        return ()
    quotes = _quotes(split_reply(reply.text)[1].get("followed"))
    disputes = {one.point: one for one in disputed_points(round_)}
    is_new = plain_words(text) not in map(plain_words, _texts_before(round_, decision))
    return tuple(
        choice.point
        for number, choice in enumerate(decision.choices, start=1)
        if not is_new
        or not _is_followed(
            choice.says,
            _rivals(disputes.get(choice.point), choice.says),
            text,
            [quote for decided, quote in quotes if decided == number],
        )
    )


def _texts_before(round_: Round, decision: Decision) -> list[str]:
    """Return the earlier answers, without those to the same choices."""
    before = [round_.synthesis.text] if round_.synthesis else []
    for earlier in round_.decisions:
        if earlier.key == decision.key:
            break
        if earlier.choices != decision.choices:
            before.append(earlier.synthesis.text)
    return before


def _quotes(claim: object) -> list[tuple[int, str]]:
    """Return the passages that a chairman quotes, each with the number of its decision."""
    entries = claim if isinstance(claim, list) else []
    return [
        (entry["decision"], entry["quote"])
        for entry in entries
        if isinstance(entry, dict)
        and isinstance(entry.get("decision"), int)
        and isinstance(entry.get("quote"), str)
    ]


def _rivals(dispute: Dispute | None, chosen: str) -> tuple[str, ...]:
    """Return the positions that were not chosen, without those that the chosen one contains."""
    positions = dispute.positions if dispute else ()
    others = (one.says for one in positions if one.says != chosen)
    return tuple(one for one in others if not is_quoted(one, chosen, exactly=True))


def _is_followed(chosen: str, rivals: Sequence[str], text: str, quotes: Sequence[str]) -> bool:
    return _states_only(text, chosen, rivals) or any(
        is_quoted(quote, text)
        and (_states_only(quote, chosen, rivals) or _is_closest(quote, chosen, rivals))
        for quote in quotes
    )


def _states_only(text: str, chosen: str, rivals: Sequence[str]) -> bool:
    """Return whether a text has the chosen position and no other; its exact words count most."""
    for exactly in (True, False):
        if is_quoted(chosen, text, exactly=exactly):
            return not any(is_quoted(one, text, exactly=exactly) for one in rivals)
    return False


def _is_closest(quote: str, chosen: str, rivals: Sequence[str]) -> bool:
    """Return whether a passage has most of a position's words, more than of any other.

    Its negations and numbers must be those of the position.
    """
    share = _shared(quote, chosen)
    return (
        share >= MIN_SHARED
        and _facts(quote) == _facts(chosen)
        and all(share > _shared(quote, one) for one in rivals)
    )


def _facts(text: str) -> tuple[list[str], list[str]]:
    return numbers_and_negations(plain_words(text))


def _shared(quote: str, position: str) -> float:
    """Return the share of a position's longer words that a passage has, in some form."""
    words = {word for word in plain_words(position).split() if len(word) > _SHORT_WORD}
    known = plain_words(quote).split()
    found = [
        word for word in words if any(fuzz.ratio(word, one) >= MIN_SIMILARITY for one in known)
    ]
    return len(found) / len(words) if words else 0.0
