"""Worst first: half of the judges rank from worst to best, and are read the other way round.

An open question of the project's seeds: whether the direction of ranking matters.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from council.answers import Prompt
from council.ballots import (
    Ballot,
    BallotExchange,
    BallotFault,
    ParsedBallot,
    SpoiledBallot,
    cast_ballot,
    parse_ballot,
    parse_signed_object,
)
from council.labels import WORST_COMES_FIRST, LabelMap, Slate, draw_slates
from council.methods import Method
from council.panel import Rubric
from council.prompts.ballot import (
    BallotPrompt,
    answer_parts,
    judge_prompt,
    judge_rules,
    question_parts,
)
from council.randomness import shuffle
from council.rounds import Question

_FORM = """\
First write a short reason, then the ranking, worst first. Call the answers Response A, Response B \
and so on in the reason. Only the final ranking counts.
Reply with one JSON object and nothing else, in this form, using the nonce given to you:
{"nonce": "…", "reason": "…", "ranking": [["letter of the worst"], ["letter of the next"], …]}
Each inner list is one place; letters that tie share a list. Name every letter once."""


def alternate(slates: Sequence[Slate], seed: str, wordings: tuple[str, str]) -> tuple[Slate, ...]:
    """Return the slates with one wording for half of the judges, by seed, and another for the rest.

    Of an odd number, the first wording has one more.
    """
    turns = {judge: i % 2 for i, judge in enumerate(_by_seed(slates, seed))}
    return tuple(replace(slate, wording=wordings[turns[slate.judge]]) for slate in slates)


def _by_seed(slates: Sequence[Slate], seed: str) -> tuple[str, ...]:
    return shuffle(dict.fromkeys(slate.judge for slate in slates), seed, "wording")


def draw_worst_first(labels: LabelMap, onlookers: Sequence[str], seed: str) -> tuple[Slate, ...]:
    """Return the balanced slates, half of them to be ranked from worst to best."""
    return alternate(draw_slates(labels, onlookers, seed), seed, ("", WORST_COMES_FIRST))


def worst_first_prompt(question: Question, rubric: Rubric, sheet: BallotPrompt) -> Prompt:
    """Return the prompt for one slate, in its wording."""
    if sheet.wording != WORST_COMES_FIRST:
        return judge_prompt(question, rubric, sheet)
    parts = question_parts(question, sheet.reader) + answer_parts(sheet)
    parts.append(
        f"Rank {', '.join(sheet.texts)} from worst to best. Reply with the JSON object alone: "
        "nonce, reason, ranking."
    )
    system = judge_rules(rubric, "Rank them from worst to best")
    return Prompt(f"{system}\n{_FORM}", "\n\n".join(parts))


def cast_worst_first(
    slate: Slate, nonce: str, paper: BallotExchange, *, version: str
) -> Ballot | SpoiledBallot:
    """Return the ballot, turned round if it was asked for worst first."""
    parse = _parse_worst_first if slate.wording == WORST_COMES_FIRST else parse_ballot
    return cast_ballot(slate, nonce, paper, version=version, parse=parse)


def _parse_worst_first(
    text: str, nonce: str, letters: Sequence[str], version: str
) -> ParsedBallot | BallotFault:
    """Return a ranking, turned round; it must name every letter, since the rest would be first."""
    parsed = parse_ballot(text, nonce, letters, version)
    if isinstance(parsed, BallotFault):
        return parsed
    places = parse_signed_object(text, nonce, version)["ranking"]
    named = sum(len(x) if isinstance(x, list) else 1 for x in cast(list[object], places))
    if named < len(letters):
        return BallotFault.LEFT_OUT
    return replace(parsed, ranking=parsed.ranking[::-1])


WORST_FIRST = Method(
    "worst-first",
    "Half of the judges rank from worst to best; their rankings are turned round.",
    draw_worst_first,
    prompt=worst_first_prompt,
    cast=cast_worst_first,
)
