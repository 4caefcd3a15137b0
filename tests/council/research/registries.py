"""The registry of the laboratory, and its methods."""

from bot.research.plugin import PLUGIN
from council.methods import METHODS, Method, find_method
from council.registry import build_registry

LABORATORY = build_registry([PLUGIN], methods=METHODS)
RESEARCH_METHODS = tuple(find_method(name, LABORATORY) for name in PLUGIN.methods)


def research_method(name: str) -> Method:
    return find_method(name, LABORATORY)
