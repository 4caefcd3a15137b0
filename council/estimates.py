"""What a round may cost, before anything is spent.

Each member answers once, each judge votes once on the others' answers, and the dearest chairman
writes. A model without a token limit of its own is taken to write no more than is usual; a second
try is reserved for when it comes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from council.calls import Call, Prompt
from council.labels import Label
from council.panel import Member
from council.ports import Gateway
from council.prices import Price
from council.prompts.answering import answer_prompt
from council.prompts.chairing import Heard, chair_prompt
from council.prompts.judging import Sheet, judge_prompt
from council.prompts.lengths import estimated_tokens
from council.rounds import Round

TEXT_TOKENS = 2_000  # more than most answers have, reasoning included
BALLOT_TOKENS = 1_000
FEWEST_TO_RANK = 2
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NONCE = "0" * 16

Prices = Mapping[str, Price | None]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a round may cost, in micro-dollars.

    `micro` covers the seats whose price is known, `quorum_micro` the cheapest answers that make a
    quorum; `unknown` are the keys of the seats whose price nobody knows.
    """

    micro: int
    quorum_micro: int = 0
    unknown: tuple[str, ...] = ()


async def estimated(round_: Round, gateway: Gateway) -> Estimate:
    """Give what a round may cost, at the gateway's prices."""
    panel = round_.panel
    seats = dict.fromkeys((*panel.judges, *panel.chair_order))
    prices = {seat.key: await gateway.price(seat) for seat in seats}
    answers = _answers(round_, prices)
    ballots = [_ballot(round_, judge, prices) for judge in panel.judges]
    syntheses = [_synthesis(round_, chairman, prices) for chairman in panel.chair_order]
    return Estimate(
        sum(answers) + sum(ballots) + max(syntheses),
        sum(sorted(answers)[: panel.terms.quorum]),
        tuple(key for key, price in prices.items() if price is None),
    )


def call_micro(price: Price, call: Call) -> int:
    """Give what a call may cost, in micro-dollars; what asks for a schema is a ballot."""
    return price.micro(_tokens(call.prompt), _reply_tokens(price, ballot=call.schema is not None))


def _tokens(prompt: Prompt) -> int:
    return estimated_tokens(prompt.system + prompt.user)


def _reply_tokens(price: Price | None, *, ballot: bool = False) -> int:
    if price and price.most_tokens_out is not None:
        return price.most_tokens_out
    return BALLOT_TOKENS if ballot else TEXT_TOKENS


def _answers(round_: Round, prices: Prices) -> list[int]:
    asked = _tokens(answer_prompt(round_.question))
    priced = (prices[member.key] for member in round_.panel.members)
    return [price.micro(asked, _reply_tokens(price)) if price else 0 for price in priced]


def _ballot(round_: Round, judge: Member, prices: Prices) -> int:
    price = prices[judge.key]
    others = [member for member in round_.panel.members if member != judge]
    if price is None or len(others) < FEWEST_TO_RANK:
        return 0
    texts = dict.fromkeys(_LETTERS[: len(others)], "")
    frame = judge_prompt(round_.question, round_.panel.rubric, Sheet(texts, _NONCE))
    shown = sum(_reply_tokens(prices[member.key]) for member in others)
    return price.micro(_tokens(frame) + shown, _reply_tokens(price, ballot=True))


def _synthesis(round_: Round, chairman: Member, prices: Prices) -> int:
    price = prices[chairman.key]
    if price is None:
        return 0
    members = round_.panel.members
    texts = {Label(letter): "" for letter in _LETTERS[: len(members)]}
    frame = chair_prompt(round_.question, texts, Heard(), _NONCE, plain=False)
    shown = sum(_reply_tokens(prices[member.key]) for member in members)
    said = sum(_reply_tokens(prices[judge.key], ballot=True) for judge in round_.panel.judges)
    return price.micro(_tokens(frame) + shown + said, _reply_tokens(price))
