"""Where answers agree and disagree, with their authors, in the results and in JSON."""

import json
from collections.abc import Mapping

import pytest

from bot.render.agreement import agreement_chip, agreement_parts
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


CLAIMS = {
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


async def test_the_results_begin_with_who_disagrees_on_what() -> None:
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
    assert places[-1] < said.index("Points")
    assert agreement_chip(round_) == "1 point disputed"
    assert "disagree" not in words_of(round_post(round_))


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
