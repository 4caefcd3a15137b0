"""Rounds from a database: their plug-ins' methods run and verify, and are named where missing."""

from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import PanelError
from council.integrity.verification import verify
from council.methods import Method, method_of
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from storage.rounds import SqlRoundStore
from tests.builders import TERMS, a_panel, a_round
from tests.fakes.gateway import FakeGateway
from tests.registries import a_registry


async def test_a_round_of_a_plug_ins_method_verifies_from_storage(engine: AsyncEngine) -> None:
    registry = a_registry(Method("haiku-first", "Haiku come first."))
    store = SqlRoundStore(engine, registry=registry)
    terms = replace(TERMS, method="haiku-first")
    await store.open(a_round(a_panel(3, terms=terms), registry=registry))
    await run_round("r1", RoundServices(FakeGateway(), store))

    known, unknown = await store.load("r1"), await SqlRoundStore(engine).load("r1")

    assert known.closing
    assert verify(known) == ()
    with pytest.raises(PanelError, match="the plug-in that has the method haiku-first"):
        method_of(unknown)
    with pytest.raises(PanelError, match="the plug-in that has the method haiku-first"):
        verify(unknown)
