"""What has to be said before an answer: who is missing, and what stands in for what."""

from bot.render.figures import in_words
from bot.render.names import names_of
from council.answers import Role
from council.rounds import Draw, Fallback, Round
from council.winners import winning_answer

UNREACHED = "The chairman could not be reached"


def cautions(round_: Round) -> list[str]:
    """Give what a reader must know before the answer: who is missing, what stands in for what."""
    names = names_of(round_.panel)
    # A seat that failed twice for one reason is named once.
    said = list(
        dict.fromkeys(
            f"{names[absence.member]} {absence.reason}."
            for absence in round_.absences
            if absence.role is not Role.SYNTHESIS
        )
    )
    if said and round_.draw and round_.tally and round_.tally.standings:
        voters = sum(ballot.counts for ballot in round_.ballots)
        answers = in_words(len(round_.answers)).capitalize()
        judges = "judge" if voters == 1 else "judges"
        said.append(f"{answers} answers were ranked by {in_words(voters)} {judges}.")
    return said + _chair_cautions(round_, names)


def _chair_cautions(round_: Round, names: dict[str, str]) -> list[str]:
    synthesis = round_.synthesis
    if not synthesis:
        return []
    absent = [a for a in round_.absences if a.role is Role.SYNTHESIS]
    missing = [f"The chairman, {names[a.member]}, {a.reason}." for a in absent]
    if synthesis.fallback is Fallback.ANSWER and round_.draw:
        stands_in = _stands_in(round_, round_.draw, names)
        return [*(line.rstrip(".") + "." for line in missing), stands_in]
    if synthesis.chairman and synthesis.fallback:
        missing.append(f"{names[synthesis.chairman]} wrote the answer instead.")
    if synthesis.departs:
        why = f": {synthesis.why.rstrip('.')}" if synthesis.why else ""
        missing.append(f"This answer departs from the winning answer{why}.")
    if synthesis.reply and synthesis.reply.cut:
        missing.append("The chairman reached its token limit, so this answer ends early.")
    return missing


def _stands_in(round_: Round, draw: Draw, names: dict[str, str]) -> str:
    """Say whose answer stands for the synthesis, and how it was chosen where nobody won alone."""
    if round_.tally is None:
        raise AssertionError("a synthesis is written after the tally")
    author = names[winning_answer(round_, draw, round_.tally).member]
    first = [line for line in round_.tally.standings if line.place == 1]
    if len(first) == 1:
        return f"{UNREACHED}; this is the winning answer as it stands, by {author}."
    among = "those tied for first place" if first else "all answers, since none was ranked"
    return f"{UNREACHED}; this is the answer by {author} as it stands, the cheapest of {among}."
