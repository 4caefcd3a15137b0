"""Simultaneous writes share a batch, and none fails because of another."""

import asyncio
from collections.abc import Sequence
from itertools import chain

import pytest

from storage.transactions import ConnectionLostError, WriteBatcher


class Batches:
    """Remembers what was done in one turn; refuses what is negative, and all that comes with it."""

    def __init__(self) -> None:
        self.turns: list[list[int]] = []

    async def do(self, acts: Sequence[int]) -> None:
        await asyncio.sleep(0)
        if min(acts) < 0:
            raise ValueError(str(min(acts)))
        self.turns.append([*acts])


async def test_what_comes_while_others_are_done_shares_the_next_turn() -> None:
    turns = Batches()
    batcher = WriteBatcher(turns.do)

    await asyncio.gather(*map(batcher.add, (1, 2, 3, 4)))

    assert [*chain(*turns.turns)] == [1, 2, 3, 4]
    assert len(turns.turns) < 4


async def test_an_act_fails_alone_for_its_own_fault() -> None:
    turns = Batches()
    batcher = WriteBatcher(turns.do)

    ends = await asyncio.gather(*map(batcher.add, (1, 2, -3, 4)), return_exceptions=True)

    assert [str(end) for end in ends] == ["None", "None", "-3", "None"]
    assert sorted(chain(*turns.turns)) == [1, 2, 4]


async def test_after_a_fault_the_next_act_is_done() -> None:
    turns = Batches()
    batcher = WriteBatcher(turns.do)

    with pytest.raises(ValueError, match="-1"):
        await batcher.add(-1)
    await batcher.add(2)

    assert turns.turns == [[2]]


async def test_what_a_server_lost_is_lost_for_all_at_once() -> None:
    turns: list[Sequence[int]] = []

    async def lose(acts: Sequence[int]) -> None:
        await asyncio.sleep(0)
        turns.append(acts)
        raise ConnectionLostError("It was lost.")

    batcher = WriteBatcher(lose)

    ends = await asyncio.gather(*map(batcher.add, (1, 2, 3, 4)), return_exceptions=True)

    assert [str(end) for end in ends] == ["It was lost."] * 4
    assert [*chain(*turns)] == [1, 2, 3, 4]
