"""The list of rounds: filters, pages, and deleting one's own rounds."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.web.round_list import PAGE_ROUNDS
from council.tally.borda import Standing
from tests.bot.web.browsing import SOMEBODY, Site, a_round_of, redirected_round_id
from tests.builders import ASKED_AT


async def test_text_is_found_in_questions_and_answers(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))
    browser = site.browser()

    in_question = await browser.get("/rounds?q=POSTGRES")
    in_answer = await browser.get("/rounds?q=council+says+yes")
    nowhere = await browser.get("/rounds?q=xylograph")

    link = f'href="/rounds/{round_.id}"'
    main = [page.text[page.text.index("<main") :] for page in (in_question, in_answer, nowhere)]
    assert [link in text for text in main] == [True, True, False]
    assert "No round matches" in main[2]


@pytest.mark.parametrize(
    ("query", "is_listed"),
    [
        ("panel=house", True),
        ("panel=other", False),
        ("by=me", False),
        (f"since={ASKED_AT:%Y-%m-%d}&until={ASKED_AT:%Y-%m-%d}", True),
        (f"until={ASKED_AT - timedelta(days=1):%Y-%m-%d}", False),
        (f"since={ASKED_AT + timedelta(days=1):%Y-%m-%d}", False),
        ("since=yesterday&until=%00&before=soon", True),
        ("winner=nobody", False),
    ],
)
async def test_filters_select_rounds(site: Site, query: str, is_listed: bool) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))

    page = (await site.browser().get(f"/rounds?{query}")).text

    assert (f'href="/rounds/{round_.id}"' in page[page.index("<main") :]) is is_listed


async def test_the_winner_is_shown_and_can_be_filtered_by(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))
    assert round_.tally
    assert round_.draw
    best: Standing = round_.tally.standings[0]
    winner = round_.draw.labels.author_of(best.label)

    page = (await site.browser().get(f"/rounds?winner={winner}")).text

    main = page[page.index("<main") :]
    assert f'href="/rounds/{round_.id}"' in main
    assert "points" in main


async def test_older_rounds_are_on_further_pages_and_none_twice(site: Site) -> None:
    for number in range(PAGE_ROUNDS + 3):
        old = a_round_of(SOMEBODY, f"{number:010x}")
        await site.store.open(replace(old, asked_at=ASKED_AT - timedelta(minutes=number)))
    browser = site.browser()

    first = (await browser.get("/rounds")).text
    older = first[first.index("<main") :].split('class="button" href="')[1].split('"')[0]
    second = (await browser.get("/rounds" + older.replace("&amp;", "&"))).text

    listed = [
        {n for n in range(PAGE_ROUNDS + 3) if f'href="/rounds/{n:010x}"' in page.split("<main")[1]}
        for page in (first, second)
    ]
    assert [len(one) for one in listed] == [PAGE_ROUNDS, 3]
    assert not listed[0] & listed[1]


async def test_an_empty_list_says_what_to_do_first(site: Site) -> None:
    page = (await site.browser().get("/rounds")).text

    assert "No questions yet." in page
    assert "Ask the first one" in page


async def test_a_visitor_deletes_a_round_of_their_own_after_confirming(site: Site) -> None:
    browser = site.browser()
    round_id = redirected_round_id(await browser.ask("Which database?"))
    await site.wait_until_closed(round_id)

    asked = await browser.get(f"/rounds/{round_id}/forget")
    assert "Delete this round?" in asked.text
    assert not (await site.store.load(round_id)).forgotten
    done = await browser.act(round_id, "forget")

    assert done.headers["location"] == "/rounds"
    assert (await site.store.load(round_id)).forgotten
    assert "Which database?" not in (await browser.get("/rounds")).text


async def test_nobody_deletes_a_round_of_another_visitor(site: Site) -> None:
    others = await site.run_round(a_round_of(SOMEBODY))
    browser = site.browser()

    asked, done = (
        await browser.get(f"/rounds/{others.id}/forget"),
        await browser.act(others.id, "forget"),
    )

    assert {asked.status_code, done.status_code} == {403}
    assert await site.store.load(others.id) == others


async def test_to_forget_a_private_round_of_another_visitor_reads_as_to_forget_none(
    site: Site,
) -> None:
    others = await site.run_round(a_round_of(SOMEBODY, private=True))
    browser = site.browser()

    for wanted in (others.id, others.id[:4]):
        foreign = [
            await browser.get(f"/rounds/{wanted}/forget"),
            await browser.act(wanted, "forget"),
        ]
        missing = [await browser.get("/rounds/beef/forget"), await browser.act("beef", "forget")]

        assert {page.status_code for page in (*foreign, *missing)} == {404}
        assert [page.text.replace(wanted, "beef") for page in foreign] == [
            page.text for page in missing
        ]


async def test_a_missing_page_does_not_say_that_there_are_no_rounds(site: Site) -> None:
    await site.run_round(a_round_of(SOMEBODY))

    page = await site.browser().get("/nowhere")

    assert page.status_code == 404
    assert "No rounds yet" not in page.text
    assert "Back to home" in page.text
