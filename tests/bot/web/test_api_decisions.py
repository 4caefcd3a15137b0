"""Decisions by the API: the answer once more, whole or streamed, once for each key."""

import pytest

from council.rounds import Round
from tests.bot.app_fakes import an_app
from tests.bot.web.api_clients import ApiClient, chunks_of, deltas_of, error_of
from tests.bot.web.browsing import SOMEBODY, NewSite, a_round_of
from tests.bot.web.test_decide import Chairman
from tests.disputes import BROKER, YES, disputed

ID = "abcdef0123"
RIGHT = {"round_id": ID, "decisions": [{"point": BROKER, "says": YES}]}
ANSWER = f"Settled: {YES}."


async def a_client(new_site: NewSite) -> ApiClient:
    client = ApiClient(new_site(an_app(Chairman())))
    await client.site.store.open(disputed(a_round_of(SOMEBODY, ID)))
    return client


async def stored(client: ApiClient) -> Round:
    return await client.site.store.load(ID)


async def test_the_answer_is_the_one_written_for_the_decision(new_site: NewSite) -> None:
    client = await a_client(new_site)

    answered = (await client.ask(council=RIGHT)).json()

    assert answered["id"] == f"chatcmpl-{ID}"
    assert answered["choices"][0]["message"]["content"] == ANSWER
    assert [(x["point"], x["says"]) for x in answered["council"]["decisions"]] == [(BROKER, YES)]
    assert answered["council"]["unfollowed"] == []
    assert answered["council"]["analysis"]["disputed"]
    assert (await stored(client)).decisions[0].by == "api"


async def test_the_answer_is_streamed(new_site: NewSite) -> None:
    client = await a_client(new_site)

    streamed = await client.ask(council=RIGHT, stream=True)

    assert "".join(deltas_of(chunks_of(streamed))) == ANSWER
    assert chunks_of(streamed)[-1]["council"]["decisions"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_retry_with_its_key_decides_once(new_site: NewSite, stream: bool) -> None:
    client = await a_client(new_site)

    await client.ask(council=RIGHT, stream=stream, retry_key="one")
    answered = await client.ask(council=RIGHT, stream=stream, retry_key="one")

    text = (
        "".join(deltas_of(chunks_of(answered)))
        if stream
        else answered.json()["choices"][0]["message"]["content"]
    )
    assert text == ANSWER
    assert len((await stored(client)).decisions) == 1


@pytest.mark.parametrize(
    ("council", "status", "code"),
    [
        pytest.param(
            {"round_id": "ffff", "decisions": RIGHT["decisions"]},
            404,
            "round_not_found",
            id="round",
        ),
        pytest.param(
            {"round_id": ID, "decisions": [{"point": BROKER, "says": "Perhaps"}]},
            400,
            "invalid_decision",
            id="position",
        ),
        pytest.param({"round_id": ID, "decisions": []}, 400, None, id="none"),
        pytest.param({"round_id": ID}, 400, None, id="missing"),
        pytest.param("decide", 400, None, id="no-object"),
    ],
)
async def test_what_cannot_be_decided_is_refused(
    new_site: NewSite, council: object, status: int, code: str | None
) -> None:
    client = await a_client(new_site)

    refused = await client.ask(council=council)

    assert (refused.status_code, error_of(refused)["code"]) == (status, code)
    assert "/council" not in error_of(refused)["message"]  # that is for chats
    assert not client.site.context.app.gateway.asked  # type: ignore[attr-defined]
