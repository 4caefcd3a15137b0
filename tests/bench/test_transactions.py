"""A round takes no more transactions than it needs: a count, so that it cannot creep up."""

import pytest

from tests.bench.transactions import SEATS, count_round

REPLIES = 2 * len(SEATS) + 1  # each is stored at once, in a transaction of its own here
# While the round runs, costs without a reply may be stored every tenth of a second.
SPARE = 4


@pytest.mark.parametrize(("chat", "others"), [("terminal", 13), ("page", 10), ("slack", 21)])
async def test_a_round_takes_few_transactions_besides_its_replies(chat: str, others: int) -> None:
    count = await count_round(chat)

    assert 0 < len(count.transactions) <= REPLIES + others + SPARE, count.table()
