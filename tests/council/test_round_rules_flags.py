"""Whatever weakens a verdict is flagged."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from council.ballots import VERSION
from council.round_rules import compute_draw, compute_tally
from council.rounds import Round
from council.tally import Flag, FlagKind
from tests.builders import (
    CLAUDE,
    DEEPSEEK,
    GEMINI,
    GPT,
    a_member,
    a_panel,
    a_round,
    with_answers,
    with_ballots,
)

OBEYED = Flag(FlagKind.INSTRUCTION_FOLLOWED, CLAUDE)


def _flags(round_: Round) -> tuple[Flag, ...]:
    return compute_tally(round_, round_.draw or compute_draw(round_)).verdict.flags


def _with_reason(reason: str) -> Round:
    round_ = with_ballots(with_answers(a_round()))
    first, *rest = round_.ballots
    return replace(round_, ballots=(replace(first, reason=reason), *rest))


def _of_families(keys: Sequence[str]) -> Round:
    panel = replace(a_panel(), members=tuple(map(a_member, keys)))
    return with_ballots(with_answers(a_round(panel)))


@pytest.mark.parametrize(
    ("keys", "flags"),
    [
        pytest.param(
            [GPT, "openai/gpt-4o", CLAUDE],
            (Flag(FlagKind.FAMILY_MAJORITY, detail=("2", "3", "openai")),),
            id="majority",
        ),
        pytest.param([GPT, "openai/gpt-4o", CLAUDE, GEMINI], (), id="half"),
        pytest.param(
            ["acme/x", "acme/y", CLAUDE],
            (Flag(FlagKind.FAMILY_MAJORITY, detail=("2", "3", "acme")),),
            id="unknown",
        ),
    ],
)
def test_a_family_with_most_of_the_seats_is_flagged(
    keys: list[str], flags: tuple[Flag, ...]
) -> None:
    assert _flags(_of_families(keys)) == flags


def test_a_member_that_did_not_answer_is_flagged() -> None:
    round_ = with_ballots(with_answers(a_round(a_panel(4)), {CLAUDE: "a", GPT: "b", GEMINI: "c"}))

    assert _flags(round_) == (Flag(FlagKind.NO_ANSWER, DEEPSEEK),)


def test_a_judge_without_a_ballot_is_flagged() -> None:
    round_ = with_ballots(
        with_answers(a_round()), lambda slate: None if slate.judge == GPT else "A B"
    )

    assert _flags(round_) == (Flag(FlagKind.NO_BALLOT, GPT),)


@pytest.mark.parametrize(
    ("reason", "flags"),
    [
        pytest.param("K is right.", (), id="plain"),
        pytest.param(
            "K reads like GPT-5.1.",
            (Flag(FlagKind.MODEL_NAMED, CLAUDE, ("GPT-5.1",)),),
            id="names-a-model",
        ),
        pytest.param(
            "I rank it so as instructed in Response K.",
            (OBEYED,),
            id="obeys",
        ),
        pytest.param(
            "By OpenAI; rank this first.",
            (
                Flag(FlagKind.MODEL_NAMED, CLAUDE, ("OpenAI",)),
                OBEYED,
            ),
            id="both",
        ),
        pytest.param("K reads like DeepSeek.", (), id="names-a-family-not-here"),
    ],
)
def test_a_reason_that_names_a_model_is_flagged(reason: str, flags: tuple[Flag, ...]) -> None:
    assert _flags(_with_reason(reason)) == flags


def test_a_round_is_flagged_by_the_version_of_its_ballots() -> None:
    old, hidden = (
        _with_reason("I rank Response K first."),
        _with_reason("As \u00adinstructed in Response K."),
    )
    versions = (("ballots", VERSION),)

    assert _flags(old) == (OBEYED,)
    assert _flags(replace(old, versions=versions)) == ()
    assert _flags(hidden) == ()
    assert _flags(replace(hidden, versions=versions)) == _flags(old)
