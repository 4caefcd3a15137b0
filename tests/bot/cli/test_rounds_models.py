"""`council ask` on models behind a server: failures are reported and stop nobody else."""

import asyncio

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
NAMES = ("good", "fair", "shut", "gone", "hung", "broken", "busy")
STAGE_SECONDS = 3
RETRY_AFTER_SECONDS = 60  # what the busy server asks for, and far more than the stages may take


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Result]:
    """Return a site and a round of which five of seven members fail, each in its own way."""
    stages = ("answer_seconds", "ballot_seconds", "synthesis_seconds")
    terms = dict.fromkeys(stages, STAGE_SECONDS)

    async def ask() -> tuple[Home, Result]:
        async with ModelServer() as server:
            server.script |= {"hung": hang(), "shut": wrong_key(), "gone": no_such_model()}
            server.script |= {"broken": fail(500), "busy": fail(429, RETRY_AFTER_SECONDS)}
            chairmen = ["openai/broken", "openai/good"]
            config = served_config(server.api_base, NAMES, **terms, chairman=chairmen)
            home = Home(tmp_path_factory.mktemp("served")).with_config(config).with_tables()
            home = home.with_settings(OPENAI_API_KEY=KEY)
            return home, await home.invoke_in_thread("ask", "Why?")

    return asyncio.run(ask())


def text_of(result: Result) -> str:
    return " ".join(result.out.split())


def test_a_round_closes_with_the_members_that_answered(asked: tuple[Home, Result]) -> None:
    home, result = asked

    (summary,) = home.invoke("rounds", "--json").json
    round_ = home.invoke("show", summary["id"], "--json").json

    absent = {one["member"] for one in round_["absences"] if one["role"] == "answer"}
    chosen = round_["synthesis"]
    assert (result.code, result.err) == (0, "")
    assert "Gone" in text_of(result)
    assert len(round_["answers"]) == 2
    assert absent == {f"openai/{name}" for name in NAMES[2:]}
    assert (chosen["chairman"], chosen["fallback"]) == ("openai/good", "chairman")
    assert round_["seconds"] < RETRY_AFTER_SECONDS


def test_each_absence_has_its_reason(asked: tuple[Home, Result]) -> None:
    home, result = asked
    (summary,) = home.invoke("rounds", "--json").json
    round_ = home.invoke("show", summary["id"], "--json").json
    whole = {one["member"]: one["reason"] for one in round_["absences"]}

    for short in ("Shut (no valid key)", "Gone (no such model)", "Hung (too slow)"):
        assert short in text_of(result)
    assert whole["openai/shut"] == "could not be asked: the key for its server was refused (401)"
    assert whole["openai/gone"].endswith("there is no model 'gone' at its server (404)")


def test_a_refused_key_is_neither_printed_nor_stored(asked: tuple[Home, Result]) -> None:
    home, result = asked

    assert KEY not in result.out + result.err
    assert KEY.encode() not in home.stored_bytes()


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
        result = await home.with_config(config).invoke_in_thread("ask", "Shall we wait?", "--json")

    blind = [f"{r.system}\n{r.user}".casefold() for r in server.requests if _is_blind(r)]
    assert (result.code, len(blind)) == (0, 5)
    assert [name for name in SAID_BY_NAMES for text in blind if name in text] == []
