from dataclasses import replace

import pytest

from council.gateways.local.server import CPU_FLAGS, Machine, inspect_machine, unsupported_reason

GOOD = Machine("Linux", "x86_64", (2, 35), CPU_FLAGS | {"sse2"}, has_openmp=True)


def test_a_current_linux_machine_runs_the_models() -> None:
    assert unsupported_reason(lambda: GOOD) is None


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        pytest.param(replace(GOOD, system="Darwin"), "Linux on x86-64 only", id="mac"),
        pytest.param(replace(GOOD, processor="aarch64"), "Linux on x86-64 only", id="arm"),
        pytest.param(replace(GOOD, glibc=(2, 31)), "glibc 2.35", id="old-glibc"),
        pytest.param(replace(GOOD, glibc=()), "glibc 2.35", id="musl"),
        pytest.param(replace(GOOD, cpu_flags=frozenset()), "AVX2", id="old-processor"),
        pytest.param(replace(GOOD, has_openmp=False), "install the package libgomp1", id="slim"),
    ],
)
def test_an_unsupported_machine_gets_an_alternative(machine: Machine, reason: str) -> None:
    sentence = unsupported_reason(lambda: machine) or ""

    assert reason in sentence
    assert "Ollama" in sentence


def test_this_machine_can_be_inspected() -> None:
    assert inspect_machine().system
