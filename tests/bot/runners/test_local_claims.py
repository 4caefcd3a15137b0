"""File claims: a name that one process has claimed is refused to others until it is released."""

import subprocess
import sys
from pathlib import Path

from bot.coordination.locks import FileClaims

TAKE = """
import sys, time
from pathlib import Path
from bot.coordination.locks import FileClaims
print(FileClaims(Path(sys.argv[1])).take(sys.argv[2]), flush=True)
sys.stdin.read()
"""


def other(file: Path, name: str) -> subprocess.Popen[str]:
    """Start a process that claims a name and keeps it until it is killed or its stdin closes."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    words = [sys.executable, "-c", TAKE, str(file), name]
    return subprocess.Popen(words, text=True, **pipes)  # type: ignore[call-overload, no-any-return]


def got(process: subprocess.Popen[str]) -> bool:
    assert process.stdout
    return process.stdout.readline() == "True\n"


def test_a_claimed_name_is_refused_to_other_processes(tmp_path: Path) -> None:
    claims = FileClaims(tmp_path / "lock")
    assert claims.take("r1")

    with other(tmp_path / "lock", "r1") as one, other(tmp_path / "lock", "r2") as two:
        assert (got(one), got(two)) == (False, True)
        assert not claims.take("r2")


def test_a_freed_name_can_be_taken(tmp_path: Path) -> None:
    claims = FileClaims(tmp_path / "lock")
    claims.take("r1")
    claims.take("r2")
    claims.free("r1")

    with other(tmp_path / "lock", "r1") as one, other(tmp_path / "lock", "r2") as two:
        assert (got(one), got(two)) == (True, False)


def test_a_dead_process_has_no_claims(tmp_path: Path) -> None:
    claims = FileClaims(tmp_path / "lock")
    with other(tmp_path / "lock", "r1") as process:
        assert got(process)
        assert not claims.take("r1")
        process.kill()

    assert claims.take("r1")


def test_all_names_are_taken_unless_another_process_has_one(tmp_path: Path) -> None:
    claims = FileClaims(tmp_path / "lock")
    with other(tmp_path / "lock", "r1") as process:
        assert got(process)
        assert not claims.take_all()
        process.kill()

    assert claims.take_all()
    with other(tmp_path / "lock", "r2") as process:
        assert not got(process)
