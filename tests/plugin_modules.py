"""Modules of the tests that a plug-in brings, and that are absent where its package is."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def modules_at(pattern: str) -> list[ModuleType]:
    """Return the modules at a pattern such as "tests/bot/*/app_parts.py", in order."""
    paths = sorted(path.relative_to(ROOT).with_suffix("") for path in ROOT.glob(pattern))
    return [import_module(".".join(path.parts)) for path in paths]
