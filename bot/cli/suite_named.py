"""The suite that is meant on the command line: one of those kept, or a file that holds one."""

from pathlib import Path

from bot.commands.bakeoffs import meant_suite
from bot.commands.context import Desk
from bot.suite_files import READERS, name_from, read_file
from bot.terminal import HERE
from council.bakeoffs.models import Suite
from council.errors import SuiteError


async def suite_named(desk: Desk, named: str) -> Suite:
    """Give the suite; SuiteError where there is none of this name, or its file cannot be read."""
    path = Path(named)
    if path.suffix.lower() not in {*READERS, ".toml"}:
        return await meant_suite(desk, HERE, named)
    return read_file(name_from(path.stem), path.name, _content(path))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SuiteError(f"{path} cannot be read ({error.strerror}): name another file.") from None
