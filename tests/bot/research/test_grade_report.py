"""A report on grades as sentences, tables and a document."""

import json
import random
from dataclasses import replace
from math import isfinite

import pytest

from bot.chat import Line, Table
from bot.research.grade_report import (
    caution_lines,
    finding_lines,
    grades_document,
    grades_post,
    short_names,
)
from council.research.grades import Grade, build_grade_report
from tests.bot.rounds import words_of
from tests.council.research.grade_tables import NEG, POS, over_items


def planted(own: float = 1.0, strict: float = 1.0) -> list[Grade]:
    """Return grades in which ann prefers its own work and cy is strict, by these amounts."""
    chance = random.Random(3)
    return [
        Grade(str(item), POS, judge, author, int(mean + chance.random()))
        for item in range(60)
        for judge in ("ann", "bo", "cy", "di")
        for author in ("ann", "bo", "cy", "di")
        for mean in [3.4 + own * (judge == author == "ann") - strict * (judge == "cy")]
    ]


def test_findings_are_plain_sentences_self_preference_first() -> None:
    first, second, *_ = finding_lines(build_grade_report(planted()))

    assert first.startswith("ann prefers its own work by ")
    assert first.endswith("adjusted for how strict it is and how good its work is, when 5 is best.")
    assert second.startswith("cy is strict: it gives the same work ")


def test_the_other_way_round_has_words_too() -> None:
    first, second, *_ = finding_lines(build_grade_report(planted(-1.0, -1.0)))

    assert first.startswith("ann is harder on its own work by ")
    assert second.startswith("cy is lenient: it gives the same work ")


def test_the_comparisons_of_the_thesis_say_what_else_may_move_them() -> None:
    told = "\n".join(finding_lines(build_grade_report(planted())))

    assert "These grade their own work higher than their peers grade it: ann (" in told
    assert "lower than their peers grade it: cy (" in told
    assert "that alone may be strictness" in told
    assert "that alone may be the quality of the work." in told


def test_where_nothing_is_beyond_chance_the_nearest_is_named() -> None:
    told = finding_lines(build_grade_report(planted(0.1, 0.0)))

    assert told[0] == "No judge's preference for its own work is beyond chance."
    assert "is closest, when 5 is best: about" in told[1]
    assert "more item" in told[1]


def grouped(grades: list[Grade], groups: int) -> list[Grade]:
    return [replace(one, group=f"task {int(one.item) % groups}") for one in grades]


def test_a_finding_from_few_groups_says_on_how_few_it_rests() -> None:
    report = build_grade_report(grouped(planted(), 6))

    assert "60 items from only 6 groups)" in finding_lines(report)[0]
    assert caution_lines(report) == (
        "All numbers rest on 6 groups of items, however many items there are (60). Add groups, "
        "not items.",
    )
    assert grades_document(report)["groups"] == 6
    assert "on 60 items from 6 groups." in words_of(grades_post(report))


def test_whatever_heads_a_report_on_few_groups_says_on_how_few_it_rests() -> None:
    found = finding_lines(build_grade_report(grouped(planted(), 6)))
    none = finding_lines(build_grade_report(grouped(planted(own=0.0), 6)))

    assert all("only 6 groups" in line for line in found)
    assert none[0].endswith("is beyond chance, over 60 items from only 6 groups.")


def test_two_groups_are_too_few_to_say_anything() -> None:
    (line,) = finding_lines(build_grade_report(grouped(planted(), 2)))

    assert line.startswith("Too little data about ann, bo, cy and di: the items come from fewer")


def test_many_groups_need_no_caution() -> None:
    report = build_grade_report(grouped(planted(), 20))

    assert caution_lines(report) == ()
    assert "60 items from 20 groups)" in finding_lines(report)[0]


def test_grades_at_the_ceiling_are_named() -> None:
    high = [replace(one, score=5.0) if one.judge == "bo" else one for one in planted()]

    (caution,) = caution_lines(build_grade_report(high))

    assert "by bo (100% when 5 is best)" in caution
    assert "Better work cannot show there" in caution
    assert caution in words_of(grades_post(build_grade_report(high)))


def test_a_judge_that_gives_only_itself_the_best_grade_is_named() -> None:
    high = [
        replace(one, score=5.0 if one.author == "bo" else 3.0) if one.judge == "bo" else one
        for one in planted()
    ]

    (caution,) = caution_lines(build_grade_report(high))

    assert "for their own work are the best one, 5, by bo (100% when 5 is best)" in caution
    own = {row["judge"]: row["own_at_best"] for row in _rows_of(high)}
    assert [judge for judge, share in own.items() if share == 1] == ["bo"]


def _rows_of(grades: list[Grade]) -> list[dict[str, object]]:
    document = grades_document(build_grade_report(grades))
    return list(document["rows"])


def test_a_preference_net_of_an_objective_score_has_a_sentence_and_a_table() -> None:
    known = [replace(one, truth=float(one.author == "bo")) for one in planted()]

    report = build_grade_report(known)

    assert any("net of the objective score, when 5 is best" in x for x in finding_lines(report))
    assert "Own work, net of its objective score" in words_of(grades_post(report))
    assert "Own work, net of its objective score" not in words_of(
        grades_post(build_grade_report(planted()))
    )
    assert grades_document(report)["rows"][0]["net_p"] < 0.05
    assert grades_document(build_grade_report(planted()))["rows"][0]["net"] is None


@pytest.mark.parametrize(
    ("grades", "said"),
    [
        pytest.param(
            [Grade("1", POS, "a", "b", 4.0)],
            "Too little data about a: it graded no work of its own.",
            id="no-own",
        ),
        pytest.param(
            over_items(["4 3/2 3"] * 5),
            "Too little data about a and b: this needs at least two other judges",
            id="two-judges",
        ),
        pytest.param(
            over_items(["3 3 3/3 3 3/3 3 3"] * 9, NEG),
            "Too little data about a, b and c: all its differences are the same",
            id="ties",
        ),
    ],
)
def test_too_little_to_say_is_said(grades: list[Grade], said: str) -> None:
    assert any(line.startswith(said) for line in finding_lines(build_grade_report(grades)))


def test_the_post_has_findings_and_every_row_in_each_table() -> None:
    post = grades_post(build_grade_report(planted()))

    tables = [part for part in post.parts if isinstance(part, Table)]
    assert isinstance(post.parts[1], Line)
    assert [len(table.rows) for table in tables] == [4] * 5
    assert post.summary.startswith("Self-preference by grades · ann prefers")


def test_what_is_unknown_is_a_dash_in_tables_and_null_in_the_document() -> None:
    report = build_grade_report(over_items(["4 3/2 3"] * 2))

    *_, preference, _ = (part for part in grades_post(report).parts if isinstance(part, Table))
    row = grades_document(report)["rows"][0]

    assert preference.rows[0][3:] == ("–",) * 4
    assert (row["did"], row["did_ci"], row["p_r"], row["ci_g"]) == (None,) * 4


def test_the_document_has_the_named_fields_at_full_precision() -> None:
    document = grades_document(build_grade_report(planted()))

    row = document["rows"][0]
    assert (row["judge"], row["framing"], row["n"]) == ("ann", "pos", 60)
    named = ["s", "s_sd", "r", "r_sd", "t_r", "p_r", "ci_r", "did", "did_ci"]
    named += ["g", "g_sd", "t_g", "p_g", "ci_g"]
    assert set(named) <= row.keys()
    assert row["s"] - row["r"] == pytest.approx(sum(row["ci_r"]) / 2)
    assert document["findings"][0].startswith("ann prefers")
    assert isfinite(row["did"])
    json.dumps(document, allow_nan=False)


def test_routes_are_left_out_of_tables_where_no_two_names_are_alike() -> None:
    assert short_names(["openai/gpt", "xai/grok"]) == {"openai/gpt": "gpt", "xai/grok": "grok"}
    assert short_names(["azure/gpt", "openai/gpt"])["openai/gpt"] == "openai/gpt"
