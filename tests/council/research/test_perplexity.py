"""Log-probabilities over llama.cpp's protocol, and rounds weighted by perplexity."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import log
from typing import Any

import pytest

from council.errors import GatewayError
from council.research.perplexity import (
    MAX_TOKENS,
    LlamaServer,
    matrix_shares,
    mean_surprise,
    perplexity_matrix,
)
from council.tally.borda import pair_matrix
from tests.builders import a_ballot, labels

K, L, M = labels("K L M")
KEY = "secret"


@dataclass
class FakeLlama:
    """The two paths of llama.cpp's server that are used; every letter is a token.

    A letter's log-probability is minus its place in the alphabet, in tenths. `change` replaces
    parts of the replies.
    """

    address: str = ""
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    change: dict[str, Any] = field(default_factory=dict)
    status: int = 200

    def reply(self, path: str, body: Mapping[str, Any]) -> object:
        self.asked.append(body)
        if path == "/tokenize":
            return {"tokens": [ord(x) for x in body["content"]]} | self.change
        tokens = [int(x) for x in re.findall(r"<\[(\d+)\]>", body["grammar"])]
        found = [{"id": x, "logprob": -(x - 96) / 10} for x in tokens]
        return {"content": "…", "completion_probabilities": found} | self.change


@pytest.fixture
def llama() -> Iterator[FakeLlama]:
    fake = FakeLlama()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_known = self.headers["Authorization"] == f"Bearer {KEY}"
            self.send_response(fake.status if is_known else 401)
            self.end_headers()
            self.wfile.write(json.dumps(fake.reply(self.path, body)).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        fake.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield fake
        server.shutdown()
        thread.join()


async def test_the_text_is_forced_token_by_token_after_its_prompt(llama: FakeLlama) -> None:
    found = await LlamaServer(llama.address, KEY).log_probabilities("qwen", "Why?\n\n", "abc")

    assert found == (-0.1, -0.2, -0.3)
    assert mean_surprise(found) == pytest.approx(0.2)
    tokenize, completion = llama.asked
    assert tokenize == {"model": "qwen", "content": "abc", "add_special": False}
    assert completion["prompt"] == "Why?\n\n"
    assert completion["grammar"] == "root ::= <[97]> <[98]> <[99]>"
    assert (completion["n_predict"], completion["n_probs"]) == (3, 1)


async def test_a_long_text_is_measured_at_its_start(llama: FakeLlama) -> None:
    found = await LlamaServer(llama.address, KEY).log_probabilities("qwen", "", "a" * 1_000)

    assert len(found) == MAX_TOKENS


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"completion_probabilities": []}, "no log-probabilities of this text"),
        ({"completion_probabilities": None}, "no log-probabilities of this text"),
        ({"completion_probabilities": [{"id": 97, "logprob": None}]}, "that are none"),
        ({"completion_probabilities": [{"id": 97, "logprob": 0.5}]}, "that are none"),
        ({"completion_probabilities": [{"id": 98, "logprob": -1.0}]}, "of this text"),
        ({"tokens": "a"}, "returned no tokens"),
        ({"tokens": []}, "no log-probabilities of this text"),
    ],
)
async def test_a_server_that_cannot_tell_is_not_believed(
    llama: FakeLlama, change: dict[str, Any], said: str
) -> None:
    llama.change = change

    with pytest.raises(GatewayError, match=said):
        await LlamaServer(llama.address, KEY).log_probabilities("qwen", "", "a")


async def test_a_server_that_refuses_or_sends_no_object_is_named(llama: FakeLlama) -> None:
    llama.status = 501
    with pytest.raises(GatewayError, match="returns no log-probabilities"):
        await LlamaServer(llama.address, KEY).log_probabilities("qwen", "", "a")
    llama.status = 200
    llama.reply = lambda path, body: ["no object"]  # type: ignore[method-assign]
    with pytest.raises(GatewayError, match="returned no tokens"):
        await LlamaServer(llama.address, KEY).log_probabilities("qwen", "", "a")
    with pytest.raises(GatewayError, match="401"):
        await LlamaServer(llama.address, "wrong").log_probabilities("qwen", "", "a")


def test_a_judge_weighs_less_the_more_familiar_one_of_two_answers_is() -> None:
    # x says K > L, which is four times as familiar to it; y says L > K, both alike to it.
    ballots = [a_ballot("K L", "x"), a_ballot("L K", "y"), a_ballot("K L", "far away")]
    surprise = {"x": {K: 1.0, L: 1.0 + log(4)}, "y": {K: 5.0, L: 5.0}}

    matrix = perplexity_matrix(ballots, surprise)

    # (¼ · 1 + 1 · 0) / (¼ + 1)
    assert matrix[K, L] == pytest.approx(0.2)
    assert matrix_shares(matrix) == pytest.approx({K: 0.2, L: 0.8})


def test_judges_to_whom_all_is_equally_familiar_count_as_always() -> None:
    ballots = [a_ballot("K L M", "x"), a_ballot("M=L K", "y")]
    surprise = {"x": dict.fromkeys((K, L, M), 1.0), "y": dict.fromkeys((K, L, M), 3.0)}

    assert perplexity_matrix(ballots, surprise) == pytest.approx(pair_matrix(ballots))


def test_two_passes_of_a_judge_are_one_view() -> None:
    again = replace(a_ballot("L K", "x"), pass_number=2)
    surprise = {"x": {K: 1.0, L: 2.0}}

    assert perplexity_matrix([a_ballot("K L", "x"), again], surprise)[K, L] == 0.5


def test_without_a_known_judge_there_are_no_shares() -> None:
    assert matrix_shares(perplexity_matrix([a_ballot("K L", "x")], {})) == {}
