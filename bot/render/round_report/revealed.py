"""Names in place of labels, once the authors are revealed.

They stand in brackets, since the models that wrote the texts did not know them. A judge's letters
are its own: those of the slate that it saw, in the reply that it wrote.
"""

import re
from collections.abc import Iterable, Mapping

from bot.render.round_report.label_mentions import find_label_mentions
from council.ballots import Ballot, BallotParseError, parse_signed_object, read_reason
from council.labels import SLOT_LETTERS
from council.rounds import Round, ballot_version

_NOUN_BEFORE = re.compile(
    r"(?:\bthe\s{1,3})?\b(?:responses?|answers?|candidates?)\s{1,3}\Z", re.IGNORECASE
)
_FRAMES = (("**", "**"), ("(", ")"), ("[", "]"), ("`", "`"))


def name_mentions(text: str, names: Mapping[str, str], texts: Iterable[str] = ()) -> str:
    """Return a text of a model that knew labels, with "Response K" as "[Claude Sonnet 4.6]".

    `texts` are the question and the answers, whose own letters stay.
    """
    parts, end = [], 0
    for at, label in find_label_mentions(text, names.keys(), texts):
        before, after = text[end:at], at + 1
        for left, right in _FRAMES:
            if before.endswith(left) and text.startswith(right, after):
                before, after = before.removesuffix(left), after + len(right)
        parts += [_NOUN_BEFORE.sub("", before), f"[{names[label]}]"]
        end = after
    return "".join((*parts, text[end:]))


def mention_names(round_: Round, text: str, names: Mapping[str, str]) -> str:
    """Return a text about a round's answers with their labels named, but not the texts' own."""
    return name_mentions(text, names, _texts(round_))


def reason_by_name(round_: Round, ballot: Ballot, names: Mapping[str, str]) -> str:
    """Return a ballot's reason with the name behind each letter that means an answer.

    A reason that says nothing is "": one letter, or one that repeats the nonce. Where the judge's
    reply is not kept, nothing tells its letters from those of the text, and the reason stays as it
    is stored.
    """
    if len(ballot.reason.strip(" .")) <= 1 or (
        ballot.paper and ballot.paper.nonce in ballot.reason
    ):
        return ""
    written = _written_reason(round_, ballot)
    if written is None:
        return ballot.reason
    slots = dict(zip(SLOT_LETTERS, ballot.shown, strict=False))
    behind = {letter: names[label] for letter, label in slots.items() if label in names}
    return name_mentions(written, behind, _texts(round_))


def _texts(round_: Round) -> tuple[str, ...]:
    asked = round_.question
    return (asked.text, asked.context, *(answer.text for answer in round_.revised))


def _written_reason(round_: Round, ballot: Ballot) -> str | None:
    """Return the reason as the judge wrote it; None where its reply is not that of the ballot."""
    version, paper = ballot_version(round_), ballot.paper
    if paper is None:
        return None
    try:
        written = read_reason(parse_signed_object(paper.reply.text, paper.nonce, version), version)
    except BallotParseError:  # a method of its own
        return None
    return written if len(written) == len(ballot.reason) else None
