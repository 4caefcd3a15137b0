"""Ballots: the types, the strict parser of a judge's reply, and the translation of its labels."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from council.answers import Exchange, Prompt, Reply, Scores, storable_text
from council.labels import Label, Slate, voter_name
from council.panel import IF_REPEATED, IF_SET
from council.reply_wrappers import (
    MAX_REMARK,
    is_harmless,
    remove_chat_tokens,
    remove_thinking,
)

AUDIT_ATTEMPT = 3  # after the two counted attempts; identifies a spoiled audit ballot
# A round keeps the version of the rules by which its ballots are read, so that it still verifies.
FIRST_VERSION, SECOND_VERSION, VERSION = "1", "2", "3"
MAX_REPLY_BYTES, MAX_BALLOT_BYTES, MAX_REASON_BYTES = 65_536, 16_384, 2_048
CANARY_LAST, CANARY_TIED, CANARY_NOT_LAST = "last", "tied last", "not last"
Ranking = tuple[tuple[Label, ...], ...]  # best place first; tied labels share a place
Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True)
class BallotExchange:
    """A ballot's prompt and reply; `attempt` 2 is the retry, 3 an audit."""

    nonce: str
    prompt: Prompt
    reply: Reply
    attempt: int = 1
    cut_to: int | None = None  # tokens to which every answer on the slate was cut to fit


@dataclass(frozen=True, slots=True)
class Ballot:
    """A judge's ranking of its slate, in public labels."""

    judge: str
    shown: tuple[Label, ...]
    ranking: Ranking
    reason: str = ""
    paper: BallotExchange | None = None
    audit: str | None = None  # the kind of audit; an audit ballot is never counted
    pass_number: int = field(default=1, metadata=IF_REPEATED)
    grades: tuple[tuple[Label, float], ...] = field(default=(), metadata=IF_SET)  # what it ranks by
    canary: str = field(default="", metadata=IF_SET)  # where it put the round's canary, if any

    @property
    def voter(self) -> str:
        """The judge, and the pass beyond its first."""
        return voter_name(self.judge, self.pass_number)

    @property
    def counts(self) -> bool:
        """Whether the ballot enters the standings."""
        return self.audit is None

    @property
    def has_cut_reason(self) -> bool:
        """Whether its reason was too long and was cut."""
        return self.reason.endswith("…") and len(self.reason.encode()) > MAX_REASON_BYTES - 4


@dataclass(frozen=True, slots=True)
class SpoiledBallot:
    """A reply that does not rank its slate exactly once; stored and displayed, never counted."""

    judge: str
    fault: str
    paper: BallotExchange
    pass_number: int = field(default=1, metadata=IF_REPEATED)

    @property
    def voter(self) -> str:
        """The judge, and the pass beyond its first."""
        return voter_name(self.judge, self.pass_number)

    @property
    def is_audit(self) -> bool:
        """Whether it was cast for an audit, so that it could not have counted."""
        return self.paper.attempt == AUDIT_ATTEMPT


def cut_reason(reason: str) -> str:
    """Return a reason of at most MAX_REASON_BYTES; a longer one is cut and ends with "…"."""
    text = reason.encode()
    if len(text) <= MAX_REASON_BYTES:
        return reason
    return text[: MAX_REASON_BYTES - len("…".encode())].decode(errors="ignore") + "…"


def cast_ballot(
    slate: Slate,
    nonce: str,
    paper: BallotExchange,
    audit: str | None = None,
    version: str = VERSION,
    parse: "Parse | None" = None,
) -> Ballot | SpoiledBallot:
    """Return the ballot parsed from the reply, in public labels, or a spoiled ballot."""
    parsed = (parse or parse_ballot)(paper.reply.text, nonce, slate.letters, version)
    if isinstance(parsed, BallotFault):
        return SpoiledBallot(slate.judge, parsed.value, paper, slate.pass_number)
    return Ballot(
        judge=slate.judge,
        shown=slate.shown,
        ranking=tuple(tuple(map(slate.label_at, place)) for place in parsed.ranking),
        reason=translate_labels(parsed.reason, dict(zip(slate.letters, slate.shown, strict=True))),
        paper=paper,
        audit=audit,
        pass_number=slate.pass_number,
        grades=tuple((slate.label_at(letter), grade) for letter, grade in parsed.grades),
    )


def rank_by_grades(grades: Sequence[tuple[Name, float]]) -> tuple[tuple[Name, ...], ...]:
    """Return places, the highest grade first; grades that are equal to nine digits tie."""
    places: dict[float, list[Name]] = {}
    for name, grade in grades:
        places.setdefault(round(grade, 9), []).append(name)
    return tuple(tuple(places[grade]) for grade in sorted(places, reverse=True))


# --- Strict parser: any doubt spoils the ballot


class BallotFault(StrEnum):
    """What spoils a ballot, worded so that a judge can correct it."""

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
    UNDECLARED_KEY = "its JSON object had a key other than nonce, reason, ranking and unranked"
    REASON = "its reason was not text"
    OTHER_KEY = "its JSON object had a key that was not asked for"
    LEFT_OUT = "it left out a letter"
    NO_TEXT = "it was empty"
    GRADE = "it left a grade out, or named one that is not on the scale"
    GRADES = "its grades were not, for each letter, a reason and meets as 0 or 1"
    SUSPECTS = "its suspects were not a list of what was shown, each once and with a reason"
    TOO_LONG = "it was longer than 64 KB, or than 16 KB without its thinking"


@dataclass(frozen=True, slots=True)
class ParsedBallot:
    """A ranking of slot letters, best place first; unranked letters tie for last."""

    ranking: tuple[tuple[str, ...], ...]
    reason: str
    grades: Scores = ()  # what it ranks by, if any


Parse = Callable[[str, str, Sequence[str], str], "ParsedBallot | BallotFault"]


class BallotParseError(Exception):
    """The reply is not one unambiguous ballot."""

    def __init__(self, fault: BallotFault) -> None:
        super().__init__(fault)
        self.fault = fault


def parse_ballot(
    text: str, nonce: str, letters: Sequence[str], version: str = VERSION
) -> ParsedBallot | BallotFault:
    """Return the ranking in a reply, or the fault that spoils it."""
    try:
        ballot = parse_signed_object(text, nonce, version)
        ranking = _ranking(ballot, letters, version)
        return ParsedBallot(ranking, read_reason(ballot, version))
    except BallotParseError as error:
        return error.fault


def parse_signed_object(text: str, nonce: str, version: str = VERSION) -> dict[str, object]:
    """Return the one JSON object of a reply; raise BallotParseError without the right nonce."""
    found = _only_object(text, version)
    if found.get("nonce") != nonce:
        raise BallotParseError(BallotFault.NONCE)
    return found


def read_exchange(exchange: Exchange, read: Callable[[str], Scores]) -> Exchange:
    """Return the exchange with the scores, or the fault, that its reply has."""
    try:
        return replace(exchange, scores=read(exchange.reply.text), fault="")
    except BallotParseError as error:
        return replace(exchange, scores=(), fault=error.fault.value)


_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_TEXT = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'  # up to its end, or to the end of the reply
_TRAILING_COMMA = re.compile(rf"{_TEXT}|,(?=\s{{0,99}}[}}\]])", re.DOTALL)
_FOREIGN_SPACE = re.compile(rf"{_TEXT}|[^\S \t\r\n]|[\u200b\u2060\ufeff]", re.DOTALL)
_RESPONSE_WORDS = (
    "response|answer|reply|label|option|candidate|antwort|réponse|reponse|respuesta|risposta|"
    "resposta|válasz|odpowiedź|odpověď|odpoveď|ответ|відповідь|antwoord|svar|vastaus|răspuns|"
    "απάντηση|yanıt|cevap|jawaban|回答|回应|答案|応答|응답|답변|الإجابة|إجابة|उत्तर"
)
_LETTER = re.compile(rf"(?:(?i:{_RESPONSE_WORDS})[\s_-]*)?([A-Ja-j])")
_OTHER_RANKING = re.compile(r"rank|order|vote", re.IGNORECASE)


def _only_object(text: str, version: str) -> dict[str, object]:
    """Return the one JSON object of a reply; repeating the same object is allowed."""
    rules = _RULES.get(version, _THIRD)
    rest = rules.repair(text)
    objects, gaps, position = [], [], 0
    while (start := rest.find("{", position)) >= 0:
        gaps.append(rest[position:start])
        value, position = _decode(rules.decoder, rest, start)
        objects.append(value)
    if not objects:
        raise BallotParseError(BallotFault.NO_OBJECT)
    if any(other != objects[0] for other in objects):
        raise BallotParseError(BallotFault.TWO_OBJECTS)
    before, *between, after = (rules.frame.sub("", gap).strip() for gap in (*gaps, rest[position:]))
    if any(between) or not rules.is_harmless(before, after):
        raise BallotParseError(BallotFault.PROSE)
    return objects[0]


def _repaired(text: str) -> str:
    """Return a reply without thinking and chat tokens, with its slips in JSON corrected.

    No slip that is corrected can change the order. Raise BallotParseError for too long a reply.
    """
    _check_length(text, MAX_REPLY_BYTES)
    text = remove_thinking(text)
    _check_length(text, MAX_BALLOT_BYTES)
    text = _repair_json(remove_chat_tokens(text))
    return _FOREIGN_SPACE.sub(lambda match: match[0] if match[0][0] == '"' else " ", text)


def _repair_json(text: str) -> str:
    text = _ESCAPE.sub(lambda m: m[0] if m[0] != "\\" else "\\\\", text)
    return _TRAILING_COMMA.sub(lambda match: match[0].removeprefix(","), text)


def _check_length(text: str, limit: int) -> None:
    if len(text.encode(errors="replace")) > limit:
        raise BallotParseError(BallotFault.TOO_LONG)


def _decode(decoder: json.JSONDecoder, text: str, start: int) -> tuple[dict[str, object], int]:
    try:
        value, end = decoder.raw_decode(text, start)
    except (ValueError, RecursionError) as error:  # ValueError: also numbers too long to parse
        raise BallotParseError(BallotFault.BROKEN) from error
    return value, end


def _reject_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise BallotParseError(BallotFault.REPEATED_KEY)
    return dict(pairs)


def _fold_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return _reject_duplicates([(key.casefold(), value) for key, value in pairs])


def _reject_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_fold_keys, parse_constant=_reject_constant, strict=False
)
_FRAME = re.compile(
    r"(?:`{3,}|~{3,})[ \t]*(?:json\w{0,2}|ballot|javascript|js|te?xt)?(?!\w)|[`#*_]", re.I
)  # code fences, emphasis, headings
_RULE_OR_FRAME = re.compile(rf"(?m:^-{{3,}}[ \t]*$)|{_FRAME.pattern}", re.I)


@dataclass(frozen=True, slots=True)
class _Rules:
    """How a version of the rules reads a reply."""

    repair: Callable[[str], str]
    frame: re.Pattern[str]  # Markdown around the object
    is_harmless: Callable[[str, str], bool]  # of the text before and after it
    decoder: json.JSONDecoder = _DECODER
    letter: re.Pattern[str] = _LETTER
    letter_frame: str | None = " \t*_`'()[]."


_THIRD = _Rules(_repaired, _RULE_OR_FRAME, is_harmless)


# --- The first two versions, by which older rounds are read

_OLD_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OLD_END_TOKENS = re.compile(
    r"(?:(?:</s>|<eos>|<end_of_turn>|<[|｜](?:im_end|end|eot_id|eom_id|endoftext|end_of_text|return"
    r"|end▁of▁sentence|END_OF_TURN_TOKEN)[|｜]>)\s*)+\Z"
)
_OLD_LEAD_IN = re.compile(
    r"(?:(?:here(?:'s| is| are)|this is|below is|sure|ok(?:ay)?|my|the|final)\b[ ,:]*)+"
    r"(?:(?:my|the|final|json|blind|completed?)\s+)*"
    r"(?:ballot|ranking|vote|json|object|evaluation|judg[e]?ment)?\s*[:.]?",
    re.IGNORECASE,
)
_OLD_LETTER = re.compile(rf"(?:(?i:{_RESPONSE_WORDS})\s*)?([A-Ja-j])")


def _read_first(text: str) -> str:
    return _OLD_THINKING.sub("", text.lstrip("\ufeff"), count=1)


def _read_second(text: str) -> str:
    _check_length(text, MAX_REPLY_BYTES)
    text = text.lstrip("\ufeff")
    rest = _OLD_THINKING.sub("", text, count=1)
    head, tag, tail = rest.partition("</think>")
    if tag and rest == text and "<think" not in text and "nonce" not in head.casefold():
        rest = tail
    _check_length(rest, MAX_BALLOT_BYTES)
    return _repair_json(_OLD_END_TOKENS.sub("", rest))


def _was_harmless(before: str, after: str) -> bool:
    return not after and (not before or bool(_OLD_LEAD_IN.fullmatch(before)))


def _was_short_and_harmless(before: str, after: str) -> bool:
    return len(before) <= MAX_REMARK and _was_harmless(before, after)


_RULES = {
    FIRST_VERSION: _Rules(
        _read_first,
        re.compile(r"```[ \t]*\w*"),
        _was_harmless,
        json.JSONDecoder(object_pairs_hook=_reject_duplicates, parse_constant=_reject_constant),
        _OLD_LETTER,
        letter_frame=None,
    ),
    SECOND_VERSION: _Rules(_read_second, _FRAME, _was_short_and_harmless, letter=_OLD_LETTER),
    VERSION: _THIRD,
}


def _ranking(
    ballot: dict[str, object], letters: Sequence[str], version: str
) -> tuple[tuple[str, ...], ...]:
    """Return the places of all letters; omitted letters tie for last if any letter is ranked."""
    if any(_OTHER_RANKING.search(key) for key in ballot.keys() - {"ranking", "unranked"}):
        raise BallotParseError(BallotFault.TWO_RANKINGS)
    if version != FIRST_VERSION and ballot.keys() - {"nonce", "reason", "ranking", "unranked"}:
        raise BallotParseError(BallotFault.UNDECLARED_KEY)
    rules = _RULES.get(version, _THIRD)
    places = tuple(tuple(_place(entry, letters, rules)) for entry in _list(ballot.get("ranking")))
    unranked = tuple(_place(_list(ballot.get("unranked", [])), letters, rules))
    ranked = [letter for place in places for letter in place]
    if not ranked or not all(places):
        raise BallotParseError(BallotFault.EMPTY)
    if len({*ranked, *unranked}) < len(ranked) + len(unranked):
        raise BallotParseError(BallotFault.REPEATED_LETTER)
    left_out = tuple(letter for letter in letters if letter not in ranked)
    return (*places, left_out) if left_out else places


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise BallotParseError(BallotFault.SHAPE)
    return value


def read_reason(ballot: dict[str, object], version: str = VERSION) -> str:
    """Return the reason in a judge's object; raise BallotParseError if it is not text."""
    reason = ballot.get("reason")
    if isinstance(reason, str):
        if version == FIRST_VERSION:
            return reason.strip()
        return cut_reason(storable_text(reason).strip())
    if reason is None or version == FIRST_VERSION:
        return ""
    raise BallotParseError(BallotFault.REASON)


def _place(entry: object, letters: Sequence[str], rules: _Rules) -> Iterator[str]:
    for item in entry if isinstance(entry, list) else [entry]:
        if not isinstance(item, str):
            raise BallotParseError(BallotFault.SHAPE)
        match = rules.letter.fullmatch(item.strip(rules.letter_frame))
        letter = match[1].upper() if match else ""
        if letter not in letters:
            raise BallotParseError(BallotFault.UNKNOWN_LETTER)
        yield letter


# --- Translation of the slot letters in a reason to public labels

# "Response B", "Responses A, B and C": letters after the word are labels.
_NAMED = re.compile(
    r"\b(?:responses?|answers?|candidates?|options?)\s+"
    r"[A-J]\b(?:[\s,]{0,4}(?:(?:and|or|&|vs\.?|over|>|=|than)\s{1,3})?(?:response\s{1,3})?\b[A-J]\b)"
    r"{0,10}",
    re.IGNORECASE,
)
# A lone letter is a label, but "A" and "I" are words of English: only signs of a ranking decide.
_LONE = re.compile(r"\b[B-HJ]\b|\b[AI]\b(?=\s*[>=<])|(?<=[>=<])\s*[AI]\b|\bA\b(?=\s+(?:is|has)\b)")
_LETTER_IN_TEXT = re.compile(r"\b[A-J]\b")


def translate_labels(reason: str, slots: Mapping[str, Label]) -> str:
    """Return the reason with each slot letter on the slate replaced by its public label."""

    def translate(match: re.Match[str]) -> str:
        return _LETTER_IN_TEXT.sub(lambda letter: slots.get(letter[0], letter[0]), match[0])

    return _LONE.sub(translate, _NAMED.sub(translate, reason))
