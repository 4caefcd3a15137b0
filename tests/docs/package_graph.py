"""Draw the graph of packages in docs/architecture.md: `python -m tests.docs.package_graph`."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATH = ROOT / "docs" / "architecture.md"
LAYERS = ("council", "storage", "bot")
PLUGINS = ("bakeoffs", "research", "slack", "discord")  # those with packages; all else is core
_BLOCK = re.compile(r"(?<=```mermaid\n).*?(?=```)", re.DOTALL)

Graph = Mapping[str, set[str]]


def imports() -> Iterator[tuple[str, str]]:
    """Yield each import between our modules, as (module that imports, module or name in it)."""
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                named = (isinstance(node, ast.ImportFrom) and node.module) or ""
                if isinstance(node, ast.ImportFrom) and named.partition(".")[0] in LAYERS:
                    yield module, f"{named}.{node.names[0].name}"


def package_of(module: str) -> str:
    """Return the package of a module as the graph names it, such as "bot" or "bot/bakeoffs"."""
    layer, name, *_ = *module.split("."), ""
    return f"{layer}/{name}" if name in PLUGINS else layer


def package_graph() -> Graph:
    """Return the packages that each package imports."""
    graph = defaultdict[str, set[str]](set)
    for importer, imported in imports():
        if package_of(importer) != package_of(imported):
            graph[package_of(importer)].add(package_of(imported))
    return graph


def without_shortcuts(graph: Graph) -> Graph:
    """Return the graph without the arrows that a longer way implies."""

    def reached(start: str) -> set[str]:
        seen, ahead = set[str](), [*graph.get(start, ())]
        while ahead:
            package = ahead.pop()
            if package not in seen:
                seen.add(package)
                ahead += graph.get(package, ())
        return seen

    behind = {package: reached(package) for package in [*graph]}
    return {
        package: {
            one
            for one in direct
            if not any(
                one in behind.get(other, ()) and package not in behind[other] for other in direct
            )
        }
        for package, direct in graph.items()
    }


def mermaid() -> str:
    """Return the graph as a Mermaid flowchart."""
    graph = without_shortcuts(package_graph())
    arrows = [f"  {one} --> {other}\n" for one in sorted(graph) for other in sorted(graph[one])]
    return "flowchart LR\n" + "".join(arrows)


def document() -> str:
    """Return docs/architecture.md with the graph as it is now."""
    return _BLOCK.sub(lambda _: mermaid(), PATH.read_text(encoding="utf-8"), count=1)


if __name__ == "__main__":
    PATH.write_text(document(), encoding="utf-8")
