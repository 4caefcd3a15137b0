"""What verdicts were worth and the bias of chairmen, as sentences, tables and JSON."""

from math import log

import pytest

from bot.bakeoffs.render.bias_export import bias_document
from bot.bakeoffs.render.bias_findings import findings, plain_findings
from bot.bakeoffs.render.bias_message import bias_post
from bot.bakeoffs.render.bias_tables import judges_legend
from bot.bakeoffs.render.bias_verdicts import chairmen_table, verdict_lines, verdict_table
from bot.chat import Line, Table
from council.bakeoffs.bias.report import ChairmanBias, Effect, VerdictValue
from council.bakeoffs.bias.verdict_value import rate_effect
from tests.bot.bakeoffs.render.bias.builders import a_bias
from tests.bot.bakeoffs.render.boards.builders import CLAUDE, GPT

SURE = VerdictValue("clear", True, "people", rate_effect(30, 40), 0.25)
UNANIMOUS = VerdictValue("unanimous", True, "people", rate_effect(11, 12), 0.25)
CLOSE = VerdictValue("close", False, "people", rate_effect(30, 60), 0.25)
NO_EFFECT = Effect(4, "rounds")


def a_chairman(chairman: str = CLAUDE, own: float = 0.0, early: float = 0.0) -> ChairmanBias:
    """Return a chairman; a bias other than 0 is beyond chance."""

    def effect(value: float) -> Effect:
        p = 0.003 if value else 0.6
        return Effect(100, "rounds", value, (value - 0.5, value + 0.5), p / 4, p)

    return ChairmanBias(
        chairman=chairman,
        rounds=120,
        own=effect(own),
        own_used=rate_effect(71, 100),
        own_expected=0.55,
        early=effect(early),
        points=effect(0),
        length=effect(0),
        departs=rate_effect(6, 120),
        backed=rate_effect(0, 0),
    )


UNKNOWN = ChairmanBias(
    GPT, 4, NO_EFFECT, NO_EFFECT, None, NO_EFFECT, NO_EFFECT, NO_EFFECT, NO_EFFECT, NO_EFFECT
)


def test_a_sentence_says_how_often_people_agreed_with_a_sure_line() -> None:
    assert [*verdict_lines((SURE, UNANIMOUS, CLOSE))] == [
        "When the line said “clearly ahead”, people agreed in 41 of 52 rounds; otherwise in 30 of "
        "60."
    ]
    assert [*verdict_lines((SURE,))] == [
        "When the line said “clearly ahead”, people agreed in 30 of 40 rounds."
    ]


def test_grades_have_a_sentence_of_their_own_and_a_line_may_never_have_been_sure() -> None:
    graded = VerdictValue("tied", False, "grades", rate_effect(9, 30), 0.4)

    assert [*verdict_lines((CLOSE, graded))] == [
        "People agreed with the answer in first place in 30 of 60 rounds; the line never said "
        "“clearly ahead” there.",
        "The answer in first place was right in 9 of 30 graded rounds; the line never said "
        "“clearly ahead” there.",
    ]


def test_below_thirty_rounds_there_is_no_sentence() -> None:
    assert [*verdict_lines((UNANIMOUS,))] == []


def test_the_table_has_a_row_for_each_line_and_columns_of_what_is_known() -> None:
    graded = VerdictValue("close", False, "grades", rate_effect(3, 4), 0.5)

    people, both = (
        verdict_table(a_bias(verdicts=found)) for found in ((SURE, CLOSE), (SURE, CLOSE, graded))
    )

    assert people
    assert both
    assert people.columns == ("The line", "People agreed", "By chance")
    assert people.rows == (
        ("Clearly ahead", "30 of 40 (60–86 %)", "25 %"),
        ("Slightly ahead; could be chance", "30 of 60 (38–62 %)", "25 %"),
    )
    assert both.rows[0][3:] == ("–", "–")
    assert both.rows[1][3:] == ("3 of 4 (30–95 %)", "50 %")
    assert verdict_table(a_bias()) is None


def test_a_chairmans_bias_is_among_the_findings() -> None:
    bias = a_bias(chairmen=(a_chairman(own=log(2)), a_chairman(GPT, own=-1.0, early=-1.0)))

    plain = [line for line in plain_findings(bias) if line.startswith("As chairman")]
    exact = [line for line in findings(bias) if line.startswith("As chairman")]

    assert plain == [
        "As chairman, Claude Sonnet 4.6 uses its own answer more often than its points and length "
        "explain.",
        "As chairman, GPT-5.1 uses its own answer less often than its points and length explain.",
        "As chairman, GPT-5.1 tends to use what it reads last.",
    ]
    assert exact[0] == (
        "As chairman, Claude Sonnet 4.6 used its own answer in 71 % of 100 rounds; points, length "
        "and place of reading explain 55 % (odds × 2.0, 1.2 to 3.3, p .003)."
    )
    assert exact[2] == (
        "As chairman, GPT-5.1 uses the first answer it reads less often than the last (odds × 0.4, "
        "0.2 to 0.6, p .003)."
    )


def test_the_table_of_chairmen_says_what_is_not_known_yet() -> None:
    table = chairmen_table(a_bias(chairmen=(a_chairman(early=1.0), UNKNOWN)))

    assert table
    assert table.rows[0][1:4] == ("71 of 100 (61–79 %)", "55 %", "× 1.0 (0.6 to 1.6)")
    assert table.rows[0][4:] == ("× 2.7 (1.6 to 4.5)\u00a0*", "6 of 120 (2–10 %)", "–")
    assert table.rows[1][2:4] == ("–", "too few to say")
    assert chairmen_table(a_bias()) is None


def test_the_post_and_the_json_have_what_a_verdict_was_worth() -> None:
    bias = a_bias(verdicts=(SURE, CLOSE), chairmen=(a_chairman(own=1.0),))
    (line,) = verdict_lines((SURE, CLOSE))

    document = bias_document(bias)

    assert Line(line) in bias_post(bias).parts
    assert document["verdict_lines"] == [line]
    assert document["verdicts"][0]["agreed"]["value"] == pytest.approx(0.75)
    assert document["verdicts"][0]["strength"] == "clear"
    assert document["chairmen"][0]["own"]["found"] is True
    assert document["chairmen"][0]["own_expected"] == pytest.approx(0.55)


def test_the_legend_explains_only_the_signs_that_are_there() -> None:
    assert judges_legend(Table(("Judge", "Own"), (("A", "+.31\u00a0*"), ("B", "–")))) == (
        "* unlikely to be chance. – too little data."
    )
    assert judges_legend(Table(("Judge", "Own"), (("A", "+.31"),))) == ""
