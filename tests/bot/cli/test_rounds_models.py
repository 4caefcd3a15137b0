"""`council ask` on models behind a server: what they fail of is told, and costs nobody else."""

import asyncio
import time
from dataclasses import dataclass

import pytest

from tests.bot.homes import Home, Result, panel_toml, seat_toml, served_config
from tests.wire.models import (
    ModelServer,
    Request,
    answer,
    by_role,
    fail,
    fences,
    hang,
    no_such_model,
    wrong_key,
)

KEY = "sk-verysecretverysecret"
NAMES = ("good", "fair", "shut", "gone", "hung")
TERMS = {"answer_seconds": 1, "ballot_seconds": 1, "chairman": ["openai/good"]}
ROUGHLY_SECONDS = 30  # far more than the stages may take, far less than the server hangs


@dataclass(frozen=True, slots=True)
class Held:
    """A round with a member that hangs, one whose key is refused and one that does not exist."""

    home: Home
    ran: Result
    took_seconds: float

    @property
    def said(self) -> str:
        return " ".join(self.ran.out.split())


async def hold(home: Home) -> Held:
    async with ModelServer() as server:
        server.script |= {"hung": hang(), "shut": wrong_key(), "gone": no_such_model()}
        home = home.with_config(served_config(server.api_base, NAMES, **TERMS))
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


SIGNED = {
    "claude-sonnet-4-6": ("Claude Sonnet", "As Claude, made by Anthropic, I would wait."),
    "gpt-5.1": ("GPT", "Wait.\n\n— GPT-5.1 by OpenAI"),
    "gemini-3-pro": ("Gemini", "I am gemini-3-pro, a model of Google's: wait."),
    "qwen3-8b": ("Qwen", "**Qwen:** wait, says the assistant by Alibaba."),
}
SAID_BY_NAMES = ("claude", "anthropic", "gpt", "openai", "gemini", "google", "qwen", "alibaba")


def _is_blind(request: Request) -> bool:
    return bool(fences(request.user))


async def test_no_signature_reaches_a_judge_or_a_chairman_on_the_wire(home: Home) -> None:
    config = panel_toml(f"openai/{name}" for name in SIGNED)
    async with ModelServer() as server:
        for name, (display, text) in SIGNED.items():
            server.script[name] = by_role(answer=answer(text))
            config += seat_toml(f"openai/{name}", api_base=server.api_base, display=display)
        ran = await home.with_config(config).beside("ask", "Shall we wait?", "--json")

    blind = [f"{r.system}\n{r.user}".casefold() for r in server.requests if _is_blind(r)]
    assert (ran.code, len(blind)) == (0, 5)
    assert [name for name in SAID_BY_NAMES for text in blind if name in text] == []


SLOW_SECONDS = 2.0


async def test_whoever_hangs_fails_or_is_busy_holds_nobody_up_beyond_the_deadlines(
    home: Home,
) -> None:
    names = ("good", "fair", "hung", "broken", "busy")
    terms = {
        "answer_seconds": SLOW_SECONDS,
        "ballot_seconds": SLOW_SECONDS,
        "synthesis_seconds": SLOW_SECONDS,
        "chairman": ["openai/broken", "openai/good"],
    }
    async with ModelServer() as server:
        server.script |= {"hung": hang(), "broken": fail(500), "busy": fail(429, retry_after=30)}
        home = home.with_config(served_config(server.api_base, names, **terms))
        round_ = (await home.beside("ask", "Why?", "--json")).json

    absent = {absence["member"] for absence in round_["absences"] if absence["role"] == "answer"}
    assert absent == {"openai/hung", "openai/broken", "openai/busy"}
    assert (round_["synthesis"]["chairman"], round_["synthesis"]["fallback"]) == (
        "openai/good",
        "chairman",
    )
    # Two stages to their deadlines, and two chairmen.
    assert round_["seconds"] < 4 * SLOW_SECONDS + 2
