"""Texts in one order everywhere: by the numbers of their characters, whatever a server's language.

Two processes, or two databases, must not list or compare the same texts differently.
"""

from typing import Any

from sqlalchemy import String
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class ByLetter(FunctionElement[str]):
    """A column of texts in a query; SQLite knows no other order."""

    name = "by_letter"
    type = String()
    inherit_cache = True


def by_letter(column: Any) -> Any:  # noqa: ANN401
    """Give a column of texts, to be ordered by or compared."""
    return ByLetter(column)


@compiles(ByLetter)
def _as_it_is(element: ByLetter, compiler: Any, **options: Any) -> str:  # noqa: ANN401
    return str(compiler.process(element.clauses, **options))


@compiles(ByLetter, "postgresql")
def _collated(element: ByLetter, compiler: Any, **options: Any) -> str:  # noqa: ANN401
    return f'{compiler.process(element.clauses, **options)} COLLATE "C"'
