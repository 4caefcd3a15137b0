"""The cost of a round is estimated from prices, lengths and limits before any call."""

from council.answers import Call, Prompt
from council.budget import (
    MAX_BALLOT_TOKENS,
    MAX_TEXT_TOKENS,
    Estimate,
    call_cost_micro_usd,
    estimate_round,
)
from council.money import FREE, Price
from council.panel import Terms
from tests.builders import CLAUDE, DEEPSEEK, GEMINI, GPT, a_member, a_panel, a_round
from tests.fakes.gateway import FakeGateway

WRITTEN = Price(0, 1e-6)  # a micro-dollar for each token written
LIMITED = Price(0, 1e-6, 100)
READ = Price(1e-6, 0, 100)


async def test_an_estimate_counts_all_answers_all_ballots_and_one_synthesis() -> None:
    gateway = FakeGateway(prices=dict.fromkeys([CLAUDE, GPT, GEMINI], LIMITED))

    estimate = await estimate_round(a_round(), gateway)

    assert estimate == Estimate(7 * 100, quorum_micro=2 * 100)


async def test_without_a_token_limit_a_usual_length_is_estimated() -> None:
    gateway = FakeGateway(prices=dict.fromkeys([CLAUDE, GPT, GEMINI], WRITTEN))

    estimate = await estimate_round(a_round(), gateway)

    assert estimate.micro == 4 * MAX_TEXT_TOKENS + 3 * MAX_BALLOT_TOKENS


async def test_the_most_expensive_chairman_is_estimated() -> None:
    panel = a_panel(chairmen=[DEEPSEEK, GPT])

    estimate = await estimate_round(a_round(panel), FakeGateway(prices={DEEPSEEK: LIMITED}))

    assert estimate.micro == 100


async def test_judges_read_the_other_answers_and_chairmen_read_all() -> None:
    def reads(tokens: int) -> FakeGateway:
        limits = dict.fromkeys([GPT, GEMINI], Price(0, 0, tokens))
        return FakeGateway(prices={CLAUDE: Price(1e-6, 0, 0), **limits})

    short, long = [await estimate_round(a_round(), reads(tokens)) for tokens in (0, 1_000)]

    # Two answers as a judge; two answers and two ballots as the chairman.
    assert long.micro - short.micro == 2_000 + 4_000


async def test_an_unknown_price_is_named_and_not_free() -> None:
    gateway = FakeGateway(prices={CLAUDE: LIMITED, GPT: None})

    estimate = await estimate_round(a_round(), gateway)

    assert estimate.unknown == (GPT,)
    assert estimate.micro == 3 * 100


async def test_two_members_cast_no_ballots() -> None:
    panel = a_panel(2, terms=Terms(quorum=1))
    gateway = FakeGateway(prices=dict.fromkeys([CLAUDE, GPT], LIMITED))

    assert (await estimate_round(a_round(panel), gateway)).micro == 3 * 100


def test_a_call_is_estimated_at_its_prompt_and_longest_reply() -> None:
    text = Call(a_member(), Prompt("abc", "defghi"))
    ballot = Call(a_member(), Prompt("abc", "defghi"), schema={})

    assert call_cost_micro_usd(Price(1e-6, 1e-6, 7), text) == 3 + 7
    assert call_cost_micro_usd(Price(0, 1e-6), text) == MAX_TEXT_TOKENS
    assert call_cost_micro_usd(Price(0, 1e-6), ballot) == MAX_BALLOT_TOKENS
    assert call_cost_micro_usd(FREE, ballot) == 0
