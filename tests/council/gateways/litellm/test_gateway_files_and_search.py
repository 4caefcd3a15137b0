"""Images go to models with vision, and the sources of a web search come back."""

from dataclasses import replace

import pytest

from council.answers import Call, Role, Source
from council.errors import GatewayError
from council.files import QuestionFile
from council.gateways.litellm.client import SEARCH_TOKENS, SEARCH_USD
from council.gateways.litellm.gateway import LitellmGateway
from council.gateways.litellm.responses import MAX_SOURCES, find_sources
from tests.council.gateways.litellm.harness import CALL, MEMBER, GatewayHarness
from tests.wire.models import Say, answer

CHART = QuestionFile("chart.png", "image/png", data="iVBORw0KGgo=")
CITED = {
    "url": "https://pg.org/docs",
    "title": "Docs of Postgres",
    "start_index": 0,
    "end_index": 9,
}
ANNOTATIONS = [{"type": "url_citation", "url_citation": CITED}]


async def test_an_image_is_sent_next_to_the_text(harness: GatewayHarness) -> None:
    await harness.says(answer("Sales rise."), replace(CALL, images=(CHART,)))

    [request] = harness.server.requests
    assert request.messages[-1]["content"] == [
        {"type": "text", "text": "Why is it slow?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    ]


async def test_litellm_or_the_settings_tell_who_sees_images(harness: GatewayHarness) -> None:
    sees = {}
    for model, vision in [("openai/gpt-4o", None), ("openai/mine", None), ("openai/mine", True)]:
        harness.sit(model=model, vision=vision)
        sees[model, vision] = await harness.gateway.sees_images(MEMBER)

    assert sees == {
        ("openai/gpt-4o", None): True,
        ("openai/mine", None): False,
        ("openai/mine", True): True,
    }
    assert not await LitellmGateway({}).sees_images(MEMBER)


async def test_a_search_is_asked_for_in_answers_only_and_its_sources_are_kept(
    harness: GatewayHarness,
) -> None:
    harness.sit(model="openai/gpt-4o-search-preview", web_search=True)
    found = Say("It scales.", message={"annotations": ANNOTATIONS})
    harness.server.script["gpt-4o-search-preview"] = lambda _: found

    answered = await harness.gateway.complete(CALL)
    judged = await harness.gateway.complete(replace(CALL, role=Role.BALLOT))

    assert answered.sources == (Source("Docs of Postgres", "https://pg.org/docs"),)
    assert judged.sources == ()
    asked = ["web_search_options" in request.body for request in harness.server.requests]
    assert asked == [True, False]


async def test_a_model_without_a_search_says_so_before_it_is_asked(
    harness: GatewayHarness,
) -> None:
    harness.sit(model="openai/gpt-4o", web_search=True, api_base=None)

    with pytest.raises(GatewayError, match="no web search for it, so remove web_search"):
        await harness.gateway.complete(CALL)
    assert harness.requests == 0


async def test_the_price_of_a_search_is_part_of_the_seats_price(harness: GatewayHarness) -> None:
    harness.sit(web_search=True, input_usd_per_million=2.0, output_usd_per_million=0.0)

    price = await harness.gateway.price(MEMBER)

    assert price
    assert price.usd_search == pytest.approx(SEARCH_USD + SEARCH_TOKENS * 2e-6)
    assert price.cost_micro_usd(0, 0, searches=True) == 90_000
    assert price.cost_micro_usd(0, 0) == 0


def reply(message: object = None, **top: object) -> dict[str, object]:
    return {"choices": [{"message": message or {}}], **top}


@pytest.mark.parametrize(
    "found",
    [
        reply({"annotations": ANNOTATIONS}),
        reply({"provider_specific_fields": {"citations": [[CITED], [CITED]]}}),
        reply(search_results=[CITED], citations=["https://pg.org/docs"]),
        reply(
            vertex_ai_grounding_metadata=[
                {"groundingChunks": [{"web": {"uri": CITED["url"], "title": CITED["title"]}}]}
            ]
        ),
    ],
    ids=["openai", "anthropic", "perplexity", "gemini"],
)
def test_each_providers_sources_are_found_once(found: dict[str, object]) -> None:
    assert find_sources(found) == (Source("Docs of Postgres", "https://pg.org/docs"),)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://",
        "https://[bad",
        "https://a.org/a b",
        "https://a.org/\u202e",
        f"https://a.org/{'x' * 2_000}",
    ],
)
def test_an_address_that_is_no_web_page_is_dropped(url: str) -> None:
    assert find_sources(reply(citations=[url])) == ()


def test_sources_are_bounded_and_one_without_a_title_is_named_by_its_host() -> None:
    many = [f"https://a{n}.org/" for n in range(100)]
    deep: object = "https://deep.org/"
    for _ in range(50):
        deep = [deep]

    found = find_sources(reply(citations=[*many, deep, 7]))

    assert len(found) == MAX_SOURCES
    assert found[0] == Source("a0.org", "https://a0.org/")
    assert find_sources(reply(citations=[deep])) == ()


def test_a_call_does_not_print_its_images() -> None:
    assert "iVBOR" not in repr(Call(MEMBER, CALL.prompt, images=(CHART,)))
