"""Plain-text tables."""

from bot.chat import Table
from bot.render.formatting import monospace_table


def test_columns_line_up_where_characters_are_wide() -> None:
    table = Table(("名前", "n"), (("a", "1"), ("漢字", "22")), frozenset({1}))

    assert monospace_table(table) == "名前   n\na      1\n漢字  22"


def test_a_long_cell_stays_complete_on_one_line() -> None:
    assert monospace_table(Table(("a", "b"), (("x\n" * 30, "y"),))).endswith("x x  y")
