"""Suggestions for `vote`: answers without authors while people vote blind, names afterwards."""

from bot.chat import IncomingMessage
from bot.commands.completion import suggest
from bot.commands.parameters import Suggestion
from bot.context import AppContext
from bot.render.voting import blind_answers
from tests.bot.app_fakes import BEN, COMMANDS, HERE
from tests.bot.commands.test_voting import (
    ELSEWHERE,
    ID,
    an_app_with,
    asked_in,
    labels_of,
    without_result,
)
from tests.bot.rounds import names_of

CLOSED = asked_in(HERE)
[_, LETTER] = COMMANDS["vote"].parameters


async def _suggested(app: AppContext, typed: str = "", round_: str = ID) -> list[Suggestion]:
    message = IncomingMessage("", BEN, HERE, "k")
    return await suggest(app, message, LETTER, typed, {"round": round_} if round_ else {})


async def test_a_blind_answer_is_its_letter_and_first_words_without_its_author() -> None:
    app = await an_app_with(without_result(CLOSED))
    texts = {one.label: one.text or "" for one in blind_answers(CLOSED)}

    found = await _suggested(app)

    assert sorted(value for _, value in found) == labels_of(CLOSED)
    for label, value in found:
        assert label.startswith(f"Response {value} · {texts[value][:10]}")
        assert not any(name in label for name in names_of(CLOSED).values())


async def test_after_the_result_an_answer_is_its_models_name() -> None:
    app, names = await an_app_with(CLOSED), names_of(CLOSED)

    found = await _suggested(app, round_="")

    assert {value: label for label, value in found} == names
    (first, *_) = names.values()
    assert first in {label for label, _ in await _suggested(app, first[:4].upper())}


async def test_nothing_is_suggested_of_a_round_that_may_not_be_read() -> None:
    elsewhere = await an_app_with(asked_in(ELSEWHERE))

    assert await _suggested(elsewhere) == []
    assert await _suggested(elsewhere, round_="last") == []
    assert await _suggested(await an_app_with(CLOSED), round_="ffff") == []
