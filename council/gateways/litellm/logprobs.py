"""Parser of the log-probabilities in a reply, in OpenAI's shape."""

import re
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import Any

from council.answers import Logprobs, Scores

MAX_NUMBERS = 64  # the last ones
MAX_ALTERNATIVES = 20
_NUMBER = re.compile(rb"(\s*)([0-9]{1,3})\s*")
_DIGITS = 6


def number_logprobs(chunks: Iterable[Any], text: str) -> Logprobs:
    """Return the log-probabilities of each token that is a whole number, from litellm's chunks.

    () if the tokens have another shape, or do not hold the text exactly once: thinking and code
    fences, which servers remove from texts, may surround it.
    """
    try:
        choices = (choice for chunk in chunks for choice in chunk.choices[:1])
        found = (getattr(choice, "logprobs", None) for choice in choices)
        tokens = [token for one in found if one for token in one.content or ()]
        encoded, pieces = text.encode(), [_bytes(token) for token in tokens]
        before, _after = b"".join(pieces).split(encoded)
        numbers = [*_numbers(tokens, pieces, -len(before))]
        return tuple(
            (len(encoded[:start].decode()), alternatives)
            for start, token in numbers[-MAX_NUMBERS:]
            if 0 <= start < len(encoded) and (alternatives := _alternatives(token))
        )
    except (AttributeError, TypeError, ValueError):
        return ()


def _numbers(
    tokens: Sequence[Any], pieces: Sequence[bytes], start: int
) -> Iterator[tuple[int, Any]]:
    """Yield each token that is a number with the place of its first digit, counted in bytes."""
    for token, piece in zip(tokens, pieces, strict=True):
        if number := _NUMBER.fullmatch(piece):
            yield start + number.start(2), token
        start += len(piece)


def _alternatives(token: Any) -> Scores:  # noqa: ANN401 - litellm's
    """Return the token and its alternatives that are numbers; () if a value is not finite."""
    listed = {_bytes(one): float(one.logprob) for one in token.top_logprobs[:MAX_ALTERNATIVES]}
    listed.setdefault(_bytes(token), float(token.logprob))
    if not all(map(isfinite, listed.values())):
        return ()
    # Rounded values without a negative zero are the same from every database.
    return tuple(
        (number[2].decode(), round(logprob, _DIGITS) + 0.0)
        for piece, logprob in listed.items()
        if (number := _NUMBER.fullmatch(piece))
    )


def _bytes(token: Any) -> bytes:  # noqa: ANN401 - litellm's
    """Return the bytes of a token; it may end within a character, and then its text cannot say."""
    return token.token.encode() if token.bytes is None else bytes([*token.bytes])
