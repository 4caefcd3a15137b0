"""A bias report as one post, findings first, and its tables."""

from dataclasses import replace
from math import inf, nan
from typing import Any

from bot.bakeoffs.render.bias_export import bias_document
from bot.bakeoffs.render.bias_message import bias_post, render_combined_bias_png
from bot.bakeoffs.render.bias_tables import (
    ALL_MEASURES,
    audit_lines,
    brand_table,
    check_lines,
    given_table,
    judge_table,
    judges_table,
    make_bias_view,
    slots_table,
    winning_lines,
    winning_table,
)
from bot.bakeoffs.render.leaderboard_tables import Coverage
from bot.chat import Caution, File, Heading, Line, Note, Post
from council.bakeoffs.bias.report import CheckRate, Effect, GivenShare
from tests.bot.bakeoffs.render.bias.builders import (
    COVERAGE,
    NOTHING,
    a_bias,
    a_judge,
    a_report,
    an_effect,
    an_unknown,
    some_given,
)
from tests.bot.bakeoffs.render.boards.builders import GPT
from tests.bot.rounds import words_of


def lines(post: Post) -> list[str]:
    return [part.text for part in post.parts if isinstance(part, Line)]


def test_five_findings_come_first_then_cautions_then_what_is_missing_and_the_charts() -> None:
    post = bias_post(a_bias(majority="qwen"), render_combined_bias_png(a_bias()))

    kinds = [type(part) for part in post.parts]
    assert kinds == [Heading, *[Line] * 5, Caution, Caution, Note, File]
    assert lines(post)[0].startswith("Qwen 3 places its own answer too high")
    note, file = post.parts[-2:]
    assert isinstance(note, Note)
    assert isinstance(file, File)
    assert note.text.startswith(
        "And 7 more findings on the page. Over 64 finished rounds with 256 rankings, panel house, "
        "since 2026-10-01. Too little data yet on "
    )
    assert post.summary.startswith("Bias of the judges: Qwen 3 places its own answer")
    assert file.content.startswith(b"\x89PNG")
    assert "Qwen 3: Claude Sonnet 4.6 .90 (n " in file.text


def test_a_check_is_one_line_in_every_report() -> None:
    rate = CheckRate("canary", GPT, Effect(40, "rounds", 0.075, (0.026, 0.199)))
    bias = a_bias(checks=(rate,))

    line = "GPT-5.1 fell for the canary in 3 of 40 rounds (3 % to 20 %)."
    assert [*check_lines(bias)] == [line]
    assert line in lines(bias_post(bias))
    assert bias_document(bias)["checks"][0] == {
        "kind": "canary",
        "seat": GPT,
        "n": 40,
        "unit": "rounds",
        "value": 0.075,
        "p": None,
        "p_holm": None,
        "more": None,
        "ci": [0.026, 0.199],
        "found": False,
    }


def test_a_check_of_whole_rounds_names_no_seat() -> None:
    rate = CheckRate("filter", "", Effect(40, "rounds", 0.075, (0.026, 0.199)))

    (line,) = check_lines(a_bias(checks=(rate,)))

    assert line == (
        "The filter model suspected an answer or a reason in 3 of 40 rounds (3 % to 20 %)."
    )


def test_without_rounds_a_sentence_says_what_to_do() -> None:
    post = bias_post(make_bias_view(NOTHING, Coverage(), {}))

    assert "No rounds yet" in words_of(post)


def test_what_has_too_little_data_is_in_no_table() -> None:
    nothing = a_bias(judges=(an_unknown(),), brands=(), traits=())

    assert judges_table(nothing) is None
    assert judge_table(nothing, nothing.report.judges[0]).rows == ()
    assert (brand_table(nothing), winning_table(nothing)) == (None, None)


def test_a_row_has_effect_interval_n_p_and_what_would_settle_it() -> None:
    bias = a_bias()
    own, *_ = judge_table(bias, bias.report.judges[2]).rows

    cells = ("+.05", "−.15 to +.25", "52 audit rankings", "p .400", "about 120 more")
    assert own == ("Own answer", *cells)


def test_a_judge_without_family_has_no_row_for_it() -> None:
    bias = a_bias()
    first, *_, qwen, _ = bias.report.judges

    titles = [row[0] for row in judge_table(bias, first).rows]

    assert "Own family" not in titles
    assert "Own family" in [row[0] for row in judge_table(bias, qwen).rows]
    assert {"Style: lists", "Longer answers", "Invalid"} <= {*titles}


def test_the_judges_table_marks_what_is_beyond_chance() -> None:
    table, alone = judges_table(a_bias()), judges_table(a_bias(judges=(a_judge(),)))

    assert table
    assert alone
    qwen = dict(zip(table.columns, table.rows[3], strict=True))
    fair = dict(zip(table.columns, table.rows[0], strict=True))
    assert qwen["Own answer"] == "+.31\u00a0*"
    assert fair["Own answer"] == "+.02"
    assert fair["Own family"] == "–"
    assert "Own family" not in alone.columns


def test_the_figures_are_tables_too() -> None:
    bias = a_bias()

    given, slots = given_table(bias), slots_table(bias)

    assert given.columns == ("Judge", *(row[0] for row in given.rows))
    assert given.rows[0][1] == "1.00 (n 64)"
    assert given.rows[-1][1:] == ("",) * 5
    assert slots.columns == ("Judge", "Shown 1", "Shown 2", "Shown 3", "Shown 4")
    assert slots.rows[3][1] == ".21 (.16 to .26)"
    assert slots.rows[4][1:] == ("",) * 4


def test_the_blinding_table_has_a_row_for_each_family_shown_with_names() -> None:
    table = brand_table(a_bias())

    assert table
    assert [row[:4] for row in table.rows] == [
        ("anthropic", "+.06", "+.03 to +.09", "21 audit rankings"),
        ("openai", "+.01", "−.04 to +.06", "21 audit rankings"),
    ]


def test_proven_winning_traits_have_a_sentence_and_all_have_a_row() -> None:
    table = winning_table(a_bias())

    assert table
    assert [*winning_lines(a_bias())] == [
        "Winners are longer than the rest: 312 tokens against 241 (n 64, +47 to +95)."
    ]
    assert table.rows[0][:5] == ("length, tokens", "312", "241", "+71", "+47 to +95")
    assert table.rows[1][:4] == ("lists", "61 %", "58 %", "+3 %")
    assert len(table.rows) == 2  # of the third, too little is known
    often = replace(a_report().traits[1], difference=an_effect(-0.3, 0.1, 64, "rounds"))
    assert [*winning_lines(a_bias(traits=(often,)))] == [
        "Winners have lists less often than the rest: 61 % of them against 58 % "
        "(n 64, −40 % to −20 %)."
    ]


def test_a_number_rounded_to_zero_has_no_minus() -> None:
    length, lists, _ = a_report().traits
    traits = tuple(replace(one, difference=an_effect(-0.004, 0.4)) for one in (length, lists))

    table = winning_table(a_bias(traits=traits))

    assert table
    assert [row[3] for row in table.rows] == ["+0", "+0 %"]


def test_audits_have_kinds_cost_and_how_to_turn_them_off() -> None:
    assert [*audit_lines(a_bias())] == [
        "64 audit rankings, made to measure bias and never counted. They cost $0.031 in total.",
        "“audit_share = 0” for a panel in council.toml turns them off; a larger share "
        "gives clearer findings.",
    ]


def test_unknown_cost_and_missing_audits_are_reported() -> None:
    unknown = [*audit_lines(a_bias(audit_usd=None, audits={"new": 1}))]
    none = [*audit_lines(a_bias(audits={"own": 0}))]
    some = [*audit_lines(a_bias(unpriced=4, spoiled_audits=3))]

    assert unknown[0].endswith("Their cost is unknown.")
    assert none[0].startswith("There are no audit rankings")
    assert some[0].endswith("They cost $0.031 in total, plus 4 of unknown cost.")
    assert some[1] == "3 more were invalid and are not measured."


def test_no_nan_is_ever_shown() -> None:
    broken = Effect(3, "ballots", nan, (nan, inf), nan, nan, None)
    fields: dict[str, Any] = {measure.key: broken for measure in ALL_MEASURES}
    judge = a_judge(
        **fields,
        slots=tuple(replace(slot, effect=broken) for slot in a_judge().slots),
        style={"lists": broken},
    )
    given = (GivenShare(judge.judge, judge.judge, nan, 3), *some_given())
    traits = tuple(
        replace(trait, winners=nan, rest=inf, difference=broken) for trait in a_report().traits
    )
    brands = (replace(a_report().brands[0], effect=broken),)
    report = a_report(judges=(judge,), given=given, traits=traits, brands=brands, alpha=nan)

    bias = make_bias_view(replace(report, audit_usd=nan, n_eff=inf), COVERAGE, {})

    post = bias_post(bias, b"\x89PNG")

    tables = (judges_table(bias), brand_table(bias), winning_table(bias), given_table(bias))
    shown = Post((*post.parts, *(table for table in tables if table)))
    files = " ".join(part.text for part in post.parts if isinstance(part, File))
    everything = f"{words_of(shown)} {files} {' '.join(audit_lines(bias))}".lower()
    assert "nan" not in everything.replace("finance", "")
    assert " inf" not in everything
