"""A follow-up on the page refers to the rounds before it."""

from dataclasses import replace

import pytest

from bot.commands.conversations import FORGOTTEN_TURN
from council.integrity.seal import find_changes
from council.integrity.verification import verify
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


async def test_forgetting_a_question_reaches_what_others_followed_up_and_ran_again(
    site: Site,
) -> None:
    asker, other, third = site.browser(), site.browser(), site.browser()
    first = await asked(site, asker, "Which secret database?")
    second = await asked(site, other, "And for ten users?", follows=first)
    last = await asked(site, third, "And for a million?", follows=second)
    again = redirected_round_id(await other.act(first, "again"))
    own = redirected_round_id(await asker.act(first, "again"))
    for round_id in (again, own):
        await site.wait_until_closed(round_id)

    page = (await asker.get(f"/rounds/{first}/forget")).text
    await asker.act(first, "forget")

    assert "3 rounds of other people follow up this one or repeat it." in page
    for round_id in (first, second, last, again):
        round_, seal = await site.store.load(round_id), await site.store.seal(round_id)
        assert "secret" not in repr(round_)
        assert seal
        assert find_changes(round_, seal) == ()
        assert verify(round_) == ()
    assert (await site.store.load(own)).question.text == "Which secret database?"
    shown = (await other.get(f"/rounds/{again}")).text
    assert '<h1 class="question">A forgotten question</h1>' in shown
    refused = await third.act(again, "again")
    assert refused.status_code == 503
    assert "Ask the question again" in refused.text
