"""Decisions on disputed points: the choices, what was decided, and whether an answer follows it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from bot.chat import Button, Buttons, Caution, Heading, Line, Note, Part, Post, Prose
from bot.render.markdown_parser import first_sentence
from council.analysis import Dispute
from council.decisions import disputed_points, unfollowed_points
from council.rounds import Choice, Decision, Round

DECIDE = "decide"  # the action
BEFORE = "Before the decision"
_LETTERS = "ABCDEFGHIJ"
NOBODY: Mapping[str, str] = {}


def decide_button(round_: Round) -> tuple[Button, ...]:
    """Return the button that opens the choices of a round; none if nothing is disputed."""
    return (Button(DECIDE, "Decide", round_.id),) if disputed_points(round_) else ()


def text_id(text: str) -> str:
    """Return a short name of a point or position, for the fields of forms."""
    return sha256(text.encode()).hexdigest()[:10]


def choices_post(round_: Round, terms: str, *, is_room: bool) -> Post:
    """Return the disputed points with numbers, their positions with letters, and what it costs."""
    parts: list[Part] = [Heading(DECIDE.capitalize())]
    for number, dispute in enumerate(disputed_points(round_), start=1):
        parts.append(Line(f"**{number}.** {dispute.point}"))
        parts += [Note(f"{letter}: “{says}”") for letter, says in lettered(dispute)]
    parts.append(Note(terms))
    if is_room:
        parts.append(Buttons(decide_button(round_)))
    else:
        how = f"`/council decide {round_.id} 1=A`"
        parts.append(Note(f"Decide with {how}; what you leave out stays open."))
    return Post(tuple(parts), DECIDE.capitalize())


def lettered(dispute: Dispute) -> list[tuple[str, str]]:
    """Return the positions of a point with their letters, as people type them."""
    return [(letter, one.says) for letter, one in zip(_LETTERS, dispute.positions, strict=False)]


def decided_texts(choices: Sequence[Choice]) -> list[str]:
    """Return each choice as a line: "Is a broker needed? “From the first day”"."""
    return [f"{choice.point} “{choice.says}”" for choice in choices]


def unfollowed_line(round_: Round, decision: Decision) -> str:
    """Return on which points an answer does not follow its decision; "" if it follows all."""
    points = "; ".join(unfollowed_points(round_, decision))
    return f"The answer does not follow the decision on: {points}" if points else ""


def own_decision(round_: Round) -> Decision | None:
    """Return the asker's last decision, whose answer is the council's."""
    own = [decision for decision in round_.decisions if round_.is_own(decision)]
    return own[-1] if own else None


def own_cautions(round_: Round) -> Iterator[Part]:
    """Yield what the answer as it stands does not follow."""
    decision = own_decision(round_)
    if decision and (line := unfollowed_line(round_, decision)):
        yield Caution(line)


def own_lines(round_: Round) -> Iterator[Part]:
    """Yield what the asker decided, for the answer as it stands."""
    if decision := own_decision(round_):
        yield from (Line(f"Decided: {text}") for text in decided_texts(decision.choices))


def decision_post(round_: Round, number: int, names: Mapping[str, str] = NOBODY) -> Post:
    """Return what the `number`th decision adds below the answer.

    After the asker's, that is the answer before it. Anybody else's is a reply, "Ben decided: …",
    with the text that was written for it; `names` are those of people, by id.
    """
    decision = round_.decisions[number - 1]
    if round_.is_own(decision):
        earlier = replace(round_, decisions=round_.decisions[: number - 1]).final
        text = earlier.text if earlier else ""
        return Post((Heading(BEFORE), Prose(text)), BEFORE)
    who = names.get(decision.by) or "Somebody else"
    first, *others = decided_texts(decision.choices)
    caution = unfollowed_line(round_, decision)
    parts: list[Part] = [Line(f"**{who} decided:** {first}"), *map(Line, others)]
    parts += [Caution(caution)] if caution else []
    parts.append(Prose(decision.synthesis.text))
    return Post(tuple(parts), f"{who} decided: {first_sentence(decision.synthesis.text)}")


def decision_posts(round_: Round, names: Mapping[str, str] = NOBODY) -> list[Post]:
    """Return what all decisions add below the answer, the newest first."""
    if round_.forgotten:
        return []
    return [decision_post(round_, n, names) for n in range(len(round_.decisions), 0, -1)]
