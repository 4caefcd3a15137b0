"""One file over HTTP, resumed where it stopped, and visible only when whole.

Knows no catalogue and no package.
"""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit
from urllib.request import url2pathname

import httpx

from council.errors import GatewayError
from council.gateways.local.verified import part_of, put_in_place

ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Source:
    """Where a file is, `http(s):` or `file:`, and what it must turn out to be."""

    url: str
    size: int
    sha256: str


async def download(
    client: httpx.AsyncClient, source: Source, target: Path, on_bytes: Callable[[int], None]
) -> None:
    """Fetch the file to its final name, going on from its part; GatewayError when that fails.

    `on_bytes` is told how many bytes there are so far. The part is kept unless its hash is wrong.
    """
    part = part_of(target)
    if source.url.startswith("file:"):
        await asyncio.to_thread(_copy, source, part, target.name)
    else:
        await _persist(client, source, part, on_bytes)
    await asyncio.to_thread(put_in_place, part, target, source.sha256)
    on_bytes(source.size)


async def _persist(
    client: httpx.AsyncClient, source: Source, part: Path, on_bytes: Callable[[int], None]
) -> None:
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            await _go_on(client, source, part, on_bytes)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise GatewayError(
                f"{_place(source)} cannot be reached to fetch {part.stem!r}: check the network "
                "and start again; what is here already is kept."
            ) from error
        except httpx.RequestError as error:
            if not attempts_left:
                raise _interrupted(part) from error
        if _size(part) >= source.size:
            return
    raise _interrupted(part)


async def _go_on(
    client: httpx.AsyncClient, source: Source, part: Path, on_bytes: Callable[[int], None]
) -> None:
    done = _size(part)
    if done >= source.size:
        return
    headers = {"Accept-Encoding": "identity", "Range": f"bytes={done}-"}
    async with client.stream("GET", source.url, headers=headers) as response:
        _check(response, source, part)
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        with _opened(part, keep=resumed) as stream:
            # One byte too many is enough to know that this is another file.
            async for chunk in response.aiter_raw():
                stream.write(chunk)
                on_bytes(min(stream.tell(), source.size))
                if stream.tell() > source.size:
                    return


def _check(response: httpx.Response, source: Source, part: Path) -> None:
    if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
        part.unlink(missing_ok=True)
    if response.is_error:
        raise GatewayError(
            f"{_place(source)} did not give {part.stem!r} (it answered {response.status_code}): "
            "try again later."
        )


def _copy(source: Source, part: Path, name: str) -> None:
    path = Path(url2pathname(urlsplit(source.url).path))
    if not path.is_file():
        raise GatewayError(f"The file {name!r} is not where pip says it is: {str(path)!r}.")
    shutil.copyfile(path, part)


def _opened(part: Path, *, keep: bool) -> BinaryIO:
    return part.open("ab" if keep else "wb")


def _size(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


def _place(source: Source) -> str:
    return urlsplit(source.url).hostname or "The server"


def _interrupted(part: Path) -> GatewayError:
    return GatewayError(
        f"The download of {part.stem!r} was interrupted: start again and it goes on from "
        f"{_size(part) / 1e6:.0f} MB."
    )
