"""Several rankings of each judge, in a discussion."""

import re
from dataclasses import replace

from tests.bot.rounds import held, thread_of
from tests.builders import (
    TERMS,
    a_panel,
)
from tests.council.research.registries import LABORATORY
from tests.fakes.gateway import FakeGateway, rank_by_slot


async def test_a_discussion_is_read_judge_by_judge_and_explained() -> None:
    panel = a_panel(4, terms=replace(TERMS, method="peer-discussion"))
    round_ = await held(FakeGateway(vote=rank_by_slot), panel, registry=LABORATORY)

    thread = thread_of(round_)

    titles = re.findall(r"^\*\*(.+)\*\*: ", thread, re.MULTILINE)
    judges = [title.partition(", ranking ")[0] for title in titles]
    assert judges == sorted(judges, key=judges.index)
    assert len(judges) > len({*judges}) == 4
    assert "in a different order. Judges read each other's ranking and reason in pairs" in thread
    again = next(title for title in titles if title.endswith(", ranking 2"))
    assert re.search(rf"\*\*{re.escape(again)}\*\*: .+ · shown \d", thread)
