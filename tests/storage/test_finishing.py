"""Every act on the database comes to its end before a cancellation does."""

from collections.abc import Callable
from inspect import getmembers, iscoroutinefunction, isfunction, unwrap

import pytest

from storage.bakeoffs import SqlBakeoffs
from storage.chain import SqlChain
from storage.experiments import SqlExperiments
from storage.ledger import SqlLedger
from storage.outgoing import SqlOutgoing
from storage.records import SqlRecords
from storage.schedules import SqlSchedules
from storage.sql import SqlStore
from storage.suites import SqlSuites

KEPT = (
    *(SqlStore, SqlLedger, SqlOutgoing, SqlChain),
    *(SqlSuites, SqlBakeoffs, SqlSchedules, SqlRecords, SqlExperiments),
)
ACTS = [
    pytest.param(act, id=act.__qualname__)
    for kept in KEPT
    for name, act in getmembers(kept, isfunction)
    if not name.startswith("_")
]


@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_finished_once_begun(act: Callable[..., object]) -> None:
    assert iscoroutinefunction(act)
    assert unwrap(act) is not act  # `finished` keeps what it wraps
