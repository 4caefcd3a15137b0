"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO

from council.errors import CouncilError


class FileError(CouncilError):
    """A file that cannot be written."""


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write that stands at the path once the block has ended well.

    Until then it lies beside it under another name; only its owner can read it.
    """
    part: Path | None = None
    try:
        descriptor, name = mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        part = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise _refused(path, error) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise FileError where no file can be written, before any work goes into what it will hold."""
    try:
        descriptor, name = mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise _refused(path, error) from error
    os.close(descriptor)
    Path(name).unlink()


def _refused(path: Path, error: OSError) -> FileError:
    return FileError(
        f"{path} cannot be written ({error.strerror}): nothing was changed; name another file."
    )
