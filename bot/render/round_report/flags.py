"""Notes on what weakens a result: flags, suspicions, and what a filter model suspects."""

from collections.abc import Mapping, Sequence

from bot.render.formatting import join_words, seat_names
from council.answers import Answer, Role
from council.ballots import FIRST_VERSION
from council.filters import find_all_suspicions, find_suspects
from council.prompt_injection import Suspicion
from council.rounds import Round, ballot_version
from council.tally import FlagKind

# What people read of a flag where it is not what rounds store; of one model and of several.
_FLAG_WORDS = {
    FlagKind.FAMILY_MAJORITY: "{} of {} models are from the {} family",
    FlagKind.NO_BALLOT: "has no valid ranking",
    FlagKind.CANARY_NOT_LAST: "fell for the canary",
}
_FLAG_WORDS_OF_SEVERAL = {
    FlagKind.NO_BALLOT: "have no valid ranking",
    FlagKind.DRAFT_KEPT: "did not revise their drafts",
    FlagKind.MODEL_NAMED: "named {} in their reasons",
    FlagKind.RANKING_CHANGED: "changed their rankings in the discussion",
}


def flag_notes(round_: Round) -> list[str]:
    """Return what weakens the result, one note each."""
    names = seat_names(round_.panel)
    seats: dict[tuple[FlagKind, tuple[str, ...]], dict[str, None]] = {}  # that share a finding
    for flag in round_.tally.verdict.flags if round_.tally else ():
        if flag.kind is FlagKind.NO_BALLOT and round_.absence(flag.seat, Role.BALLOT):
            continue  # its cause stands before the answer
        sharing = seats.setdefault((flag.kind, flag.detail), {})
        if flag.seat:
            sharing[names[flag.seat]] = None
    flags = [_flag_text(kind, detail, [*who]) for (kind, detail), who in seats.items()]
    flags += [_suspicion_text(round_, a, s) for a in round_.answers for s in a.suspicions]
    flags += [
        _suspicion_text(round_, new, suspicion)
        for new, draft in zip(round_.revised, round_.answers, strict=True)
        if new != draft
        for suspicion in find_all_suspicions(round_, new.text)
        if suspicion not in draft.suspicions
    ]
    for owner, why in name_suspects(round_, names):
        flags.append(f"the filter model suspects {owner}" + (f": “{why}”" if why else ""))
    return [f"Note: {flag}." for flag in flags]


def _flag_text(kind: FlagKind, detail: tuple[str, ...], who: Sequence[str]) -> str:
    words = _FLAG_WORDS.get(kind, kind.value)
    if len(who) > 1:
        words = _FLAG_WORDS_OF_SEVERAL.get(kind, words)
    return f"{join_words(who)} {words.format(*detail)}".strip()


def _suspicion_text(round_: Round, answer: Answer, suspicion: str) -> str:
    unseen = (
        suspicion in {Suspicion.PLEA, Suspicion.ENCODED} and ballot_version(round_) != FIRST_VERSION
    )
    hidden = "; judges did not see the request" if unseen else ""
    return f"{seat_names(round_.panel)[answer.member]}'s answer {suspicion}{hidden}"


def name_suspects(round_: Round, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return whose answer or reason the panel's filter model suspects, and why."""
    return [
        (f"{names[one.seat]}'s {'reason' if one.is_reason else 'answer'}", one.why.rstrip("."))
        for one in find_suspects(round_)
    ]
