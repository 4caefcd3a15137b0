"""`rounds` and `show` in a chat: only what may be read there."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.chat import Asker
from bot.context import AppContext
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.places import Place
from council.rounds import Question
from tests.bot.app_fakes import an_app, replies_to
from tests.builders import ASKED_AT, a_round
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

ME, OTHER = Asker("web:1", "you"), Asker("web:2", "you")
PAGE, TERMINAL, SLACK = Place("web", channel="web:1"), Place("terminal"), Place("slack", "T1", "C1")
ROUNDS = {
    "aaaa000001": Question("Asked here?", OTHER.id, place=Place("web")),
    "aaaa000002": Question("Asked alone?", OTHER.id, place=Place("web", private=True)),
    "bbbb000003": Question("Asked by me alone?", ME.id, place=Place("web", private=True)),
    "cccc000004": Question("Asked in the terminal?", "terminal", place=TERMINAL),
    "slack:T1:C1:5": Question("Asked in Slack?", "U1", place=SLACK),
}


async def a_full_app(*, held: bool = True) -> AppContext:
    store, gateway = MemoryStore(), FakeGateway()
    for minute, (round_id, question) in enumerate(ROUNDS.items()):
        moment = ASKED_AT + timedelta(minutes=minute)
        await store.open(replace(a_round(question=question), id=round_id, asked_at=moment))
        if held:
            await run_round(round_id, RoundServices(gateway, store))
    return an_app(gateway, store)


async def send(app: AppContext, text: str, place: Place = PAGE, asker: Asker = ME) -> str:
    return await replies_to(app, text, asker, place)


def listed(text: str) -> set[str]:
    return {round_id for round_id in ROUNDS if round_id in text}


@pytest.mark.parametrize(
    ("place", "asker", "found"),
    [
        pytest.param(PAGE, ME, {"aaaa000001", "bbbb000003", "cccc000004"}, id="page"),
        pytest.param(PAGE, OTHER, {"aaaa000001", "aaaa000002", "cccc000004"}, id="other"),
        pytest.param(TERMINAL, ME, set(ROUNDS), id="terminal"),
    ],
)
async def test_rounds_lists_what_may_be_read_here(
    place: Place, asker: Asker, found: set[str]
) -> None:
    assert listed(await send(await a_full_app(), "rounds", place, asker)) == found


async def test_rounds_of_bakeoffs_are_in_no_list_and_can_be_opened() -> None:
    app = await a_full_app()
    of_bakeoff = replace(await app.store.load("slack:T1:C1:5"), id="bo:1.1", bakeoff="bo:1")
    await app.store.open(replace(of_bakeoff, asked_at=ASKED_AT + timedelta(days=1)))
    asker = Asker("U1", "Ada")

    assert "bo:1.1" not in await send(app, "rounds", SLACK, asker)
    assert await send(app, "show last", SLACK, asker) == await send(
        app, "show slack:T1:C1:5", SLACK, asker
    )
    assert "Asked in Slack?" in await send(app, "show bo:1.1", SLACK, asker)


@pytest.mark.parametrize("round_id", ["aaaa000001", "bbbb000003", "cccc000004", "cccc"])
async def test_show_opens_what_may_be_read(round_id: str) -> None:
    assert "The council says yes." in await send(await a_full_app(), f"show {round_id}")


@pytest.mark.parametrize("wanted", ["aaaa000002", "aaaa0", "slack:T1:C1:5", "dddd", "aaaa"])
async def test_show_tells_nothing_of_what_may_not_be_read(wanted: str) -> None:
    text = await send(await a_full_app(), f"show {wanted}")

    assert text == f"There is no round {wanted!r} here. `/council rounds` lists them."


async def test_last_and_a_number_are_of_the_newest_that_may_be_read() -> None:
    app = await a_full_app()

    assert listed(await send(app, "rounds 2")) == {"bbbb000003", "cccc000004"}
    assert "Several rounds start with" in await send(app, "show aaaa", TERMINAL)
    assert "Asked in the terminal?" in await send(app, "show last")
    assert "Asked in Slack?" in await send(app, "show last", TERMINAL)


async def test_without_a_round_that_may_be_read_there_is_no_last() -> None:
    app = an_app()

    assert await send(app, "show last") == "No questions yet. Ask one with `/council QUESTION`."
    assert await send(app, "rounds") == "No questions yet. Ask one with `/council QUESTION`."


async def test_a_round_that_is_not_closed_says_how_far_it_is() -> None:
    text = await send(await a_full_app(held=False), "show aaaa000001")

    assert text.startswith("This round is not finished yet")
