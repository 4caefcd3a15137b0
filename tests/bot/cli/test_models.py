"""`council ask` on models behind a server: what they fail of is told, and costs nobody else."""

import asyncio
import time
from dataclasses import dataclass

import pytest

from tests.bot.homes import Home, Ran, served_panel
from tests.wire.models import ModelServer, hang, no_such_model, wrong_key

KEY = "sk-verysecretverysecret"
NAMES = ("good", "fair", "shut", "gone", "hung")
TERMS = {"answer_seconds": 1, "ballot_seconds": 1, "chairman": ["openai/good"]}
ROUGHLY_SECONDS = 30  # far more than the stages may take, far less than the server hangs


@dataclass(frozen=True, slots=True)
class Held:
    """A round with a member that hangs, one whose key is refused and one that does not exist."""

    home: Home
    ran: Ran
    took_seconds: float

    @property
    def said(self) -> str:
        return " ".join(self.ran.out.split())


async def hold(home: Home) -> Held:
    async with ModelServer() as server:
        server.script |= {"hung": hang(), "shut": wrong_key(), "gone": no_such_model()}
        home = home.with_config(served_panel(server.api_base, NAMES, **TERMS))
        started = time.monotonic()
        ran = await home.with_settings(OPENAI_API_KEY=KEY).beside("ask", "Why?")
        return Held(home, ran, time.monotonic() - started)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Held:
    return asyncio.run(hold(Home(tmp_path_factory.mktemp("served"))))


def test_a_round_closes_with_whoever_answered(held: Held) -> None:
    assert (held.ran.code, held.ran.err) == (0, "")
    assert "2 of 5 answered" in held.said


def test_a_refused_key_is_an_absence_with_a_kind_sentence(held: Held) -> None:
    assert "Shut could not be asked: the key for its server was refused (401)." in held.said


def test_a_refused_key_is_told_nowhere(held: Held) -> None:
    assert KEY not in held.ran.out + held.ran.err
    assert KEY.encode() not in held.home.stored_bytes()


def test_a_model_that_does_not_exist_is_an_absence_with_a_kind_sentence(held: Held) -> None:
    assert "Gone could not be asked: there is no model 'gone' at its server (404)." in held.said


def test_a_hung_member_is_named_before_the_answer_and_holds_nobody_up(held: Held) -> None:
    said = held.said

    assert held.took_seconds < ROUGHLY_SECONDS
    assert said.index("Hung did not answer in 1 s.") < said.index("written by AI")
