"""After the reveal, reasons and remarks speak of models instead of labels."""

import json
from dataclasses import replace

import pytest

from bot.chat import Quote
from bot.render.round_report.revealed import name_mentions, reason_by_name
from bot.render.round_report.thread import whole_round
from council.rounds import Round
from tests.bot.rounds import answers, held, names_of
from tests.builders import GPT
from tests.fakes.gateway import FakeGateway, ReadPrompt

NAMES = {"K": "Claude Sonnet 4.6", "M": "Qwen 3", "P": "GPT-5.1"}
SAID = ("Take vitamin C daily.", "Eat an orange.", "Ask a doctor.", "Sleep more.")


async def a_round_with_reason(reason: str) -> tuple[Round, str]:
    """Return a round in which GPT gives this reason, and how the round shows it.

    `<A>` in what is returned stands for the name behind slot A of GPT's slate.
    """

    def vote(shown: ReadPrompt) -> str:
        ranking = [[letter] for letter in shown.texts]
        return json.dumps({"nonce": shown.nonces[0], "reason": reason, "ranking": ranking})

    round_ = await held(FakeGateway(answers=answers(*SAID), judges={GPT: vote}))
    (ballot,) = [one for one in round_.ballots if one.judge == GPT]
    shown = reason_by_name(round_, ballot, names_of(round_))
    for letter, label in zip("ABC", ballot.shown, strict=True):
        shown = shown.replace(names_of(round_)[label], f"<{letter}>")
    return round_, shown


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("Response A names the index.", "[<A>] names the index."),
        ("B > A, since the response C's claim fails.", "[<B>] > [<A>], since [<C>]'s claim fails."),
        ("Responses A, B and C agree.", "[<A>], [<B>] and [<C>] agree."),
        ("A is right; I prefer it.", "[<A>] is right; I prefer it."),
        ("Vitamin K stays, and so does `B4`.", "Vitamin K stays, and so does `B4`."),
        ("It forgets that vitamin C dissolves.", "It forgets that vitamin C dissolves."),
        ("No label at all.", "No label at all."),
    ],
)
async def test_a_label_in_a_reason_is_the_name_of_its_model_in_brackets(
    reason: str, shown: str
) -> None:
    assert (await a_round_with_reason(reason))[1] == shown


async def test_the_round_quotes_reasons_by_name() -> None:
    round_, _ = await a_round_with_reason("Response A names the index.")

    quotes = [
        x.text for post in whole_round(round_).replies for x in post.parts if isinstance(x, Quote)
    ]

    assert any(text.startswith("[") and text.endswith("] names the index.") for text in quotes)


@pytest.mark.parametrize("reason", ["A", "B.", "{nonce}", "The nonce is {nonce}."])
async def test_a_reason_that_says_nothing_is_not_shown(reason: str) -> None:
    round_ = await held(FakeGateway(answers=answers(*SAID)))
    ballot = round_.ballots[0]
    assert ballot.paper
    empty = replace(ballot, reason=reason.format(nonce=ballot.paper.nonce))

    assert reason_by_name(round_, empty, names_of(round_)) == ""
    assert reason_by_name(round_, replace(ballot, paper=None), names_of(round_)) == ballot.reason


async def test_without_the_judges_reply_a_reason_stays_as_it_is_stored() -> None:
    round_, _ = await a_round_with_reason("Response A names the index.")
    (ballot,) = [one for one in round_.ballots if one.judge == GPT]
    assert ballot.paper
    unread = replace(ballot.paper, reply=replace(ballot.paper.reply, text="It is gone."))
    other = replace(ballot, reason="Another reason, imported.")

    assert reason_by_name(round_, replace(ballot, paper=None), names_of(round_)) == ballot.reason
    assert reason_by_name(round_, replace(ballot, paper=unread), names_of(round_)) == ballot.reason
    assert reason_by_name(round_, other, names_of(round_)) == other.reason


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Response M is old.", "[Qwen 3] is old."),
        ("It drops Responses K and M.", "It drops [Claude Sonnet 4.6] and [Qwen 3]."),
        ("Vitamin K and plan M stay.", "Vitamin K and plan M stay."),
        ("Response Z is none of them.", "Response Z is none of them."),
    ],
)
def test_a_remark_names_the_model_where_it_says_response(text: str, shown: str) -> None:
    assert name_mentions(text, NAMES) == shown
