"""Perplexity of answers under their judges, and rounds by judges weighted with it.

Judges prefer text that is familiar to them, of low perplexity (Wataoka et al. 2024). Only a server
that returns log-probabilities can tell; llama.cpp's does.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import permutations
from math import exp, isfinite
from statistics import fmean

import httpx

from council.ballots import Ballot
from council.errors import GatewayError
from council.labels import Label
from council.tally.borda import PairMatrix, merge_passes, pair_share, ranks

MAX_TOKENS = 256  # of each answer that are measured, the same for all
SECONDS = 120.0
_TIE = 0.5

# Mean negative log-probability of a token, in nats, by judge and answer.
Surprise = Mapping[str, Mapping[Label, float]]


class LlamaServer:
    """A running llama.cpp server: the log-probabilities of a given text under one of its models.

    The server returns none for a prompt, so the text is generated again under a grammar that allows
    its tokens alone; the log-probabilities are those before the grammar.
    """

    def __init__(self, address: str, key: str) -> None:
        self._address = address.removesuffix("/").removesuffix("/v1")
        self._headers = {"Authorization": f"Bearer {key}", "Connection": "close"}

    async def log_probabilities(self, model: str, prompt: str, text: str) -> tuple[float, ...]:
        """Return the log-probability of each of the first tokens of a text that follows a prompt.

        Raise GatewayError if the server cannot tell.
        """
        body = {"model": model, "content": text, "add_special": False}
        tokens = (await self._post("tokenize", body)).get("tokens")
        if not isinstance(tokens, list) or not all(isinstance(x, int) for x in tokens):
            raise GatewayError("returned no tokens")
        tokens = tokens[:MAX_TOKENS]
        request = {
            "model": model,
            "prompt": prompt,
            "n_predict": len(tokens),
            "n_probs": 1,
            "temperature": 0.0,
            "samplers": [],
            "grammar": f"root ::= {' '.join(f'<[{token}]>' for token in tokens)}",
        }
        listed = (await self._post("completion", request)).get("completion_probabilities")
        found = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        values = [one.get("logprob") for one in found]
        if not tokens or [one.get("id") for one in found] != tokens:
            raise GatewayError("returned no log-probabilities of this text")
        if not all(isinstance(x, int | float) and isfinite(x) and x <= 0 for x in values):
            raise GatewayError("returned log-probabilities that are none")
        return tuple(float(x) for x in values if x is not None)

    async def _post(self, path: str, body: Mapping[str, object]) -> Mapping[str, object]:
        try:
            async with httpx.AsyncClient(
                timeout=SECONDS, trust_env=False, headers=self._headers
            ) as client:
                response = await client.post(f"{self._address}/{path}", json=body)
                response.raise_for_status()
                found = json.loads(response.content)
        except (httpx.HTTPError, ValueError) as error:
            raise GatewayError(f"returns no log-probabilities ({error})") from error
        return found if isinstance(found, dict) else {}


def mean_surprise(log_probabilities: Sequence[float]) -> float:
    """Return the mean negative log-probability; its exponential is the perplexity."""
    return -fmean(log_probabilities)


def perplexity_matrix(ballots: Sequence[Ballot], surprise: Surprise) -> PairMatrix:
    """Return pair shares by judges who weigh less the more familiar one of two answers is.

    A judge's weight on a pair is the lower perplexity divided by the higher one,
    exp(−|s_c − s_d|): 1 where both are equally familiar, so that its preference is not that. Only
    judges with a known surprise count.
    """
    wins: dict[tuple[Label, Label], float] = {}
    total: dict[tuple[Label, Label], float] = {}
    for ballot in merge_passes([one for one in ballots if one.judge in surprise]):
        place, own = ranks(ballot.ranking), surprise[ballot.judge]
        for pair in permutations(place, 2):
            first, second = pair
            weight = exp(-abs(own[first] - own[second]))
            won = _TIE if place[first] == place[second] else float(place[first] < place[second])
            wins[pair] = wins.get(pair, 0.0) + weight * won
            total[pair] = total.get(pair, 0.0) + weight
    return {pair: wins[pair] / total[pair] for pair in wins if total[pair] > 0}


def matrix_shares(matrix: PairMatrix) -> dict[Label, float]:
    """Return the share of each answer in pair form."""
    labels = sorted({first for first, _ in matrix})
    return {label: pair_share(label, matrix) or 0.0 for label in labels}
