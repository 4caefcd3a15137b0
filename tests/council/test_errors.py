"""Every error is a sentence for the person who asked."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from council.errors import CouncilError, GatewayError, RateLimitError, RoundNotFoundError
from council.panel import Panel, Terms
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from tests.builders import CLAUDE, RUBRIC, a_member, a_panel, a_round
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

JARGON = re.compile(
    r"traceback|exception|error|none\b|null|nan\b|<|0x|\bfile\b|\bline \d|__|\{|errno",
    re.IGNORECASE,
)


def reads_as_a_sentence(text: str) -> bool:
    starts, ends = text[:1].isupper(), text.endswith(".") and not text.endswith("..")
    return starts and ends and not JARGON.search(text) and "\n" not in text


REFUSALS: list[Callable[[], object]] = [
    lambda: a_panel(1, terms=Terms(quorum=1)),
    lambda: a_panel(11),
    lambda: a_panel(3, terms=Terms(quorum=4)),
    lambda: Panel("house", (a_member(CLAUDE),) * 2, RUBRIC),
]


@pytest.mark.parametrize("refused", REFUSALS)
def test_every_error_is_a_sentence(refused: Callable[[], object]) -> None:
    with pytest.raises(CouncilError) as error:
        refused()

    assert reads_as_a_sentence(str(error.value))


async def test_a_missing_round_is_a_sentence() -> None:
    with pytest.raises(RoundNotFoundError) as error:
        await run_round("r9", RoundServices(FakeGateway(), MemoryStore()))

    assert reads_as_a_sentence(str(error.value))


@pytest.mark.parametrize("start", ["r", "x"], ids=["several", "none"])
async def test_an_ambiguous_id_is_a_sentence(start: str) -> None:
    store = MemoryStore()
    await store.open(a_round())
    await store.open(replace(a_round(), id="r2"))

    with pytest.raises(RoundNotFoundError) as error:
        await store.find(start)

    assert reads_as_a_sentence(str(error.value))


async def test_a_missed_quorum_is_a_sentence() -> None:
    store = MemoryStore()
    await store.open(a_round())
    silent = FakeGateway(
        answers=dict.fromkeys(
            (seat.key for seat in a_panel().members), GatewayError("is out of credit")
        )
    )

    round_ = await run_round("r1", RoundServices(silent, store))

    assert round_.closing is not None
    assert reads_as_a_sentence(round_.closing.failure or "")


def test_a_rate_limit_has_its_wait_or_none() -> None:
    assert RateLimitError("asked to wait", 2.5).retry_after_seconds == 2.5
    assert RateLimitError("asked to wait").retry_after_seconds is None
    assert str(RateLimitError("asked to wait", 2.5)) == "asked to wait"
