"""The perplexity of a stored round's answers: local judges are measured, others are named."""

import json
from dataclasses import replace

import pytest

from bot.research.perplexity import (
    familiarity_document,
    familiarity_post,
    has_local_judges,
    measure_familiarity,
    served_model,
)
from bot.research.services import open_llama_server
from council.errors import ExperimentError, ForgottenError, GatewayError
from council.integrity.erasure import forget
from council.panel import ModelId
from council.research.perplexity import LlamaServer
from council.rounds import Round
from tests.bot.app_fakes import an_app
from tests.bot.rounds import held, words_of
from tests.builders import ASKED_AT, CLAUDE, GPT, a_panel, a_round
from tests.council.research.test_methods import a_round_by, run
from tests.fakes.gateway import FakeGateway


class Familiar(LlamaServer):
    """A server to whose models every text is the more familiar the shorter it is."""

    def __init__(self, refused: str = "") -> None:
        super().__init__("http://127.0.0.1:9", "")
        self.refused = refused
        self.read: list[tuple[str, str, str]] = []

    async def log_probabilities(self, model: str, prompt: str, text: str) -> tuple[float, ...]:
        if model == self.refused:
            raise GatewayError("returned no log-probabilities of this text")
        self.read.append((model, prompt, text))
        return (-1.0, -1.0 - len(text))


async def local_round(*local: str) -> Round:
    """Return a closed round of four, of whom these are demo models."""
    return with_local_models(await held(), *local)


def with_local_models(round_: Round, *local: str) -> Round:
    members = tuple(
        replace(seat, model_id=ModelId(f"openai/{seat.family}-1"), demonstration=True)
        if seat.key in local
        else seat
        for seat in round_.panel.members
    )
    return replace(round_, panel=replace(round_.panel, members=members))


async def test_each_local_judge_reads_what_it_judged_after_the_question() -> None:
    round_, server, told = await local_round(CLAUDE, GPT), Familiar(), list[str]()

    found = await measure_familiarity(round_, server, told.append)

    assert [len(by_label) for by_label in found.surprise.values()] == [3, 3]
    assert {model for model, *_ in server.read} == {"anthropic-1", "openai-1"}
    assert len(server.read) == 6
    assert {prompt for _, prompt, _ in server.read} == {f"{round_.question.text}\n\n"}
    assert len(told) == 2
    words = words_of(familiarity_post(found))
    assert "Perplexity of the first 256 tokens" in words
    assert "is not served by the local llama.cpp server. Nothing is guessed." in words
    document = json.loads(json.dumps(familiarity_document(found)))
    assert set(document["perplexity"]) == {CLAUDE, GPT}
    assert set(document["missing"]) == {s.key for s in round_.panel.members} - {CLAUDE, GPT}
    assert set(document["weighted"]) == set(document["uniform"])


async def test_in_a_knock_out_a_judge_reads_the_answers_of_all_its_pairs() -> None:
    round_ = await run(FakeGateway(), a_round_by("pairwise-elimination", 8))
    judges = {ballot.judge for ballot in round_.ballots}

    found = await measure_familiarity(with_local_models(round_, *judges), Familiar())

    for ballot in round_.ballots:
        assert {*ballot.shown} <= found.surprise[ballot.judge].keys()
    assert max(map(len, found.surprise.values())) > 2
    assert found.shares


async def test_a_model_without_log_probabilities_is_named_and_not_guessed() -> None:
    round_ = await local_round(CLAUDE)
    model = served_model(round_.panel.seat(CLAUDE)) or ""

    found = await measure_familiarity(round_, Familiar(refused=model))

    assert found.surprise == {}
    assert found.missing[CLAUDE] == "returned no log-probabilities of this text"
    assert "Weighted" not in words_of(familiarity_post(found))


async def test_rounds_without_rankings_or_texts_are_refused() -> None:
    round_ = await local_round(CLAUDE)

    assert has_local_judges(round_)
    assert not has_local_judges(a_round(a_panel(3)))
    with pytest.raises(ExperimentError, match="no ranked result"):
        await measure_familiarity(a_round(a_panel(3)), Familiar())
    with pytest.raises(ExperimentError, match="no ranked result"):
        await measure_familiarity(replace(round_, tally=None, closing=None), Familiar())
    with pytest.raises(ForgottenError):
        await measure_familiarity(forget(round_, ASKED_AT, "salt"), Familiar())


async def test_an_app_without_local_models_says_so() -> None:
    with pytest.raises(GatewayError, match="no local models"):
        await open_llama_server(an_app())
