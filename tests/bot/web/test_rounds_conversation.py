"""A follow-up on the page refers to the rounds before it."""

from dataclasses import replace

import pytest

from bot.commands.conversations import FORGOTTEN_TURN
from tests.bot.web.browsing import SOMEBODY, Browser, Site, a_round_of, redirected_round_id
from tests.builders import ASKED_AT

SAID = "The council says yes."


async def asked(site: Site, browser: Browser, question: str, **fields: str) -> str:
    """Ask, wait for the answer, and return the round's id."""
    round_id = redirected_round_id(await browser.ask(question, **fields))
    await site.wait_until_closed(round_id)
    return round_id


async def test_a_follow_up_has_the_whole_conversation_as_context(site: Site) -> None:
    browser = site.browser()
    first = await asked(site, browser, "Which database?")
    second = await asked(site, browser, "And for ten users?", follows=first)

    third = await asked(site, browser, "And for a million?", follows=second)

    context = (await site.store.load(third)).question.context
    parts = [context.index(text) for text in ("Which database?", "And for ten users?")]
    assert parts == sorted(parts)
    assert context.count(SAID) == 2


async def test_the_page_shows_the_earlier_turns_and_asks_a_follow_up(site: Site) -> None:
    browser = site.browser()
    first = await asked(site, browser, "Which database?")
    second = await asked(site, browser, "And for ten users?", follows=first)

    page = (await browser.get(f"/rounds/{second}")).text

    turns = page[page.index('class="turns"') : page.index("<h1")]
    assert f'href="/rounds/{first}"' in turns
    assert SAID in turns
    assert f'name="follows" value="{second}"' in page
    assert 'name="follows" value=""' in (await browser.get("/")).text


async def test_a_question_without_a_round_before_it_starts_a_conversation(site: Site) -> None:
    browser = site.browser()
    await asked(site, browser, "Which database?")

    other = await asked(site, browser, "Which queue?")

    assert (await site.store.load(other)).question.context == ""
    assert 'class="turns"' not in (await browser.get(f"/rounds/{other}")).text


async def test_what_follows_a_private_round_is_private(site: Site) -> None:
    browser = site.browser()
    first = await asked(site, browser, "Is it me?", audience="me")

    second = await asked(site, browser, "Why?", follows=first, audience="everyone")

    assert (await site.store.load(second)).question.place.private
    assert (await site.browser().get(f"/rounds/{second}")).status_code == 404


async def test_a_strangers_private_round_cannot_be_followed(site: Site) -> None:
    others = await site.run_round(a_round_of(SOMEBODY, private=True))

    refused = await site.browser().ask("And why?", follows=others.id)

    assert refused.status_code == 422
    assert "There is no round" in refused.text
    assert others.question.text not in refused.text
    assert len(await site.store.list_summaries()) == 1


async def test_a_strangers_public_round_can_be_followed(site: Site) -> None:
    others = await site.run_round(a_round_of(SOMEBODY))

    follow_up = await asked(site, site.browser(), "And why?", follows=others.id)

    assert others.question.text in (await site.store.load(follow_up)).question.context


@pytest.mark.parametrize("follows", ["forgotten", "missing"])
async def test_a_follow_up_to_a_round_that_is_gone_asks_nothing(site: Site, follows: str) -> None:
    browser = site.browser()
    first = await asked(site, browser, "Which database?")
    await site.store.forget(first, ASKED_AT, "salt")

    refused = await browser.ask("And then?", follows=first if follows == "forgotten" else "beef")

    assert refused.status_code == 422
    assert "And then?" in refused.text
    assert (FORGOTTEN_TURN in refused.text) == (follows == "forgotten")
    assert len(await site.store.list_summaries()) == 1


async def test_asked_again_a_follow_up_keeps_its_place_in_the_conversation(site: Site) -> None:
    browser = site.browser()
    first = await asked(site, browser, "Which database?")
    second = await asked(site, browser, "And for ten users?", follows=first)

    again = redirected_round_id(await browser.act(second, "again"))

    before, after = [(await site.store.load(one)).question for one in (second, again)]
    assert after == replace(before, asked_by=after.asked_by)
