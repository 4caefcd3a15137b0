"""Distributions with plug-ins, written to a folder as if they were installed."""

import sys
from pathlib import Path

import pytest


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str) -> None:
    """Install a module of this name with an entry point."""
    module = f"installed_{name.replace('-', '_')}"
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    info = folder / f"{module}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: council-{name}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(f"[council.plugins]\n{name} = {module}:PLUGIN\n")
    monkeypatch.delitem(sys.modules, module, raising=False)  # as another test installed it
    monkeypatch.syspath_prepend(str(folder))
