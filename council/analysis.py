"""The map of agreement: what a chairman says of the answers, as far as the answers bear it out.

It comes from the JSON object at the end of the chairman's reply, so nothing more is stored: prompt
and reply give the same map whenever it is read.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rapidfuzz import fuzz

from council.anonymize.scrub import mask_names
from council.answers import storable_text
from council.confusables import remove_invisible
from council.labels import Label
from council.prompts.synthesis import split_reply, without_labels
from council.rounds import Round, Synthesis

MIN_SIMILARITY = 80.0  # of 100, between a quote and the passage of the answer that it is from
MIN_QUOTE_CHARACTERS = 8
MAX_ENTRIES = 5
MAX_CHARACTERS = 300
LISTS = ("agreed", "disputed", "unique", "open")

_FENCED = re.compile(
    r'<response label="([K-Z])" nonce="([^"\n]{1,99})">\n(.*?)\n</response nonce="\2">', re.DOTALL
)
_DECORATION = re.compile(r"[*_`#>\"'“”„’‘«»]+")
_ELLIPSIS = re.compile(r"…|\.{3}|\[\s?…?\s?\]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")
WORDS_BEFORE = 3  # in which a negation turns a quote around
_PUNCTUATION = " .,;:!?()[]\"“”„«»'’"
_LONG_WORD = 4  # letters; shorter words carry little
_NEGATION_WORDS = (
    "aldrig bez cannot cant doesnt dont ei geen ikke inte isnt jamais kein keine keinen "
    "nada ne neither nem never nicht nie niemals niet nigdy nincs no non none nooit nor "
    "not nothing nunca não ohne pas sans sem shouldnt sin soha without wont без не нет "
    "никогда"
)
_NEGATIONS = frozenset(_NEGATION_WORDS.split())


@dataclass(frozen=True, slots=True)
class Position:
    """What the answers with these labels say of a disputed point, in the words of one of them."""

    labels: tuple[Label, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Dispute:
    """A point on which answers contradict each other; it has two positions or more."""

    point: str
    positions: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class UniquePoint:
    """What only one answer says, in its words."""

    label: Label
    point: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """What answers agree on, where they contradict each other, what one alone saw, what is open."""

    agreed: tuple[str, ...] = ()
    disputed: tuple[Dispute, ...] = ()
    unique: tuple[UniquePoint, ...] = ()
    open: tuple[str, ...] = ()


def analyse(round_: Round) -> Analysis | None:
    """Return the map of a round's answers; None if its chairman wrote none that can be read.

    A line is left out if a label in it does not exist, if its quote is not in that answer, or if it
    names a maker that the question does not name. The texts of a forgotten round are gone, and its
    map with them.
    """
    synthesis = round_.synthesis
    claims = _claims(synthesis)
    if not synthesis or not synthesis.prompt or not claims:
        return None
    families = {seat.family for seat in round_.panel.judges}
    asked = round_.question
    question = "\n".join((asked.text, asked.context, *(file.text for file in asked.files)))
    is_about_models = bool(mask_names(question, families).found)
    shown = _FENCED.findall(synthesis.prompt.user)
    answers = {Label(label): text for label, _, text in shown}
    return check_claims(claims, answers, () if is_about_models else families)


def all_agree(round_: Round) -> bool:
    """Return whether the map has agreements and no dispute, and the answers bear out all of it.

    A claimed dispute or a quotation that is not in the answers leaves it open whether they agree.
    """
    found, claims = analyse(round_), _claims(round_.synthesis)
    if not found or not found.agreed or claims.get("disputed"):
        return False
    unique = claims.get("unique") or []
    return isinstance(unique, list) and len(found.unique) == len(unique[:MAX_ENTRIES])


def _claims(synthesis: Synthesis | None) -> Mapping[str, object]:
    """Return the object at the end of the chairman's reply; {} without one."""
    return split_reply(synthesis.reply.text)[1] if synthesis and synthesis.reply else {}


def check_claims(
    claims: Mapping[str, object], answers: Mapping[Label, str], families: Collection[str] = ()
) -> Analysis | None:
    """Return what the answers bear out and names no family; None without a list of claims."""
    lists = {name: found for name in LISTS if isinstance(found := claims.get(name), list)}
    if not lists:
        return None
    checker = _Checker(answers, families)
    agreed, disputed, unique, open_ = (lists.get(name, [])[:MAX_ENTRIES] for name in LISTS)
    return Analysis(
        agreed=tuple(filter(None, map(checker.statement, agreed))),
        disputed=tuple(filter(None, map(checker.dispute, disputed))),
        unique=tuple(filter(None, map(checker.unique_point, unique))),
        open=tuple(filter(None, map(checker.statement, open_))),
    )


@dataclass(frozen=True, slots=True)
class _Checker:
    """Reads claims; each method returns None for one that the answers do not bear out."""

    answers: Mapping[Label, str]
    families: Collection[str]

    def statement(self, claim: object) -> str | None:
        """Return a statement about all answers, which no quote can check."""
        if not isinstance(claim, str):
            return None
        text = without_labels(" ".join(remove_invisible(storable_text(claim)).split()))
        if not text or mask_names(text, self.families).found:
            return None
        return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1].rstrip()}…"

    def dispute(self, claim: object) -> Dispute | None:
        """Return a dispute with those of its positions that the answers take, at least two."""
        if not isinstance(claim, dict) or not isinstance(claim.get("positions"), list):
            return None
        point = self.statement(claim.get("point"))
        found = map(self.position, claim["positions"][:MAX_ENTRIES])
        positions = tuple(filter(None, found))
        takers = [label for position in positions for label in position.labels]
        is_contradiction = (
            len(positions) > 1
            and len(takers) == len({*takers})
            and not any(
                self.is_from(one.says, label)
                for one in positions
                for label in takers
                if label not in one.labels
            )
        )
        return Dispute(point, positions) if point and is_contradiction else None

    def position(self, claim: object) -> Position | None:
        """Return a position with the labels of the answers that its words are from."""
        if not isinstance(claim, dict) or not isinstance(claim.get("labels"), list):
            return None
        says, labels = self.statement(claim.get("says")), map(_label, claim["labels"])
        takers = dict.fromkeys(label for label in labels if self.is_from(says, label))
        return Position(tuple(takers), says) if says and takers else None

    def unique_point(self, claim: object) -> UniquePoint | None:
        """Return a point in the words of its answer that are in no other answer."""
        if not isinstance(claim, dict):
            return None
        point, label = self.statement(claim.get("point")), _label(claim.get("label"))
        if not point or not self.is_from(point, label):
            return None
        others = self.answers.keys() - {label}
        return None if any(self.is_from(point, o) for o in others) else UniquePoint(label, point)

    def is_from(self, quote: str | None, label: Label) -> bool:
        """Return whether an answer with this label contains the quote."""
        return bool(quote) and is_quoted(quote or "", self.answers.get(label, ""))


def _label(claim: object) -> Label:
    return Label(str(claim).strip().upper().removeprefix("RESPONSE ").removeprefix("ANSWER "))


# --- Quotes


def is_quoted(quote: str, text: str, *, exactly: bool = False) -> bool:
    """Return whether a text contains a quote, or nearly: as similar as MIN_SIMILARITY.

    The passage must have the quote's numbers, negations and longer words, so that a changed fact is
    no quote. A quote with an ellipsis is several. With `exactly`, every word must be there.
    """
    contains = _contains_exactly if exactly else _contains
    plain = plain_words(text)
    pieces = [piece for part in _ELLIPSIS.split(quote) if (piece := plain_words(part))]
    return any(len(piece) >= MIN_QUOTE_CHARACTERS for piece in pieces) and all(
        contains(plain, piece) for piece in pieces
    )


def plain_words(text: str) -> str:
    """Return a text without decoration, case and breaks."""
    return " ".join(_DECORATION.sub("", text).casefold().split()).strip(" .,;:!?-–—")


def _contains_exactly(text: str, piece: str) -> bool:
    start = text.find(piece)
    while start >= 0:
        passage = _whole_words(text, start, start + len(piece)).strip(_PUNCTUATION)
        if passage == piece.strip(_PUNCTUATION) and not _is_negated(text, start):
            return True
        start = text.find(piece, start + 1)
    return False


def _contains(text: str, piece: str) -> bool:
    if _contains_exactly(text, piece):
        return True
    if len(piece) > len(text):
        return False
    found = fuzz.partial_ratio_alignment(piece, text, score_cutoff=MIN_SIMILARITY)
    if found is None:
        return False
    passage = _whole_words(text, found.dest_start, found.dest_end)
    if _is_negated(text, found.dest_start):
        return False
    return numbers_and_negations(piece) == numbers_and_negations(passage) and _has_words(
        passage, piece
    )


def _is_negated(text: str, start: int) -> bool:
    """Return whether one of the few words before a passage, in its sentence, negates it."""
    before = re.split(r"[.!?;:] ", text[:start])[-1].replace("'", "")
    return any(word in _NEGATIONS for word in _WORD.findall(before)[-WORDS_BEFORE:])


def _whole_words(text: str, start: int, end: int) -> str:
    """Return a passage, extended to the words that it begins and ends in."""
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[start:end]


def numbers_and_negations(text: str) -> tuple[list[str], list[str]]:
    """Return the numbers and negations of a text."""
    words = _WORD.findall(text.replace("'", ""))
    return sorted(_NUMBER.findall(text)), sorted(word for word in words if word in _NEGATIONS)


def _has_words(passage: str, piece: str) -> bool:
    """Return whether each longer word of a piece is in a passage, in some form."""
    known = _WORD.findall(passage)
    return all(
        any(fuzz.ratio(word, other) >= MIN_SIMILARITY for other in known)
        for word in _WORD.findall(piece)
        if len(word) > _LONG_WORD
    )
