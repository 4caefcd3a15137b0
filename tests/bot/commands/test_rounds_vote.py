"""`/council vote ROUND LABEL`: store which answer somebody finds best."""

from dataclasses import replace

import pytest

from bot.chat import Asker
from bot.context import AppContext
from council.labels import Label
from council.places import Place
from council.rounds import Question, Round
from tests.bot.app_fakes import an_app, replies_to
from tests.bot.rounds import names_of
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


async def send(app: AppContext, text: str, asker: Asker = BEN) -> str:
    return await replies_to(app, text, asker, PAGE)


def labels_of(round_: Round) -> list[str]:
    assert round_.draw
    return sorted(round_.draw.labels.labels)


async def votes(app: AppContext) -> list[tuple[str, str]]:
    return [(vote.by, vote.label) for vote in await app.store.votes(ROUND_ID)]


@pytest.mark.parametrize("named", ["{}", "Response {}"])
async def test_a_vote_is_stored_and_reported_as_not_blind(
    app: AppContext, round_: Round, named: str
) -> None:
    label = labels_of(round_)[0]

    line = await send(app, f"/council vote last {named.format(label.lower())}")

    assert round_.draw
    author = names_of(round_)[label]
    assert line.startswith(f"Noted: you chose {author} as the best.")
    assert line.endswith("You have already seen who wrote what, so this vote is not blind.")
    (vote,) = await app.store.votes()
    assert (vote.by, vote.label) == (BEN.id, label)
    assert vote.member == round_.draw.labels.author_of(Label(label))


async def test_a_second_vote_takes_the_place_of_the_first(app: AppContext, round_: Round) -> None:
    first, second, *_ = labels_of(round_)

    await send(app, f"/council vote {ROUND_ID} {first}")
    await send(app, f"/council vote {ROUND_ID} {second}")
    await send(app, f"/council vote {ROUND_ID} {first}", ANA)

    assert sorted(await votes(app)) == [(ANA.id, first), (BEN.id, second)]


async def test_a_label_the_round_does_not_have_is_refused_with_those_it_has(
    app: AppContext, round_: Round
) -> None:
    missing = next(letter for letter in "KLMNOPQRSTUVWXYZ" if letter not in labels_of(round_))

    line = await send(app, f"/council vote {ROUND_ID} {missing}")

    assert f"There is no Response {missing}. " in line
    assert await votes(app) == []


async def test_a_round_without_two_answers_has_nothing_to_vote_on(
    app: AppContext, round_: Round
) -> None:
    await app.store.open(replace(a_round(), id="beef2", question=round_.question))
    await app.store.open(replace(round_, id="beef3", draw=None, tally=None, ballots=()))

    assert "is not finished yet" in await send(app, "/council vote beef2 K")
    assert "so there is nothing to choose" in await send(app, "/council vote beef3 K")


async def test_a_forgotten_round_has_nothing_to_vote_on(app: AppContext, round_: Round) -> None:
    await app.store.forget(ROUND_ID, round_.asked_at, "salt")

    line = await send(app, f"/council vote {ROUND_ID} {labels_of(round_)[0]}")

    assert line == f"The answers of round {ROUND_ID} have been forgotten."
