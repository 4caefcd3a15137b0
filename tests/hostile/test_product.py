"""A small version of `make hostile` on a running product; only what no busy machine changes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.attacks import idle_clients, idle_connections, large_questions, logins
from tests.hostile.product import Product, running_product

MAX_CONNECTIONS = 20


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder: Path = tmp_path_factory.mktemp("hostile")
    with running_product(folder, max_files=2 * MAX_CONNECTIONS + 512) as product:
        yield product


def test_what_is_too_large_is_refused(product: Product) -> None:
    rows = list(large_questions(product, requests=1))

    assert [row for row in rows if not row.holds] == []


def test_idle_clients_of_mcp_shut_nobody_out(product: Product) -> None:
    assert [row for row in idle_clients(product, 5) if not row.holds] == []


def test_idle_connections_are_refused_above_the_limit(product: Product) -> None:
    rows = idle_connections(product, MAX_CONNECTIONS + 5)

    assert [row for row in rows if not row.holds] == []


def test_guesses_of_the_token_lock_nobody_else_out(product: Product) -> None:
    assert [row for row in logins(product) if not row.holds] == []
