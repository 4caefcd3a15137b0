"""The council: domain types, rules, prompts and counting; `ask` and `rank` are its library."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from council.library import ask, fit, open_models, rank, rank_sync
    from council.panel import Member
    from council.pipeline.ranking import Ranked
    from council.tally.bradley_terry import FittedStrength

    __version__: str

__all__ = [
    "FittedStrength",
    "Member",
    "Ranked",
    "__version__",
    "ask",
    "fit",
    "open_models",
    "rank",
    "rank_sync",
]


def __getattr__(name: str) -> object:
    """Import what the library offers when it is first used; parts of the package need no more."""
    if name == "__version__":
        return import_module("importlib.metadata").version("council-bot")
    if name not in __all__:
        raise AttributeError(f"module 'council' has no attribute {name!r}")
    modules = {
        "FittedStrength": "council.tally.bradley_terry",
        "Member": "council.panel",
        "Ranked": "council.pipeline.ranking",
    }
    return getattr(import_module(modules.get(name, "council.library")), name)
