"""Leaderboards in a terminal of any width."""

import pytest
from rich.cells import cell_len

from bot.bakeoffs.render.leaderboard_tables import Column, author_columns, judge_columns
from bot.chat import (
    Post,
    Table,
)
from tests.bot.bakeoffs.render.boards.builders import EMPTY, a_judge, an_author
from tests.bot.test_terminal_rendering import printed


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        pytest.param(author_columns(EMPTY), [an_author(n) for n in range(3)], id="authors"),
        pytest.param(judge_columns(EMPTY), [a_judge(n) for n in range(3)], id="judges"),
    ],
)
def test_no_header_and_no_number_is_ever_cut(
    columns: tuple[Column, ...], lines: list[object], width: int
) -> None:
    rows = tuple(tuple(column.shown(line) for column in columns) for line in lines)
    numeric = frozenset(i for i, column in enumerate(columns) if not column.is_text)
    table = Table(tuple(column.title for column in columns), rows, numeric)

    shown = printed(Post((table,)), width=width)

    assert "…" not in shown
    assert max(map(cell_len, shown.splitlines())) <= width
    words = " ".join(shown.split())
    assert [cell for row in rows for cell in row if " ".join(cell.split()) not in words] == []
