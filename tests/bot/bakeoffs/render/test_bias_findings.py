"""Findings as sentences: biases first, then how judges vote, what is ruled out or missing."""

from dataclasses import replace
from typing import Any

import pytest

from bot.bakeoffs.render.bias_findings import (
    NO_BIAS_FOUND,
    bias_coverage_line,
    bias_lines,
    findings,
    missing_line,
    none_lines,
    plain_findings,
    voting_lines,
)
from bot.bakeoffs.render.bias_tables import agreement_line, caution_lines, make_bias_view
from bot.bakeoffs.render.leaderboard_tables import Coverage
from council.bakeoffs.bias.report import Effect, JudgeBias, Slot
from tests.bot.bakeoffs.render.bias.builders import (
    AUDITS,
    BALLOTS,
    NOTHING,
    a_bias,
    a_judge,
    a_qwen,
    a_report,
    an_effect,
    an_unknown,
)
from tests.bot.bakeoffs.render.boards.builders import CLAUDE, QWEN

CLOSE = an_effect(0.05, 0.2)


def found(*judges: JudgeBias) -> list[str]:
    bias = a_bias(judges=judges)
    return [*bias_lines(bias), *voting_lines(bias)]


def test_findings_about_a_judge_are_in_order_of_the_measures() -> None:
    assert found(a_qwen()) == [
        "Qwen 3 ranks its own answer .31 higher than the others do (n 52, .18 to .44).",
        "Qwen 3 ranks other models of its family (qwen) .12 higher than the others do (n 88, "
        ".07 to .17).",
        "Over 256 rankings, Qwen 3 placed the first answer .21 higher than chance (p < .001).",
        "Qwen 3 favours longer answers: one that is longer by a standard deviation beats its "
        "equal 65 % of the time (φ .82, n 980, .52 to 1.12).",
        (
            "Qwen 3 favours answers with lists, by .40 in log-odds, adjusted for length (n 980, "
            ".20 to .60)."
        ),
        "Qwen 3 marks down answers with bold, by .30 in log-odds, adjusted for length (n 980, "
        ".10 to .50).",
        "Qwen 3 ranks its family (qwen) .10 higher when it sees the names (n 31, .06 to .14); "
        "blinding prevents that.",
        "Qwen 3 ranks 56 % of pairs the same way when it sees the same answers in another "
        "order, no better than chance (n 21, 47 % to 65 %).",
        "Qwen 3 disagrees with the other judges: agreement −.12 (n 240, −.20 to −.04).",
        "31 % of the rankings of Qwen 3 were invalid (n 260, 26 % to 37 %).",
    ]


def test_findings_in_words_have_no_figures_and_name_all_judges_at_once() -> None:
    both = a_bias(judges=(a_qwen(), a_judge(own=an_effect(-0.3, 0.1)), a_judge(CLAUDE)), brands=())

    assert plain_findings(both) == (
        "Qwen 3 places its own answer too high.",
        "GPT-5.1 places its own answer too low.",
        "Qwen 3 places models of its family too high.",
        "Qwen 3 tends to place the first answer too high.",
        "Qwen 3 favours longer answers.",
        "Qwen 3 favours answers with lists.",
        "Qwen 3 marks down answers with bold.",
        "Qwen 3 places its family too high when names are shown; blinding prevents that.",
        "Qwen 3 ranks differently as if by chance when the order changes.",
        "Qwen 3 disagrees with the other judges.",
        "Qwen 3 gave invalid rankings 31 % of the time.",
        *none_lines(both),
    )


def test_findings_that_judges_share_are_one_sentence() -> None:
    long = an_effect(0.8, 0.3, 980, BALLOTS)
    spoiled = Effect(28, BALLOTS, 1.0, (0.9, 1.0))
    gpt, claude = a_judge(length=long), a_judge(CLAUDE, length=long)

    two = plain_findings(a_bias(judges=(gpt, claude), brands=()))
    every = plain_findings(a_bias(judges=(gpt, claude, a_judge(QWEN, length=long)), brands=()))
    nothing = plain_findings(a_bias(judges=(a_judge(spoiled=spoiled),), brands=()))

    assert two[0] == "GPT-5.1 and Claude Sonnet 4.6 favour longer answers."
    assert every[0] == "All 3 judges favour longer answers."
    assert "GPT-5.1 gave no valid ranking." in nothing


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        (
            {"own": an_effect(-0.31, 0.13)},
            "GPT-5.1 ranks its own answer .31 lower than the others do (n 52, .18 to .44).",
        ),
        (
            {"length": an_effect(-0.82, 0.3, 980, BALLOTS)},
            "GPT-5.1 favours shorter answers: one that is shorter by a standard deviation "
            "beats its equal 65 % of the time (φ .82, n 980, −1.12 to −.52).",
        ),
        (
            {"position": an_effect(0.03, 0.01, 9000, BALLOTS), "slots": ()},
            "Over 9,000 rankings, GPT-5.1 placed the same answer .03 higher than chance "
            "(p .002), which hardly matters.",
        ),
        (
            {"position": an_effect(0.2, 0.1), "slots": (Slot(4, an_effect(0.2, 0.1)),)},
            "Over 52 rankings, GPT-5.1 placed the 4th answer .20 higher than chance (p .002).",
        ),
        (
            {"first_slot": an_effect(0.09, 0.05, 256, BALLOTS)},
            "GPT-5.1 ranks what it sees first .09 higher than chance (n 256, .04 to .14).",
        ),
        (
            {"kept": Effect(40, AUDITS, 0.7, (0.6, 0.8))},
            "GPT-5.1 ranks 70 % of pairs the same way when it sees the same answers in another "
            "order (n 40, 60 % to 80 %).",
        ),
        (
            {"agreement": Effect(240, BALLOTS, -0.3, (-0.4, -0.2))},
            "GPT-5.1 disagrees with the other judges: agreement −.30 (n 240, −.40 to −.20).",
        ),
        ({"agreement": Effect(240, BALLOTS, 0.3, (0.2, 0.4))}, ""),
        ({"kept": Effect(6, AUDITS, 0.5, (0.2, 0.8))}, ""),
        ({}, ""),
    ],
)
def test_a_finding_says_which_way_and_how_sure(changed: dict[str, Any], line: str) -> None:
    judge = a_judge(**changed)

    assert found(judge) == ([line] if line else [])
    first, *others = findings(a_bias(judges=(judge,), brands=()))
    is_bias = bool(line) and not {"kept", "agreement"} & changed.keys()
    assert first == (line if is_bias else NO_BIAS_FOUND)
    assert is_bias or not line or line in others


def test_a_family_that_gains_from_its_name_is_named() -> None:
    lines = findings(a_bias(judges=()))

    assert lines == (
        "Judges rank answers by anthropic .06 higher when they see the names (n 21, .03 to "
        ".09); blinding prevents that.",
    )


def test_what_only_holms_correction_rejects_is_no_finding_but_still_open() -> None:
    first = an_effect(0.14, 0.09, 64, BALLOTS, 0.086)
    bias = a_bias(judges=(a_judge(first_slot=first), a_judge(CLAUDE, first_slot=first)), brands=())

    assert findings(bias)[0] == NO_BIAS_FOUND
    assert not any("position" in line.lower() for line in findings(bias))
    assert "position bias" in missing_line(bias)


def test_a_ruled_out_bias_names_its_judges() -> None:
    assert [*none_lines(a_bias())] == [
        "Self-preference: none that matters in Claude Sonnet 4.6.",
        "Position bias: none that matters in Claude Sonnet 4.6, GPT-5.1 and Gemini 3 Pro.",
    ]


def test_one_line_says_what_is_missing_and_how_much_would_settle_it() -> None:
    assert missing_line(a_bias()) == (
        "Too little data yet on self-preference, family preference, position bias, consistency, "
        "length bias, the effect of names and agreement with others. Needs up to 120 more "
        "rankings per judge, some of them audit rankings."
    )


@pytest.mark.parametrize(
    ("changed", "rest"),
    [
        (
            {"own": replace(CLOSE, more=7)},
            "self-preference. Needs up to 7 more rankings per judge.",
        ),
        ({"own": replace(CLOSE, more=743)}, "self-preference. Needs up to 750 more rankings"),
        ({"own": replace(CLOSE, more=80_000)}, "self-preference. Needs more than 5,000 more"),
        ({"own": Effect(2, AUDITS, 0.2, (-0.5, 0.9))}, "self-preference."),
        ({"own": Effect(0, AUDITS)}, "self-preference. Needs audit rankings."),
        ({"kept": Effect(6, AUDITS, 0.5, (0.2, 0.8))}, "consistency."),
        ({"agreement": Effect(4, BALLOTS, 0.3, (-0.2, 0.8))}, "agreement with others."),
        ({"agreement": Effect(0, BALLOTS)}, "agreement with others."),
    ],
)
def test_what_is_missing_names_each_question(changed: dict[str, Any], rest: str) -> None:
    settled = an_effect(0.5, 0.1, 980, BALLOTS)

    line = missing_line(a_bias(judges=(a_judge(**{"length": settled, **changed}),)))

    assert line.startswith(f"Too little data yet on {rest}")


def test_nothing_is_missing_where_every_question_is_answered() -> None:
    judge = a_judge(length=an_effect(0.5, 0.1, 980, BALLOTS))

    assert missing_line(a_bias(judges=(judge,))) == ""


def test_family_bias_needs_another_seat_of_the_family() -> None:
    one, two = a_judge(), an_unknown(QWEN)

    alone = missing_line(a_bias(judges=(one,)))
    both = missing_line(a_bias(judges=(replace(two, own=an_effect(0, 0.2)), an_unknown())))

    assert "family" not in alone
    assert "family preference" in both


def test_a_majority_and_votes_alike_are_cautioned_about() -> None:
    assert [*caution_lines(a_bias(majority="qwen", n_eff=1.4))] == [
        "Most judges are from one family, qwen. If it prefers its own answers, it outvotes the "
        "others.",
        "The judges vote much alike: 5 judges count as about 1.4 independent ones.",
    ]


def test_few_rounds_and_a_single_judge_are_cautioned_about() -> None:
    lines = [*caution_lines(a_bias(rounds=4, judges=(a_judge(),), n_eff=None))]

    assert lines == [
        "There is only one judge, so there is nobody to compare it with.",
        "4 rounds are few: most biases need 30 or more to be distinguished from chance.",
    ]


def test_agreement_shows_only_known_numbers() -> None:
    assert "Krippendorff’s α over all rankings is" in agreement_line(a_bias())
    assert "count as 2.6 independent ones" in agreement_line(a_bias())
    assert agreement_line(a_bias(alpha=None, n_eff=None)) == (
        "N_eff needs thirty rounds of a panel."
    )


def test_coverage_names_the_filters_or_says_what_to_do() -> None:
    nothing = make_bias_view(NOTHING, Coverage(panel="house"), {})
    of_suite = make_bias_view(a_report(), Coverage(64, suite="sql", category="joins"), {})

    assert bias_coverage_line(a_bias()) == (
        "Over 64 finished rounds with 256 rankings, panel house, since 2026-10-01."
    )
    assert "suite sql, category joins" in bias_coverage_line(of_suite)
    assert "No finished rounds" in bias_coverage_line(nothing)
