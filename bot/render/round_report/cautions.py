"""Cautions before an answer: what is missing, what came late, what stands in for it."""

import re
from collections.abc import Mapping

from bot.render.formatting import author_names, duration, join_words, seat_names
from bot.render.round_report.revealed import mention_names
from bot.render.text_safety import shorten_to_line
from council.answers import Answer, LateReply, Role
from council.rounds import Draw, Fallback, Round, winning_answer

# Short words for the reasons of absences, which gateways and stages word to follow a name.
_WHY = (
    (r"took over|^did not .* in [\d.]+ s\b|given up", "too slow"),
    (r"failed \(5\d\d\)", "server error"),
    (r"busy|slow down|times in a row", "busy"),
    (r"could not be reached|broke off", "not reached"),
    (r"\bkey\b", "no valid key"),
    (r"there is no model", "no such model"),
    (r"quota", "quota used up"),
    (r"content filter", "content filter"),
    (r"\bcontext\b", "text too long for it"),
    (r"empty answer|wrote no", "empty answer"),
    (r"no valid ranking", "invalid ranking"),
)
CUT_OFF = "This answer is cut off: its model reached its token limit."
_DID_NOT = {Role.ANSWER: "did not answer", Role.BALLOT: "did not rank"}
_MAX_REASON = 60  # characters of a reason without short words


def cautions(round_: Round) -> list[str]:
    """Return a sentence for who is missing, and for each part that is late or replaced."""
    names = seat_names(round_.panel)
    return [
        *filter(None, [missing_line(round_, names)]),
        *(_missed_text(answer, names[answer.member]) for answer in round_.answers if answer.missed),
        *_chairman_cautions(round_, names),
        *([CUT_OFF] if _is_cut(round_) else []),
        *(_late_text(late, names[late.member]) for late in round_.late),
    ]


def missing_line(round_: Round, names: Mapping[str, str]) -> str:
    """Return "Grok 4 (server error) and Kimi (too slow) did not answer."; "" if nobody is missing.

    A seat is named once, with the first thing that it did not do.
    """
    voted = {ballot.judge for ballot in round_.ballots if ballot.counts}
    reasons = dict[tuple[str, Role], str]()
    for absence in round_.absences:
        is_first = all(member != absence.member for member, _ in reasons)
        if is_first and absence.role is not Role.SYNTHESIS:
            reasons[absence.member, absence.role] = short_reason(absence.reason)
    missing: dict[str, list[str]] = {}
    for (member, role), why in reasons.items():
        verb = _DID_NOT.get(role, "did not finish")
        if role is Role.BALLOT and member in voted:
            verb = "did not rank in every order"
        missing.setdefault(verb, []).append(f"{names[member]} ({why})")
    clauses = [f"{join_words(seats)} {verb}" for verb, seats in missing.items()]
    return f"{'; '.join(clauses)}." if clauses else ""


def short_reason(reason: str) -> str:
    """Return the reason of an absence in at most a few words: "too slow"."""
    found = (short for pattern, short in _WHY if re.search(pattern, reason))
    return next(found, shorten_to_line(reason.rstrip("."), _MAX_REASON))


def _missed_text(answer: Answer, name: str) -> str:
    missed = {
        "images": "did not see the images, since it reads only text",
        "texts": "read only the beginning of the files, which are too long for it",
    }
    return f"{name} {' and '.join(missed[what] for what in answer.missed)}."


def _late_text(late: LateReply, name: str) -> str:
    what = {Role.ANSWER: "answer", Role.BALLOT: "ranking"}.get(late.role, "version")
    return f"{name}'s {what} came after {duration(late.reply.seconds)}: stored, but not counted."


def _sentences(missing: list[str], instead: str) -> list[str]:
    """Return a sentence for each missing part; the last adds what stands in for it."""
    ends = [""] * (len(missing) - 1) + [f"; {instead}" if instead else ""]
    return [f"{text}{end}." for text, end in zip(missing, ends, strict=False)]


def _chairman_cautions(round_: Round, names: dict[str, str]) -> list[str]:
    synthesis = round_.final
    if not synthesis:
        return []
    # Where the first chairman wrote the answer, the others that were asked are not missed.
    gone = [round_.absence(seat.key, Role.SYNTHESIS) for seat in round_.panel.chair_order]
    missing = [f"The chairman, {names[x.member]}, {x.reason.rstrip('.')}" for x in gone if x]
    missing = missing if synthesis.fallback else []
    if synthesis.fallback is Fallback.ANSWER and round_.draw:
        missing = missing or ["The chairman could not be reached"]
        return _sentences(missing, _fallback_text(round_, round_.draw, names))
    instead = ""
    if synthesis.chairman and synthesis.fallback:
        instead = f"{names[synthesis.chairman]} wrote the answer instead"
    sentences = _sentences(missing, instead)
    if synthesis.departs:
        authors = author_names(round_.panel, round_.draw) if round_.draw else {}
        said = mention_names(round_, synthesis.why or "", authors).rstrip(".")
        why = f": {said}" if said else ""
        sentences.append(f"This answer departs from the winning answer{why}.")
    if synthesis.reply and synthesis.reply.cut:
        sentences.append("The chairman reached its token limit, so this answer is cut off.")
    return sentences


def _is_cut(round_: Round) -> bool:
    """Return whether an answer that stands for the council's as it is was cut off."""
    synthesis = round_.synthesis
    if synthesis is None or synthesis.reply:  # a chairman wrote it
        return False
    return any(one.reply.cut and one.text == synthesis.text for one in round_.revised)


def _fallback_text(round_: Round, draw: Draw, names: dict[str, str]) -> str:
    """Return whose answer stands for the synthesis, and why if nobody won alone."""
    if round_.tally is None:
        raise AssertionError("the council's answer is written after the count")
    author = names[winning_answer(round_, draw, round_.tally).member]
    first = [line for line in round_.tally.standings if line.place == 1]
    if len(first) == 1:
        return f"this is the winning answer, unchanged, by {author}"
    among = "those tied for first place" if first else "all answers, since none was ranked"
    return f"this is the answer by {author}, unchanged, the cheapest of {among}"
