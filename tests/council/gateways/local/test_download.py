from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from council.errors import GatewayError
from council.gateways.local.download import ATTEMPTS, Source, download
from tests.council.gateways.local.builders import UNREACHABLE, WEIGHT, sha256
from tests.council.gateways.local.file_server import FileServer


@pytest.fixture
def source(files: FileServer) -> Source:
    files.files["/w"] = WEIGHT
    return Source(f"{files.address}/w", len(WEIGHT), sha256(WEIGHT))


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "w.gguf"


def is_complete(target: Path) -> bool:
    return target.read_bytes() == WEIGHT


def is_removed(target: Path) -> bool:
    return not target.exists() and not part(target).exists()


def part(target: Path) -> Path:
    return target.with_name("w.gguf.part")


async def fetch_file(
    source: Source, target: Path, on_bytes: Callable[[int], None] = lambda _: None
) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        await download(client, source, target, on_bytes)


async def test_a_dropped_connection_is_resumed(
    files: FileServer, source: Source, target: Path
) -> None:
    files.cut_after, files.cuts_left = 100_000, 2

    await fetch_file(source, target)

    assert is_complete(target)
    assert files.served == len(WEIGHT)


async def test_a_partial_download_is_resumed_by_the_next_start(
    files: FileServer, source: Source, target: Path
) -> None:
    files.cut_after, files.cuts_left = 50_000, ATTEMPTS
    with pytest.raises(GatewayError, match="interrupted"):
        await fetch_file(source, target)
    assert part(target).stat().st_size == ATTEMPTS * 50_000

    await fetch_file(source, target)

    assert is_complete(target)
    assert files.served == len(WEIGHT)


async def test_progress_ends_at_the_full_size(source: Source, target: Path) -> None:
    seen: list[int] = []

    await fetch_file(source, target, seen.append)

    assert seen == sorted(seen)
    assert seen[-1] == len(WEIGHT)


async def test_a_server_without_ranges_restarts_the_download(
    files: FileServer, source: Source, target: Path
) -> None:
    files.takes_ranges = False
    part(target).write_bytes(WEIGHT[:1000])

    await fetch_file(source, target)

    assert is_complete(target)


@pytest.mark.parametrize(
    "served",
    [
        pytest.param(bytes(len(WEIGHT)), id="same-length"),
        pytest.param(WEIGHT + b"more", id="longer"),
    ],
)
async def test_a_wrong_file_is_removed(
    files: FileServer, source: Source, target: Path, served: bytes
) -> None:
    files.files["/w"] = served

    with pytest.raises(GatewayError, match="is not that file"):
        await fetch_file(source, target)

    assert is_removed(target)


async def test_a_part_longer_than_the_file_is_removed(
    files: FileServer, source: Source, target: Path
) -> None:
    files.files["/w"] = WEIGHT[:100]
    part(target).write_bytes(WEIGHT[:1000])

    with pytest.raises(GatewayError, match="416"):
        await fetch_file(source, target)

    assert not part(target).exists()


@pytest.mark.parametrize("status", [404, 500])
async def test_a_refusal_is_one_sentence_and_keeps_the_part(
    files: FileServer, source: Source, target: Path, status: int
) -> None:
    files.statuses["/w"] = status
    part(target).write_bytes(WEIGHT[:1000])

    with pytest.raises(GatewayError, match=rf"did not give 'w.gguf' \(it answered {status}\)"):
        await fetch_file(source, target)

    assert part(target).stat().st_size == 1000


async def test_an_unreachable_host_is_one_sentence(source: Source, target: Path) -> None:
    with pytest.raises(GatewayError, match=r"127\.0\.0\.1 cannot be reached to fetch 'w\.gguf'"):
        await fetch_file(replace(source, url=f"{UNREACHABLE}/w"), target)


async def test_a_local_file_is_copied(source: Source, target: Path, tmp_path: Path) -> None:
    local = tmp_path / "a wheel.whl"
    local.write_bytes(WEIGHT)

    await fetch_file(replace(source, url=local.as_uri()), target)

    assert is_complete(target)
    assert is_complete(local)


async def test_a_missing_local_file_is_named(source: Source, target: Path) -> None:
    with pytest.raises(GatewayError, match="is not where pip says"):
        await fetch_file(replace(source, url=(target.parent / "gone.whl").as_uri()), target)
