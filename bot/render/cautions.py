"""What has to be said before an answer: who is missing, and what stands in for what."""

from bot.render.figures import in_words
from bot.render.names import names_of
from council.answers import Role
from council.rounds import Draw, Fallback, Round, winning_answer

UNREACHED = "The chairman could not be reached"


def cautions(round_: Round) -> list[str]:
    """Give what a reader must know before the answer: who is missing, what stands in for what."""
    names = names_of(round_.panel)
    # A seat that failed twice for one reason is named once.
    missing = list(
        dict.fromkeys(
            f"{names[absence.member]} {absence.reason.rstrip('.')}"
            for absence in round_.absences
            if absence.role is not Role.SYNTHESIS
        )
    )
    return [*_sentences(missing, _ranked_by(round_)), *_chair_cautions(round_, names)]


def _ranked_by(round_: Round) -> str:
    if not round_.draw or not round_.tally or not round_.tally.standings:
        return ""
    voters = sum(ballot.counts for ballot in round_.ballots)
    judges = "judge" if voters == 1 else "judges"
    return f"{in_words(len(round_.answers))} answers were ranked by {in_words(voters)} {judges}"


def _sentences(missing: list[str], instead: str) -> list[str]:
    """Give a sentence for each that is missing; the last says what there is instead."""
    ends = [""] * (len(missing) - 1) + [f"; {instead}" if instead else ""]
    return [f"{what}{end}." for what, end in zip(missing, ends, strict=False)]


def _chair_cautions(round_: Round, names: dict[str, str]) -> list[str]:
    synthesis = round_.synthesis
    if not synthesis:
        return []
    missing = _missing_chairmen(round_, names)
    if synthesis.fallback is Fallback.ANSWER and round_.draw:
        return _sentences(missing or [UNREACHED], _stands_in(round_, round_.draw, names))
    instead = ""
    if synthesis.chairman and synthesis.fallback:
        instead = f"{names[synthesis.chairman]} wrote the answer instead"
    said = _sentences(missing, instead)
    if synthesis.departs:
        why = f": {synthesis.why.rstrip('.')}" if synthesis.why else ""
        said.append(f"This answer departs from the winning answer{why}.")
    if synthesis.reply and synthesis.reply.cut:
        said.append("The chairman reached its token limit, so this answer ends early.")
    return said


def _missing_chairmen(round_: Round, names: dict[str, str]) -> list[str]:
    """Give each reason with all it kept from writing, in the order in which they were asked."""
    by_reason: dict[str, list[str]] = {}
    for seat in round_.panel.chair_order:
        if absence := round_.absence(seat.key, Role.SYNTHESIS):
            by_reason.setdefault(absence.reason.rstrip("."), []).append(names[seat.key])
    return [f"The chairman, {', then '.join(who)}, {why}" for why, who in by_reason.items()]


def _stands_in(round_: Round, draw: Draw, names: dict[str, str]) -> str:
    """Say whose answer stands for the synthesis, and how it was chosen where nobody won alone."""
    if round_.tally is None:
        raise AssertionError("a synthesis is written after the tally")
    author = names[winning_answer(round_, draw, round_.tally).member]
    first = [line for line in round_.tally.standings if line.place == 1]
    if len(first) == 1:
        return f"this is the winning answer as it stands, by {author}"
    among = "those tied for first place" if first else "all answers, since none was ranked"
    return f"this is the answer by {author} as it stands, the cheapest of {among}"
