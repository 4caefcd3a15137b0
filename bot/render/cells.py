"""What a Markdown parser leaves out of tables."""

from collections.abc import Iterable


def has_surplus_cells(lines: Iterable[str], columns: int) -> bool:
    """Say whether a row has more cells than the table has columns: parsers drop those."""
    return any(line.replace("\\|", "").strip().strip("|").count("|") >= columns for line in lines)
