"""`/council vote ROUND LABEL`: store which answer somebody finds best."""

from dataclasses import replace

import pytest

from bot.chat import Asker, IncomingMessage
from bot.commands.dispatch import ASK, COMMANDS, handle_message
from bot.context import AppContext
from council.labels import Label
from council.places import Place
from council.rounds import Question, Round
from tests.bot.app_fakes import FakeChat, an_app
from tests.builders import a_round
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round

ROUND_ID = "beef1"
PAGE = Place("web")
ANA, BEN = Asker("web:ana", "Ana"), Asker("web:ben", "Ben")


@pytest.fixture
def round_() -> Round:
    return replace(a_closed_round(ROUND_ID), question=Question("Why?", ANA.id, place=PAGE))


@pytest.fixture
async def app(round_: Round) -> AppContext:
    store = MemoryStore()
    await store.open(round_)
    return an_app(store=store)


async def a_message(app: AppContext, text: str, asker: Asker = BEN) -> str:
    chat = FakeChat()
    await handle_message(app, chat, IncomingMessage(text, asker, PAGE, "k"))
    return chat.said[-1]


def labels_of(round_: Round) -> list[str]:
    assert round_.draw
    return sorted(round_.draw.labels.labels)


async def votes(app: AppContext) -> list[tuple[str, str]]:
    return [(vote.by, vote.label) for vote in await app.store.votes(ROUND_ID)]


@pytest.mark.parametrize("named", ["{}", "response {}", "Response {}"])
async def test_a_vote_is_stored_and_reported_as_not_blind(
    app: AppContext, round_: Round, named: str
) -> None:
    label = labels_of(round_)[0]

    line = await a_message(app, f"/council vote {ROUND_ID} {named.format(label.lower())}")

    assert line.startswith(f"Noted: Response {label}, by ")
    assert line.endswith("You have seen who wrote what, so this vote is not blind.")
    assert await votes(app) == [(BEN.id, label)]


async def test_a_vote_names_the_member_who_wrote_the_answer(app: AppContext, round_: Round) -> None:
    label = labels_of(round_)[0]

    await a_message(app, f"/council vote last {label}")

    (vote,) = await app.store.votes()
    assert round_.draw
    assert vote.member == round_.draw.labels.author_of(Label(label))


async def test_a_second_vote_takes_the_place_of_the_first(app: AppContext, round_: Round) -> None:
    first, second, *_ = labels_of(round_)

    await a_message(app, f"/council vote {ROUND_ID} {first}")
    await a_message(app, f"/council vote {ROUND_ID} {second}")
    await a_message(app, f"/council vote {ROUND_ID} {first}", ANA)

    assert sorted(await votes(app)) == [(ANA.id, first), (BEN.id, second)]


async def test_a_label_the_round_does_not_have_is_refused_with_those_it_has(
    app: AppContext, round_: Round
) -> None:
    missing = next(letter for letter in "KLMNOPQRSTUVWXYZ" if letter not in labels_of(round_))

    line = await a_message(app, f"/council vote {ROUND_ID} {missing}")

    assert f"Round {ROUND_ID} has no Response {missing}: choose among" in line
    assert await votes(app) == []


async def test_a_round_that_is_not_closed_has_nothing_to_vote_on(app: AppContext) -> None:
    await app.store.open(replace(a_round(), id="beef2"))

    assert "is not closed yet" in await a_message(app, "/council vote beef2 K")


async def test_a_round_that_failed_has_nothing_to_choose_from(
    app: AppContext, round_: Round
) -> None:
    await app.store.open(replace(round_, id="beef3", draw=None, tally=None, ballots=()))

    assert "no two answers to choose from" in await a_message(app, "/council vote beef3 K")


async def test_a_forgotten_round_has_nothing_to_vote_on(app: AppContext, round_: Round) -> None:
    await app.store.forget(ROUND_ID, round_.asked_at, "salt")

    line = await a_message(app, f"/council vote {ROUND_ID} {labels_of(round_)[0]}")

    assert line == f"What was answered in round {ROUND_ID} is forgotten."


async def test_a_private_round_of_another_is_as_if_it_were_not_there(
    app: AppContext, round_: Round
) -> None:
    private = replace(round_.question, place=replace(PAGE, private=True))
    await app.store.open(replace(round_, id="beef4", question=private))

    assert "There is no round" in await a_message(app, "/council vote beef4 K")


@pytest.mark.parametrize(
    "text", ["vote for whom?", "vote beef1", "vote on this: K or L?", "vote K beef1"]
)
def test_words_without_round_and_label_are_a_question(text: str) -> None:
    assert COMMANDS.read(f"/council {text}").command is ASK
