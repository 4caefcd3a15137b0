"""The container file: built of what is here, pinned, without secrets or root, and it runs."""

import re
import sys
from pathlib import Path
from tomllib import loads

from tests.bot.homes import Home, scripted_config, wait_for_exit
from tests.deploy.containerfile import (
    arguments_of,
    command,
    copied,
    health_command,
    instructions,
    variables,
)
from tests.deploy.running import ROOT, answering, start, stop
from tests.ports import free_port

PACKAGES = ("bot", "council", "storage")
ENTRY_POINT = "council_entry_point.py"
SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSWORD", re.IGNORECASE)
STOP_SECONDS = 10  # what docker gives


def test_copied_paths_exist_and_are_in_the_build_context() -> None:
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()

    paths = [*copied()]

    assert {*PACKAGES, ENTRY_POINT, "requirements.txt", "pyproject.toml"} <= {*paths}
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert {path for path in sent if path.startswith("!")} == {f"!{path}" for path in paths}
    assert "*" in sent


def test_every_package_is_pinned_by_its_hash() -> None:
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    pinned = [line for line in text.splitlines() if line and not line.startswith("#")]

    assert any("--require-hashes -r requirements.txt" in given for given in arguments_of("RUN"))
    assert [line for line in pinned if "==" not in line or "--hash=sha256:" not in line] == []


def test_the_image_runs_unprivileged_and_contains_no_secret() -> None:
    text = " ".join(given for _, given in instructions())

    assert arguments_of("USER")[-1].isdigit()
    assert int(arguments_of("USER")[-1]) > 0
    assert [name for name in variables() if SECRET.search(name)] == []
    assert arguments_of("ARG") == []
    assert not re.search(r"xox[bp]-|xapp-|sk-\w{8}", text)


def test_data_files_are_in_the_packages() -> None:
    tool = loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    wanted = [f"{top}/{one}" for top, ones in tool["package-data"].items() for one in ones]
    files = [path for top in PACKAGES for path in (ROOT / top).rglob("*") if path.is_file()]
    others = [path.relative_to(ROOT) for path in files if is_data(path)]

    assert others
    assert [path for path in others if not any(map(path.match, wanted))] == []


async def test_the_command_passes_the_health_check_and_stops_on_sigterm(
    tmp_path: Path,
) -> None:
    port, data = free_port(), tmp_path / "data"
    environment = in_a_container(tmp_path, port)
    Home(data).with_config(scripted_config())

    async with answering(command(), data, environment, port) as process:
        healthy = await wait_for_exit(await start(health_command(), data, environment))
        result, seconds = await stop(process)
    unhealthy = await wait_for_exit(await start(health_command(), data, environment))

    assert (healthy.code, unhealthy.code) == (0, 1), healthy.err
    assert (result.code, result.out) == (0, "")
    assert seconds < STOP_SECONDS
    assert "a long random text" not in result.err


async def test_the_container_needs_a_token(tmp_path: Path) -> None:
    environment = in_a_container(tmp_path, free_port())
    del environment["COUNCIL_WEB_TOKEN"]

    result = await wait_for_exit(await start(command(), tmp_path / "data", environment))

    assert (result.code, len(result.lines)) == (2, 1)
    assert "so set COUNCIL_WEB_TOKEN" in result.err


def in_a_container(folder: Path, port: int) -> dict[str, str]:
    """Return the image's environment, with its paths in a folder that has the image's files."""
    image = folder / "image"
    image.mkdir()
    (folder / "data").mkdir()
    for name in (*PACKAGES, ENTRY_POINT):
        (image / name).symlink_to(ROOT / name)
    moved = {name: value.replace("/data", f"{folder}/data") for name, value in variables().items()}
    return {
        **moved,
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(image),
        "PORT": str(port),
        "COUNCIL_WEB_TOKEN": "a long random text",
        "OLLAMA_API_BASE": "http://127.0.0.1:9",
    }


def is_data(path: Path) -> bool:
    return path.suffix not in {".py", ".pyc"} and "__pycache__" not in path.parts
