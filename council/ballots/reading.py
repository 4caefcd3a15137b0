"""Read a judge's reply strictly: any doubt spoils the ballot.

Nothing is ever inferred from prose or from the order of mention. A reply is one JSON object,
alone but for a closed block of thinking before it, a code fence round it and a bare lead-in line.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """What spoils a ballot, in words that tell a judge how to mend it."""

    NO_OBJECT = "it held no JSON object with a ranking"
    BROKEN = "its JSON object was broken or ended early"
    TWO_OBJECTS = "it held more than one JSON object"
    PROSE = "it held text beside the JSON object"
    REPEATED_KEY = "its JSON object named a key twice"
    NONCE = "its nonce was missing or not the one given"
    SHAPE = "its ranking was not a list of places, each a list of letters"
    EMPTY = "it ranked nothing"
    UNKNOWN_LETTER = "it named a letter that was not on the slate"
    REPEATED_LETTER = "it named a letter twice"
    TWO_RANKINGS = "it held more than one ranking"


@dataclass(frozen=True, slots=True)
class Reading:
    """A ballot as read: every letter once, best place first; unranked letters tie for last."""

    ranking: tuple[tuple[str, ...], ...]
    reason: str


class SpoiledError(Exception):
    """A reply that leaves a doubt."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_CODE_FENCE = re.compile(r"```[ \t]*\w*")
# Only these openings are taken for a lead-in; an example or a refusal never starts so and ends so.
_LEAD_IN = re.compile(
    r"(?:(?:here(?:'s| is| are)|this is|below is|sure|ok(?:ay)?|my|the|final)\b[ ,:]*)+"
    r"(?:(?:my|the|final|json|blind|completed?)\s+)*"
    r"(?:ballot|ranking|vote|json|object|evaluation|judg[e]?ment)?\s*[:.]?",
    re.IGNORECASE,
)
_RESPONSE_WORDS = (
    "response|answer|reply|label|option|candidate|antwort|réponse|reponse|respuesta|risposta|"
    "resposta|válasz|odpowiedź|odpověď|odpoveď|ответ|відповідь|antwoord|svar|vastaus|răspuns|"
    "απάντηση|yanıt|cevap|jawaban|回答|回应|答案|応答|응답|답변|الإجابة|إجابة|उत्तर"
)
_LETTER = re.compile(rf"(?:(?i:{_RESPONSE_WORDS})\s*)?([A-Ja-j])")
_OTHER_RANKING = re.compile(r"rank|order|vote", re.IGNORECASE)


def read_ballot(text: str, nonce: str, letters: Sequence[str]) -> Reading | Fault:
    """Give the ranking a reply holds, or the fault that spoils it."""
    try:
        ballot = signed_object(text, nonce)
        return Reading(_ranking(ballot, letters), reason_of(ballot))
    except SpoiledError as spoiled:
        return spoiled.fault


def signed_object(text: str, nonce: str) -> dict[str, object]:
    """Give the one JSON object that a reply consists of; SpoiledError without the right nonce."""
    found = _only_object(text)
    if found.get("nonce") != nonce:
        raise SpoiledError(Fault.NONCE)
    return found


def _only_object(text: str) -> dict[str, object]:
    """Give the one JSON object of a reply; the same object twice is still one."""
    rest = _THINKING.sub("", text.lstrip("\ufeff"), count=1)
    objects, gaps = [], []
    position = 0
    while (start := rest.find("{", position)) >= 0:
        gaps.append(rest[position:start])
        value, position = _decode(rest, start)
        objects.append(value)
    if not objects:
        raise SpoiledError(Fault.NO_OBJECT)
    if any(other != objects[0] for other in objects):
        raise SpoiledError(Fault.TWO_OBJECTS)
    before, *after = (_CODE_FENCE.sub("", gap).strip() for gap in (*gaps, rest[position:]))
    if any(after) or (before and not _LEAD_IN.fullmatch(before)):
        raise SpoiledError(Fault.PROSE)
    return objects[0]


def _decode(text: str, start: int) -> tuple[dict[str, object], int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:  # also numbers too long to read
        raise SpoiledError(Fault.BROKEN) from error
    return value, end


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise SpoiledError(Fault.REPEATED_KEY)
    return dict(pairs)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)


def reason_of(ballot: dict[str, object]) -> str:
    """Give the reason a judge wrote, or nothing."""
    reason = ballot.get("reason")
    return reason.strip() if isinstance(reason, str) else ""


def _ranking(ballot: dict[str, object], letters: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Give every letter its place; letters left out tie for last, where any is ranked."""
    if any(_OTHER_RANKING.search(key) for key in ballot.keys() - {"ranking", "unranked"}):
        raise SpoiledError(Fault.TWO_RANKINGS)
    places = tuple(tuple(_place(entry, letters)) for entry in _list(ballot.get("ranking")))
    unranked = tuple(_place(_list(ballot.get("unranked", [])), letters))
    ranked = [letter for place in places for letter in place]
    if not ranked or not all(places):
        raise SpoiledError(Fault.EMPTY)
    if len({*ranked, *unranked}) < len(ranked) + len(unranked):
        raise SpoiledError(Fault.REPEATED_LETTER)
    left_out = tuple(letter for letter in letters if letter not in ranked)
    return (*places, left_out) if left_out else places


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise SpoiledError(Fault.SHAPE)
    return value


def _place(entry: object, letters: Sequence[str]) -> Iterator[str]:
    for item in entry if isinstance(entry, list) else [entry]:
        if not isinstance(item, str):
            raise SpoiledError(Fault.SHAPE)
        match = _LETTER.fullmatch(item.strip())
        letter = match[1].upper() if match else ""
        if letter not in letters:
            raise SpoiledError(Fault.UNKNOWN_LETTER)
        yield letter
