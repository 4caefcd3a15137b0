"""`council db`: upgrade the schema; the command that once copied a database says what does now."""

import pytest

from bot.cli.database import USE_EXPORT
from storage.migrate import HEAD_REVISION
from tests.bot.homes import Home


def test_the_schema_is_upgraded(home: Home) -> None:
    assert home.invoke("db", "upgrade").out == f"The database is at schema {HEAD_REVISION}.\n"


@pytest.mark.parametrize("words", [(), ("a.db", "--to", "b.db"), ("postgresql://localhost/x",)])
def test_copy_names_export_and_import_and_does_nothing(home: Home, words: tuple[str, ...]) -> None:
    result = home.invoke("db", "copy", *words)

    assert (result.code, result.out, result.err) == (2, "", f"{USE_EXPORT}\n")
    assert "copy" not in home.invoke("db", "--help").out
