"""A bias report as posts: findings first, everything else in the thread."""

from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

from bot.chat import Caution, File, Heading, Line, Note, Post, Table
from bot.render.bias_message import bias_thread, render_combined_bias_png
from bot.render.bias_tables import (
    ALL_MEASURES,
    given_table,
    judge_table,
    judges_table,
    make_bias_view,
    slots_table,
)
from bot.render.leaderboard_tables import Coverage
from council.bias.report import Effect, GivenShare
from tests.bot.render.bias.builders import (
    COVERAGE,
    NOTHING,
    a_bias,
    a_judge,
    a_report,
    an_effect,
    some_given,
)
from tests.bot.rounds import words_of


def reply(heading: str, **changed: object) -> Post:
    replies = bias_thread(a_bias(**changed)).replies
    (found,) = [post for post in replies if post.parts[0] == Heading(heading)]
    return found


def lines(post: Post) -> list[str]:
    return [part.text for part in post.parts if isinstance(part, Line)]


def test_five_findings_come_first_then_cautions_then_coverage() -> None:
    root = bias_thread(a_bias(majority="qwen")).root

    kinds = [type(part) for part in root.parts]
    assert kinds == [Heading, *[Line] * 5, Caution, Caution, Note]
    assert lines(root)[0].startswith("Qwen 3 ranks its own answer .31 higher")
    assert root.parts[-1] == Note(
        "And 11 more findings. Over 64 finished rounds with 256 rankings, panel house, asked "
        "since 2026-10-01."
    )
    assert root.summary.startswith("Bias of the judges: Qwen 3 ranks its own answer")


def test_the_thread_has_all_findings_the_judges_what_wins_and_the_audits() -> None:
    thread = bias_thread(a_bias(), render_combined_bias_png(a_bias()))

    headings = [post.parts[0].text for post in thread.replies if isinstance(post.parts[0], Heading)]
    files = [part for post in thread.replies for part in post.parts if isinstance(part, File)]
    assert headings == [
        "What was found",
        "Judges side by side",
        "What blinding changed",
        "What wins here",
        "Audit rankings",
        "How to read it",
    ]
    assert [file.name for file in files] == ["bias.png", "bias.csv"]
    assert files[0].content.startswith(b"\x89PNG")
    assert "Qwen 3 gave Claude Sonnet 4.6 .90" in files[0].text


@pytest.mark.parametrize(
    ("changed", "heading"),
    [
        ({"judges": (a_judge(),)}, "What was found"),
        ({"brands": ()}, "What blinding changed"),
        ({"traits": ()}, "What wins here"),
    ],
)
def test_a_part_without_content_is_left_out(changed: dict[str, object], heading: str) -> None:
    replies = bias_thread(a_bias(**changed)).replies

    assert all(post.parts[0] != Heading(heading) for post in replies)


def test_without_rounds_a_sentence_says_what_to_do_and_there_is_no_thread() -> None:
    thread = bias_thread(make_bias_view(NOTHING, Coverage(), {}))

    assert "No rounds yet" in words_of(thread.root)
    assert not thread.replies


def test_a_row_has_effect_interval_n_p_and_what_would_settle_it() -> None:
    bias = a_bias()
    own, *_ = judge_table(bias, bias.report.judges[2]).rows
    unknown = judge_table(bias, bias.report.judges[-1]).rows

    cells = ("+.05", "−.15 to +.25", "52 audit rankings", "p .400", "about 120 more")
    assert own == ("Own answer", *cells)
    assert {row[1:3] for row in unknown} == {("too few to say", "")}


def test_a_judge_without_family_has_no_row_for_it() -> None:
    bias = a_bias()
    first, *_, qwen, _ = bias.report.judges

    titles = [row[0] for row in judge_table(bias, first).rows]

    assert "Own family" not in titles
    assert "Own family" in [row[0] for row in judge_table(bias, qwen).rows]
    assert {"Style: lists", "Length φ", "Invalid"} <= {*titles}


def test_the_judges_table_marks_what_is_beyond_chance() -> None:
    table = judges_table(a_bias())

    qwen = dict(zip(table.columns, table.rows[3], strict=True))
    fair = dict(zip(table.columns, table.rows[0], strict=True))
    assert qwen["Own answer"] == "+.31\u00a0*"
    assert fair["Own answer"] == "+.02"
    assert fair["Own family"] == "–"
    assert "Own family" not in judges_table(a_bias(judges=(a_judge(),))).columns


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
    (table,) = [part for part in reply("What blinding changed").parts if isinstance(part, Table)]

    assert [row[:4] for row in table.rows] == [
        ("anthropic", "+.06", "+.03 to +.09", "21 audit rankings"),
        ("openai", "+.01", "−.04 to +.06", "21 audit rankings"),
    ]


def test_proven_winning_traits_have_a_sentence_and_all_have_a_row() -> None:
    post = reply("What wins here")

    (table,) = [part for part in post.parts if isinstance(part, Table)]
    assert lines(post) == [
        "Winners are longer than the rest: 312 tokens against 241 (n 64, +47 to +95)."
    ]
    assert table.rows[0][:5] == ("length, tokens", "312", "241", "+71", "+47 to +95")
    assert table.rows[1][:4] == ("lists", "61 %", "58 %", "+3 %")
    assert table.rows[2][1:4] == ("too few to say",) * 3
    often = replace(a_report().traits[1], difference=an_effect(-0.3, 0.1, 64, "rounds"))
    assert lines(reply("What wins here", traits=(often,))) == [
        "Winners have lists less often than the rest: 61 % of them against 58 % "
        "(n 64, −40 % to −20 %)."
    ]


def test_a_number_rounded_to_zero_has_no_minus() -> None:
    length, lists, _ = a_report().traits
    traits = tuple(replace(one, difference=an_effect(-0.004, 0.4)) for one in (length, lists))

    (table,) = [
        part for part in reply("What wins here", traits=traits).parts if isinstance(part, Table)
    ]

    assert [row[3] for row in table.rows] == ["+0", "+0 %"]


def test_audits_have_kinds_cost_and_how_to_turn_them_off() -> None:
    assert lines(reply("Audit rankings")) == [
        "64 audit rankings, made to measure bias and never counted: 22 with its own answer "
        "included, 21 with the same answers in another order and 21 with the authors’ names "
        "shown. They cost $0.031 in total.",
        "“audit_share = 0” for a panel in council.toml turns them off; a larger share "
        "gives clearer findings.",
    ]


def test_unknown_cost_and_missing_audits_are_reported() -> None:
    unknown = lines(reply("Audit rankings", audit_usd=None, audits={"new": 1}))
    none = lines(reply("Audit rankings", audits={"own": 0}))
    some = lines(reply("Audit rankings", unpriced=4, spoiled_audits=3))

    assert "1 of the kind new. Their cost is unknown." in unknown[0]
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

    thread = bias_thread(
        make_bias_view(replace(report, audit_usd=nan, n_eff=inf), COVERAGE, {}), b"\x89PNG"
    )

    text = " ".join(words_of(post) for post in (thread.root, *thread.replies)).lower()
    files = [part for post in thread.replies for part in post.parts if isinstance(part, File)]
    everything = text + " ".join(file.text for file in files).lower()
    assert "nan" not in everything.replace("finance", "")
    assert " inf" not in everything
    assert "too few" in text
