"""The page of a forgotten round: that it is forgotten, how it was ranked, and no way to go on."""

from dataclasses import replace

import pytest
from starlette.requests import Request

from bot.web.auth import PageSigner
from bot.web.context import WebContext
from bot.web.round_list import rounds_page
from bot.web.rounds import round_page
from council.integrity.erasure import forget
from council.rounds import Round
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import SOMEBODY
from tests.builders import ASKED_AT, a_round
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round


def site_of(store: MemoryStore) -> WebContext:
    return WebContext(an_app(store=store), PageSigner(b"k" * 32))


def request(**parameters: str) -> Request:
    scope = {"type": "http", "headers": [], "query_string": b"", "path_params": parameters}
    rest = {"method": "GET", "path": "/", "scheme": "http", "visitor": SOMEBODY}
    return Request({**scope, **rest})


@pytest.mark.parametrize("round_", [a_round(), a_closed_round()], ids=["stopped", "closed"])
async def test_a_forgotten_round_shows_that_it_is_forgotten(round_: Round) -> None:
    store = MemoryStore()
    await store.open(forget(replace(round_, id="beef"), ASKED_AT, "salt"))

    page = bytes((await round_page(site_of(store), request(id="beef"))).body).decode()
    listed = bytes((await rounds_page(site_of(store), request())).body).decode()

    assert "were forgotten on 2026-11-21" in page
    assert '<h1 class="question">A forgotten question</h1>' in page
    assert ">A forgotten question</a>" in listed
    for act in ("Run again", "Resume", "Answers</", "Share", 'role="alert"'):
        assert act not in page
