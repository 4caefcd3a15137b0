"""Files under their final name, known to be whole by their SHA-256.

A marker beside the file remembers the check, so that it is made again only when the file changed.
Knows no network.
"""

import hashlib
import os
from pathlib import Path

from council.errors import GatewayError


def is_verified(path: Path, sha256: str) -> bool:
    """Say whether the file is there and right; a wrong one is removed."""
    if not path.is_file():
        return False
    if _read(_marker_of(path)) == _remark(path, sha256):
        return True
    if sha256_of(path) != sha256:
        path.unlink()
        return False
    _marker_of(path).write_text(_remark(path, sha256), encoding="ascii")
    return True


def put_in_place(part: Path, target: Path, sha256: str) -> None:
    """Give a finished part its final name; one with the wrong hash is removed instead."""
    if sha256_of(part) != sha256:
        part.unlink()
        raise GatewayError(
            f"What was downloaded as {target.name!r} is not that file (its SHA-256 differs), "
            "so it was thrown away: start again, or use another network."
        )
    # The bytes are on the disk before the name is, so a power cut leaves no hollow file.
    with part.open("rb") as stream:
        os.fsync(stream.fileno())
    part.replace(target)
    _marker_of(target).write_text(_remark(target, sha256), encoding="ascii")


def part_of(target: Path) -> Path:
    """Give the name a file has while it is incomplete."""
    return target.with_name(target.name + ".part")


def remove(target: Path) -> None:
    """Remove the file, its part and its marker, where there."""
    for path in (target, part_of(target), _marker_of(target)):
        path.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """Give the file's SHA-256 in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _marker_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _remark(path: Path, sha256: str) -> str:
    stat = path.stat()
    return f"{sha256} {stat.st_size} {stat.st_mtime_ns}"


def _read(marker: Path) -> str:
    return marker.read_text(encoding="ascii") if marker.is_file() else ""
