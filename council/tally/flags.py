"""Flags: what weakens a verdict, as values.

Rounds store, export and seal a flag as the sentence `str(flag)`, so these words never change.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class FlagKind(StrEnum):
    """What a flag says of its seat, as it is stored; each {} takes a part of the detail."""

    FAMILY_MAJORITY = "{} of {} seats are of the {} family"
    STAND_IN = "sits in for {}"
    NO_ANSWER = "did not answer"
    NO_BALLOT = "has no ballot that counts"
    DRAFT_KEPT = "did not revise its draft"
    CANARY_NOT_LAST = "did not put the canary last"
    MODEL_NAMED = "named {} in its reason"
    INSTRUCTION_FOLLOWED = "may have followed an instruction in an answer"
    JUMP = "rose far above earlier rounds"
    RANKING_CHANGED = "changed its ranking in the discussion"
    TIE_BY_LOT = "{} and {} tied, so a lot drawn from the seed decided that {} went on"
    UNJUDGED_PAIR_BY_LOT = (
        "nobody judged {} and {} in both orders, so a lot drawn from the seed decided that {} "
        "went on"
    )
    SUSPICIOUS_TEXT = "the text {!r} {}"  # only of given texts, whose rankings are not stored
    OTHER = "{}"


@dataclass(frozen=True, slots=True)
class Flag:
    """A finding that weakens a verdict: its kind, the key of its seat or "", and its detail."""

    kind: FlagKind
    seat: str = ""
    detail: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the sentence that rounds store, without a full stop; parse_flag reads it."""
        words = self.kind.format(*self.detail)
        return f"{self.seat} {words}" if self.seat else words

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> dict[str, object]:
        """Return the schema by which pydantic, which `storage` uses, reads and writes a sentence.

        Which seat and kind a sentence names is known once its panel is; see parse_flag.
        """

        def unparsed(text: str) -> Flag:
            return cls(FlagKind.OTHER, detail=(text,))

        return {
            "type": "function-after",
            "function": {"type": "no-info", "function": unparsed},
            "schema": {"type": "str"},
            "serialization": {"type": "to-string"},
        }


_PATTERNS = {
    kind: re.compile("(.+)".join(map(re.escape, kind.split("{}"))), re.DOTALL)
    for kind in FlagKind
    if kind not in {FlagKind.SUSPICIOUS_TEXT, FlagKind.OTHER}
}


def parse_flag(text: str, seats: Iterable[str]) -> Flag:
    """Return the flag whose `str` is this text, about one of these seats or about none.

    Unknown words are the detail of kind OTHER.
    """
    owners = sorted((seat for seat in seats if text.startswith(f"{seat} ")), key=len, reverse=True)
    for seat in (*owners, ""):
        words = text.removeprefix(f"{seat} ") if seat else text
        for kind, pattern in _PATTERNS.items():
            if match := pattern.fullmatch(words):
                return Flag(kind, seat, match.groups())
    seat = owners[0] if owners else ""
    return Flag(FlagKind.OTHER, seat, (text.removeprefix(f"{seat} ") if seat else text,))
