"""The tests of the core import no plug-in, so that they run where its package was deleted."""

import pytest
from grimp import ImportGraph, build_graph

from tests.deploy.core_alone import WHOLE

ABOUT_ALL = tuple(f"{folder.replace('/', '.')}." for folder in WHOLE)


@pytest.fixture(scope="module")
def graph() -> ImportGraph:
    packages = ("bot", "council", "storage", "tests")
    return build_graph(*packages, cache_dir=None, exclude_type_checking_imports=True)


@pytest.mark.parametrize("packages", [("bakeoffs", "research"), ("slack",), ("discord",)])
def test_tests_outside_a_plug_ins_folders_do_without_it(
    graph: ImportGraph, packages: tuple[str, ...]
) -> None:
    def is_in_plug_in(module: str) -> bool:
        return not {*packages}.isdisjoint(module.split("."))

    def is_test(module: str) -> bool:
        file = module.rpartition(".")[2]
        return file.startswith("test_") or file == "conftest"

    reaching = {module: "" for module in graph.modules if is_in_plug_in(module)}
    found = [*reaching]
    for module in found:
        for importer in graph.find_modules_that_directly_import(module):
            if importer not in reaching:
                reaching[importer] = module
                found.append(importer)

    wrong = [
        f"{module} imports {reaching[module]}"
        for module in sorted(reaching)
        if is_test(module) and not is_in_plug_in(module) and not module.startswith(ABOUT_ALL)
    ]
    assert wrong == []
