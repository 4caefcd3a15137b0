"""Names in place of labels, once the authors are revealed.

They stand in brackets, since the models that wrote the texts did not know them. Labels are replaced
where they were translated for a judge, or follow the word "Response"; "Vitamin K" stays.
"""

import re
from collections.abc import Mapping

from council.ballots import Ballot, BallotParseError, parse_signed_object, read_reason
from council.labels import PUBLIC_LETTERS
from council.round_rules import ballot_version
from council.rounds import Round

_NOUN = r"(?:\bthe\s{1,3})?\b(?:responses?|answers?|candidates?|options?)"
_NOUN_BEFORE = re.compile(rf"{_NOUN}\s{{1,3}}\Z", re.IGNORECASE)
_LETTER = rf"[{PUBLIC_LETTERS[0]}-{PUBLIC_LETTERS[-1]}]\b"
_MENTION = re.compile(
    rf"{_NOUN}\s{{1,3}}(?-i:{_LETTER}(?:[\s,]{{1,4}}(?:(?:and|or)\s{{1,3}})?{_LETTER}){{0,16}})",
    re.IGNORECASE,
)
_LABEL = re.compile(rf"\b{_LETTER}")
_WORD_BEFORE = re.compile(r"(\w+)[ -]\Z")


def name_mentions(text: str, names: Mapping[str, str]) -> str:
    """Return a text of a model that knew labels, with "Response K" as "[Claude Sonnet 4.6]"."""

    def replace(match: re.Match[str]) -> str:
        found = [*_LABEL.finditer(match[0])]
        if not all(one[0] in names for one in found):
            return match[0]
        return _LABEL.sub(lambda one: f"[{names[one[0]]}]", match[0][found[0].start() :])

    return _MENTION.sub(replace, text)


def reason_by_name(round_: Round, ballot: Ballot, names: Mapping[str, str]) -> str:
    """Return a ballot's reason with the name behind each label, in brackets.

    Where the judge's reply is not kept, nothing tells which letters are labels, and none is named.
    """
    parts, end = [], 0
    for at, letter in _translated_letters(round_, ballot):
        before, label = ballot.reason[end:at], ballot.reason[at]
        if label not in names or _is_in_texts(round_, ballot.reason[:at], letter):
            parts += [before, letter]
        else:
            parts += [_NOUN_BEFORE.sub("", before), f"[{names[label]}]"]
        end = at + 1
    return "".join((*parts, ballot.reason[end:]))


def _translated_letters(round_: Round, ballot: Ballot) -> list[tuple[int, str]]:
    """Return where the stored reason has a label, and the letter that the judge wrote there."""
    version, paper = ballot_version(round_), ballot.paper
    try:
        reply = parse_signed_object(paper.reply.text, paper.nonce, version) if paper else {}
        written = read_reason(reply, version)
    except BallotParseError:  # a method of its own
        return []
    if len(written) != len(ballot.reason):
        return []
    pairs = zip(written, ballot.reason, strict=True)
    return [(at, letter) for at, (letter, stored) in enumerate(pairs) if letter != stored]


def _is_in_texts(round_: Round, before: str, letter: str) -> bool:
    """Return whether question or answers have the same word before the letter: "vitamin C"."""
    word = _WORD_BEFORE.search(before)
    if not word or _NOUN_BEFORE.search(before):
        return False
    asked = round_.question
    texts = (asked.text, asked.context, *(answer.text for answer in round_.revised))
    pair = re.compile(rf"\b{re.escape(word[1])}[ -]{letter}\b", re.IGNORECASE)
    return any(map(pair.search, texts))
