"""Rounds of research methods, with what these ask besides answers and rankings."""

from collections import Counter
from dataclasses import replace

import pytest

from bot.render.round_json import round_document
from bot.render.round_report.rankings import slates_to_read, voter_title
from bot.render.round_report.thread import whole_round
from council.registry import NO_PLUGINS
from tests.bot.rounds import words_of
from tests.council.research.test_methods import a_round_by, run
from tests.fakes.gateway import FakeGateway


async def test_rankings_in_a_knockout_are_numbered_by_judge() -> None:
    round_ = await run(FakeGateway(), a_round_by("pairwise-elimination", 5))
    assert round_.draw

    titles = [voter_title(round_, slate) for slate in slates_to_read(round_, round_.draw)]

    judges = Counter(title.partition(", ranking ")[0] for title in titles)
    for judge, count in judges.items():
        numbered = [f"{judge}, ranking {number}" for number in range(2, count + 1)]
        assert [one for one in titles if one.partition(",")[0] == judge] == [judge, *numbered]


@pytest.mark.parametrize("method", ["critique", "peer-review", "peer-discussion", "grading"])
async def test_a_round_is_shown_without_its_plug_in_and_says_what_it_needs(method: str) -> None:
    known = await run(FakeGateway(), a_round_by(method, 5))
    stored = replace(known, registry=NO_PLUGINS)

    thread = whole_round(stored)
    said = "\n".join(words_of(post) for post in (thread.root, *thread.replies))

    assert round_document(stored)["method"] == method
    assert said.count(f"the plug-in that has the method {method} to recompute this round.") == 1
