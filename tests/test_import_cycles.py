"""Our modules import each other in one direction only."""

from graphlib import TopologicalSorter

from grimp import build_graph


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = build_graph("bot", "council", "storage", cache_dir=None)

    # Imports in functions and for annotations count; a circle raises CycleError, which names it.
    TopologicalSorter(
        {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    ).prepare()
