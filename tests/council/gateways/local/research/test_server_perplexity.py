"""Log probabilities from the real server with the real models."""

import httpx
import pytest

from council.gateways.local.server import LocalServer
from council.research.perplexity import LlamaServer
from tests.council.gateways.local.test_server_real_models import MODELS

pytestmark = [pytest.mark.local_models, pytest.mark.nightly]


@pytest.mark.parametrize("model", MODELS)
async def test_log_probabilities_of_a_text_are_those_of_its_tokens_one_by_one(
    server: LocalServer, model: str
) -> None:
    prompt, text = "Why is the sky blue?\n", " Rayleigh scattering:\nshort <waves> don't pass!"

    found = await LlamaServer(server.api_base, server.api_key).log_probabilities(
        model, prompt, text
    )

    headers = {"Authorization": f"Bearer {server.api_key}", "Connection": "close"}
    root = server.api_base.removesuffix("/v1")
    async with httpx.AsyncClient(timeout=120, trust_env=False, headers=headers) as client:

        async def tokens(content: str, *, special: bool) -> list[int]:
            body = {"model": model, "content": content, "add_special": special}
            listed: list[int] = (await client.post(f"{root}/tokenize", json=body)).json()["tokens"]
            return listed

        before, own = await tokens(prompt, special=True), await tokens(text, special=False)
        one_by_one = []
        for i, token in enumerate(own):
            body = {
                "model": model,
                "prompt": before + own[:i],
                "n_predict": 1,
                "n_probs": 1,
                "temperature": 0.0,
                "logit_bias": [[token, 1_000]],
            }
            reply = (await client.post(f"{root}/completion", json=body)).json()
            one_by_one.append(reply["completion_probabilities"][0]["logprob"])
    assert found == pytest.approx(one_by_one, abs=0.05)
