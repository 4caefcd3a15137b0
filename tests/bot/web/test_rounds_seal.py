"""The page of a round shows whether its seal holds."""

from dataclasses import replace

import pytest

from bot.web.rounds import round_page
from council.integrity.seal import Seal
from council.rounds import Closing, Question, Round
from tests.bot.web.test_rounds_forgotten import request, site_of
from tests.builders import a_round
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round, store_round

CHANGED = "Changed after the round finished"


class EditedStore(MemoryStore):
    """A store whose question was edited."""

    async def load(self, round_id: str) -> Round:
        return replace(await super().load(round_id), question=Question("No?", "U1"))


class OlderStore(MemoryStore):
    """A store from before hash chains."""

    async def seal(self, round_id: str) -> Seal | None:
        return None


async def page_of(store: MemoryStore, round_: Round) -> str:
    await store_round(store, round_)
    return bytes((await round_page(site_of(store), request(id=round_.id))).body).decode()


@pytest.mark.parametrize(
    ("store", "found"),
    [
        pytest.param(MemoryStore(), (True, False), id="as-it-closed"),
        pytest.param(EditedStore(), (False, True), id="edited"),
        pytest.param(OlderStore(), (False, False), id="older"),
    ],
)
async def test_a_closed_round_shows_whether_its_seal_holds(
    store: MemoryStore, found: tuple[bool, bool]
) -> None:
    page = await page_of(store, a_closed_round("beef"))

    assert ("finished (link 1 of" in page, f"{CHANGED}: question<" in page) == found


async def test_a_round_of_a_missing_method_says_what_it_needs_and_is_not_verified() -> None:
    round_ = a_closed_round("beef")
    terms = replace(round_.panel.terms, method="haiku-first")

    page = await page_of(MemoryStore(), replace(round_, panel=replace(round_.panel, terms=terms)))

    assert page.count("plug-in that has the method haiku-first to recompute this round.") == 1
    assert "finished (link 1 of" in page
    assert "Verified:" not in page
    assert 'role="alert"' not in page


async def test_an_unfinished_round_of_a_missing_method_says_what_it_needs() -> None:
    round_ = replace(a_round(), id="beef")
    terms = replace(round_.panel.terms, method="haiku-first")

    page = await page_of(MemoryStore(), replace(round_, panel=replace(round_.panel, terms=terms)))

    assert page.count("plug-in that has the method haiku-first to recompute this round.") == 1


async def test_an_edited_failed_round_says_so() -> None:
    failed = replace(a_round(), id="beef", closing=Closing(1.0, "Only one answered."))

    page = await page_of(EditedStore(), failed)

    assert f"{CHANGED}: question<" in page
    assert "Verified:" not in page


async def test_an_imported_round_says_since_when() -> None:
    store = MemoryStore()
    await store.open(a_closed_round("beef"))

    page = bytes((await round_page(site_of(store), request(id="beef"))).body).decode()

    assert "imported (link 1 of" in page
