"""Where answers agree and disagree, with their authors, in the results and in JSON."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from bot.render.agreement import agreement_chip, agreement_parts, split_line
from bot.render.round_json import round_document
from bot.render.round_report.results import results_post
from bot.render.round_report.thread import round_post
from council.rounds import Round
from tests.bot.rounds import answers, held, words_of
from tests.builders import NAMES
from tests.fakes.gateway import FakeGateway

SAID = (
    "Use a table in Postgres. Polling every second is enough for this load.",
    "Use Redis streams, since polling wastes connections and is slow.",
    "Use a table in Postgres. How large the jobs are matters more.",
    "Begin with a table in Postgres and move later.",
)
BY_AUTHOR = dict(zip(NAMES, SAID, strict=False))


async def a_round_with(claims: Mapping[str, object] | None) -> Round:
    """Return a closed round whose chairman claims this; labels are written as authors' texts."""
    first = await held(FakeGateway(answers=answers(*SAID)))
    assert first.draw
    text = json.dumps({"drawn_on": [], "departs": False, "why": "", **(claims or {})})
    for author, said in BY_AUTHOR.items():
        text = text.replace(f"<{said[:12]}>", str(first.draw.labels.label_of(author)))
    chairmen = dict.fromkeys(NAMES, f"A table will do.\n{text}")
    return await held(FakeGateway(answers=answers(*SAID), chairmen=chairmen))


CLAIMS: dict[str, Any] = {
    "agreed": ["Start small"],
    "disputed": [
        {
            "point": "Is polling good enough?",
            "positions": [
                {"labels": [f"<{SAID[0][:12]}>"], "says": "Polling every second is enough"},
                {"labels": [f"<{SAID[1][:12]}>"], "says": "polling wastes connections"},
            ],
        }
    ],
    "unique": [{"label": f"<{SAID[3][:12]}>", "point": "move later"}],
    "open": ["How many jobs are there?"],
}


async def test_the_results_say_who_disagrees_on_what_after_the_table() -> None:
    round_ = await a_round_with(CLAIMS)
    assert round_.draw

    said = words_of(results_post(round_, round_.draw))

    lines = (
        "**They disagree:** Is polling good enough?",
        "Claude Sonnet 4.6: “Polling every second is enough”",
        "GPT-5.1: “polling wastes connections”",
        "**They agree:** Start small.",
        "**Only DeepSeek V3.2:** “move later”",
        "**Still open:** How many jobs are there?",
    )
    places = [said.index(line) for line in lines]
    assert places == sorted(places)
    assert said.index("Points") < places[0]
    assert agreement_chip(round_) == "1 point disputed"
    root = words_of(round_post(round_))
    assert "They split on one point: is polling good enough?" in root
    assert root.index("They split") < root.index("Best-ranked")


async def test_the_json_has_the_map_by_label() -> None:
    round_ = await a_round_with(CLAIMS)
    assert round_.draw

    found = json.loads(json.dumps(round_document(round_)))["analysis"]

    assert found.keys() == {"agreed", "disputed", "unique", "open"}
    label = round_.draw.labels.label_of(next(iter(NAMES)))
    assert found["disputed"][0]["positions"][0] == {
        "labels": [label],
        "says": "Polling every second is enough",
    }


@pytest.mark.parametrize(
    ("claims", "chip"),
    [
        pytest.param(None, "", id="no-map"),
        pytest.param({"agreed": [], "open": []}, "", id="empty"),
        pytest.param({"agreed": ["Start small."]}, "The answers agree", id="agreed"),
    ],
)
async def test_without_a_dispute_the_chip_says_so_or_nothing(
    claims: Mapping[str, object] | None, chip: str
) -> None:
    round_ = await a_round_with(claims)
    assert round_.draw

    assert agreement_chip(round_) == chip
    assert bool(agreement_parts(round_, round_.draw)) is bool(chip)
    assert (round_document(round_)["analysis"] is None) is (claims is None)


FIRST = f"<{SAID[0][:12]}>"
INVENTED = {"point": "Is it safe?", "positions": [{"labels": [FIRST], "says": "It is unsafe"}]}


@pytest.mark.parametrize(
    ("claims", "line"),
    [
        pytest.param(None, "", id="no-map"),
        pytest.param({"agreed": []}, "", id="nothing-agreed"),
        pytest.param({"agreed": ["Start small."]}, "All four agree.", id="agreed"),
        pytest.param(
            {"agreed": ["Start small."], "unique": CLAIMS["unique"]},
            "All four agree.",
            id="a-quotation-that-is-in-its-answer",
        ),
        pytest.param(
            {"agreed": ["Start small."], "disputed": [INVENTED]}, "", id="a-dispute-left-out"
        ),
        pytest.param(
            {"agreed": ["Start small."], "unique": [{"label": FIRST, "point": "Buy a broker"}]},
            "",
            id="a-quotation-that-is-not",
        ),
    ],
)
async def test_all_agree_only_if_the_answers_bear_out_the_whole_map(
    claims: Mapping[str, object] | None, line: str
) -> None:
    assert split_line(await a_round_with(claims)) == line


@pytest.mark.parametrize(
    ("point", "line"),
    [
        ("Which broker?", "They split on one point: which broker?"),
        ("Postgres or Redis", "They split on one point: Postgres or Redis."),
    ],
)
async def test_a_disputed_point_reads_as_part_of_a_sentence(point: str, line: str) -> None:
    dispute = {**CLAIMS["disputed"][0], "point": point}

    assert split_line(await a_round_with({"disputed": [dispute]})) == line


async def test_of_several_disputed_points_the_first_is_named() -> None:
    disputes = [{**CLAIMS["disputed"][0], "point": point} for point in ("Is it?", "Will it?")]

    line = split_line(await a_round_with({"disputed": disputes}))

    assert line == "They split on two points, first: is it?"
