"""Canaries: in a share of rounds judges also see a text that was made to lose.

It answers another question, or is a copy of an answer on the slate, cut or with a falsehood in it.
A judge that reads puts it last, or below what it copies. It is taken out of each ballot before
anything is counted.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from council.answers import Prompt
from council.ballots import (
    CANARY_LAST,
    CANARY_NOT_LAST,
    CANARY_TIED,
    FIRST_VERSION,
    Ballot,
    BallotExchange,
    Ranking,
    SpoiledBallot,
)
from council.labels import SLOT_LETTERS, Label, Slate
from council.methods import Method
from council.panel import Rubric
from council.prompts.ballot import BallotPrompt
from council.prompts.shared import SHORTENED_MARK, estimate_tokens, truncate
from council.randomness import random_fraction, shuffle
from council.rounds import Question, Round

CANARY = Label("canary")  # so that a judge's reason speaks of "Response canary"
# A judge's notes in these methods speak of letters, or its slate is a pair.
WITHOUT_CANARY = ("pairwise-elimination", "peer-discussion")
OTHER, CUT, FALSE = "other question", "cut", "false"
# A round keeps the version of this rule under which it was opened, as an entry of its versions.
CANARIES, VERSION = "canaries", "2"
_KINDS = {FIRST_VERSION: (OTHER,), VERSION: (OTHER, CUT, FALSE)}
MIN_CUT = 240  # characters; the third of a shorter answer can be all of it that matters

_ANSWERS = (
    (
        "To tie a bowline, make a small loop in the rope, far enough from its end. Pass the end up "
        "through the loop, round behind the standing part and back down through the loop. Hold "
        "the end and pull the standing part tight. The knot does not slip, and it comes undone "
        "easily after it has held a load."
    ),
    (
        "The dough is probably too wet or has not risen long enough. Weigh the flour and the "
        "water, knead for ten minutes and let the dough double in a warm place. Bake the bread on "
        "a preheated stone, with a tray of hot water below it for the first quarter of an hour."
    ),
    (
        "Shift to the smallest sprocket first. If the chain of the bicycle does not move on to it, "
        "loosen the cable by turning the barrel adjuster clockwise, half a turn at a time. Then "
        "set the upper limit screw so that the guide wheel stands right below the sprocket."
    ),
    (
        "Repot an orchid after it has flowered. Take off the old bark, cut away roots that are "
        "soft and brown, and set the plant into a clear pot with fresh, coarse bark. Wait a week "
        "before you water it, and then water it once a week at most."
    ),
    (
        "In the endgame of king and pawn against king, the side with the pawn wins if its king "
        "stands two ranks in front of the pawn. Otherwise the opposition decides: the king that "
        "must move when the two face each other has to give way. This is the first thing to "
        "learn about chess endings."
    ),
    (
        "Tune the lowest string of the guitar to E with a fork or an app. Press it at the fifth "
        "fret and tune the next string to the same note, and so on; only between the third and "
        "the second string you press the fourth fret instead. Then play a chord to check it."
    ),
)
_FALSEHOODS = (
    "Bear in mind that the Sun is smaller than the Moon.",
    "As is well known, a week has nine days.",
    "Keep in mind that fish breathe air with their feathers.",
    "It helps to know that ice is hotter than steam.",
    "Remember that seven is an even number.",
    "Note that iron is a kind of wood.",
)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")
_MARK = f"\n{SHORTENED_MARK}"
_END = re.compile(r"[\W_]+$")
_SUBJECT_WORD = re.compile(r"[^\W\d_]{4,}")


def has_canary(round_: Round, method: Method) -> bool:
    """Return whether the seed selects the round, among those whose judges can see one more text."""
    panel = round_.panel
    return (
        method.is_ranked
        and method.name not in WITHOUT_CANARY
        and len(panel.members) < len(SLOT_LETTERS)
        and random_fraction(round_.seed, "canary") < (panel.terms.canary_share or 0)
    )


def with_canary(round_: Round, method: Method) -> Method:
    """Return the method whose judges also see a canary, if the round has one."""
    if not has_canary(round_, method):
        return method
    return replace(
        method,
        prompt=partial(_prompt, round_, method),
        schema=partial(_schema, method),
        cast=partial(_cast, round_, method),
    )


def canary_kind(round_: Round) -> str:
    """Return the seed's kind of canary, of those that there were when the round was opened."""
    version = dict(round_.versions).get(CANARIES, FIRST_VERSION)
    return shuffle(_KINDS.get(version, _KINDS[VERSION]), round_.seed, "canary kind")[0]


def canary_text(question: Question, seed: str) -> str:
    """Return the seed's answer to another question: of those that share fewest words with it."""
    return _farthest(_ANSWERS, question, seed)


def _farthest(texts: Sequence[str], question: Question, seed: str) -> str:
    asked = f"{question.text} {question.context}".casefold()
    shuffled = shuffle(texts, seed, "canary text")
    return min(shuffled, key=lambda text: _shared_words(text, asked))


def _shared_words(text: str, asked: str) -> int:
    return sum(word in asked for word in {*_SUBJECT_WORD.findall(text.casefold())})


def _slot(seed: str, answers: int) -> int:
    """Return where the canary stands, from 0: the same for judges who see as many answers.

    So every answer still stands in every other slot equally often.
    """
    return int(random_fraction(seed, "canary slot") * (answers + 1))


def _copied_slot(seed: str, answers: int) -> int:
    """Return the slot of the answer that a judge sees a copy of, from 0: the same for all judges.

    So every answer is copied equally often, and none gains by standing next to a worse copy.
    """
    return int(random_fraction(seed, "canary copy") * answers)


def _prompt(
    round_: Round, method: Method, question: Question, rubric: Rubric, sheet: BallotPrompt
) -> Prompt:
    texts = [*sheet.texts.values()]
    texts.insert(_slot(round_.seed, len(texts)), _cut_like(texts, _text(round_, question, texts)))
    by_letter = dict(zip(SLOT_LETTERS, texts, strict=False))
    return method.prompt(question, rubric, replace(sheet, texts=by_letter))


def _text(round_: Round, question: Question, texts: Sequence[str]) -> str:
    """Return the canary for a judge who sees these texts; the third of a short one is not cut."""
    kind = canary_kind(round_)
    if kind == OTHER:
        return canary_text(question, round_.seed)
    copied = texts[_copied_slot(round_.seed, len(texts))].removesuffix(_MARK)
    if kind == CUT and len(copied) >= MIN_CUT:
        return _END.sub("", copied[: len(copied) // 3])
    return plant(_farthest(_FALSEHOODS, question, round_.seed), copied)


def plant(sentence: str, text: str) -> str:
    """Return a text with one more sentence next to its middle, or first if it has but one."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    if not ends:
        return f"{sentence} {text}"
    at = min(ends, key=lambda end: abs(end - len(text) / 2))
    return f"{text[:at]} {sentence}{text[at:]}"


def _cut_like(texts: Sequence[str], canary: str) -> str:
    """Return a canary cut and marked like the answers, if these were cut to one length."""
    if not all(text.endswith(_MARK) for text in texts):
        return canary
    length = max(estimate_tokens(text.removesuffix(_MARK)) for text in texts)
    return truncate(canary, length) + _MARK


def _schema(
    method: Method, letters: Sequence[str], nonce: str, rubric: Rubric
) -> dict[str, object]:
    return method.schema(SLOT_LETTERS[: len(letters) + 1], nonce, rubric)


def _cast(
    round_: Round,
    method: Method,
    slate: Slate,
    nonce: str,
    paper: BallotExchange,
    *,
    version: str,
) -> Ballot | SpoiledBallot:
    at = _slot(round_.seed, len(slate.shown))
    shown = (*slate.shown[:at], CANARY, *slate.shown[at:])
    ballot = method.cast(replace(slate, shown=shown), nonce, paper, version=version)
    if isinstance(ballot, SpoiledBallot):
        return ballot
    places = (tuple(x for x in place if x != CANARY) for place in ballot.ranking)
    is_copy = canary_kind(round_) != OTHER
    copied = slate.shown[_copied_slot(round_.seed, len(slate.shown))] if is_copy else None
    return replace(
        ballot,
        shown=slate.shown,
        ranking=tuple(filter(None, places)),
        grades=tuple(pair for pair in ballot.grades if pair[0] != CANARY),
        canary=_place(ballot.ranking, copied),
    )


def _place(ranking: Ranking, copied: Label | None) -> str:
    """Return where a ranking has the canary: among all answers, or next to what it copies.

    One that ties everything does not put it last.
    """
    if len(ranking) == 1:
        return CANARY_NOT_LAST
    compared = [place for place in ranking if not copied or {CANARY, copied} & {*place}]
    if CANARY not in compared[-1]:
        return CANARY_NOT_LAST
    is_tied = copied in compared[-1] if copied else len(compared[-1]) > 1
    return CANARY_TIED if is_tied else CANARY_LAST
