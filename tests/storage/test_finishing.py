"""Every act on the database comes to its end before a cancellation does."""

from collections.abc import Callable
from inspect import getmembers, iscoroutinefunction, isfunction, unwrap

import pytest

from storage.ledger import SqlLedger
from storage.outgoing import SqlOutgoing
from storage.sql import SqlStore

ACTS = [
    pytest.param(act, id=act.__qualname__)
    for kept in (SqlStore, SqlLedger, SqlOutgoing)
    for name, act in getmembers(kept, isfunction)
    if not name.startswith("_")
]


@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_finished_once_begun(act: Callable[..., object]) -> None:
    assert iscoroutinefunction(act)
    assert unwrap(act) is not act  # `finished` keeps what it wraps
