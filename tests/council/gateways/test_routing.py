import pytest

from council.answers import Call, Prompt, Reply
from council.errors import GatewayError
from council.gateways.routing import RoutingGateway
from council.money import FREE, Price
from council.panel import Member, ModelId


class NamedGateway:
    def __init__(self, name: str, contexts: dict[str, int] | None = None) -> None:
        self._name = name
        self._contexts = contexts or {}

    @property
    def versions(self) -> dict[str, str]:
        return {self._name: "1"}

    async def complete(self, call: Call) -> Reply:
        return Reply(self._name)

    def context_tokens(self, member_key: str) -> int | None:
        return self._contexts.get(member_key)

    async def price(self, seat: Member) -> Price | None:
        return FREE if self._name == "script" else None

    async def sees_images(self, seat: Member) -> bool:
        return self._name == "rest"


def a_call(key: str, model_id: str | None = None) -> Call:
    return Call(Member(key, ModelId(model_id or key), key, "test"), Prompt("", "Why?"))


@pytest.mark.parametrize(
    ("call", "gateway"),
    [
        pytest.param(a_call("scripted/random"), "script", id="by-prefix"),
        pytest.param(a_call("warm", "scripted/random"), "script", id="by-model-of-a-named-seat"),
        pytest.param(a_call("scripted/real"), "special", id="by-whole-key"),
        pytest.param(a_call("openai/gpt-5.1"), "rest", id="the-rest"),
    ],
)
async def test_the_longest_matching_prefix_wins(call: Call, gateway: str) -> None:
    routing = RoutingGateway(
        {
            "": NamedGateway("rest"),
            "scripted/": NamedGateway("script"),
            "scripted/real": NamedGateway("special"),
        }
    )

    reply = await routing.complete(call)

    assert reply.text == gateway


async def test_a_seat_without_a_gateway_is_an_absence() -> None:
    routing = RoutingGateway({"scripted/": NamedGateway("script")})

    with pytest.raises(GatewayError, match="is not set up here"):
        await routing.complete(a_call("openai/x"))


def test_versions_of_all_gateways_are_merged() -> None:
    routing = RoutingGateway({"a/": NamedGateway("a"), "b/": NamedGateway("b")})

    assert routing.versions == {"a": "1", "b": "1"}


def test_the_context_size_comes_from_the_gateway_that_knows_it() -> None:
    routing = RoutingGateway({"a/": NamedGateway("a"), "": NamedGateway("b", {"warm": 4096})})

    assert routing.context_tokens("warm") == 4096
    assert routing.context_tokens("a/x") is None


async def test_the_price_of_a_seat_comes_from_its_gateway() -> None:
    routing = RoutingGateway({"scripted/": NamedGateway("script"), "x/": NamedGateway("rest")})

    assert await routing.price(a_call("warm", "scripted/random").member) == FREE
    assert await routing.price(a_call("x/y").member) is None
    assert await routing.price(a_call("openai/y").member) is None


async def test_who_sees_images_the_members_gateway_tells() -> None:
    routes = RoutingGateway({"scripted/": NamedGateway("script"), "openai/": NamedGateway("rest")})

    sees = [
        await routes.sees_images(a_call(key).member)
        for key in ("openai/gpt-5.1", "scripted/random", "nobody/none")
    ]

    assert sees == [True, False, False]
