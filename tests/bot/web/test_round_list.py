"""The list of rounds: filters, pages, and deleting one's own rounds."""

import csv
from dataclasses import replace
from datetime import timedelta
from html import escape
from io import StringIO

import pytest

from bot.render.round_report.verdict import short_verdict
from bot.web.auth import place_of
from bot.web.round_list import PAGE_ROUNDS
from council.rounds import Question
from council.tally.borda import Standing
from tests.bot.web.browsing import SOMEBODY, Site, a_round_of, redirected_round_id
from tests.builders import ASKED_AT, a_round


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
    assert f"<td>{escape(short_verdict(round_)[0])}" in main


async def run_bakeoff(site: Site, count: int = 3) -> list[str]:
    """Run rounds of a bake-off after one other round; return their ids."""
    first = await site.run_round(a_round_of(SOMEBODY))
    ids = [f"b{number}" for number in range(count)]
    for number, round_id in enumerate(ids, start=1):
        asked_at = ASKED_AT + timedelta(minutes=number)
        await site.run_round(replace(first, id=round_id, bakeoff="run1", asked_at=asked_at))
    return ids


async def test_the_rounds_of_a_bake_off_are_one_row_that_opens_them(site: Site) -> None:
    ids = await run_bakeoff(site)
    browser = site.browser()

    folded, opened = [
        (await browser.get(path)).text.split("<main")[1]
        for path in ("/rounds", "/rounds?bakeoff=run1")
    ]

    assert 'href="/rounds?bakeoff=run1"' in folded
    assert f"{len(ids)} questions" in folded
    assert 'href="/rounds/abcdef0123"' in folded
    assert [f'href="/rounds/{one}"' in folded for one in ids] == [False] * 3
    assert [f'href="/rounds/{one}"' in opened for one in ids] == [True] * 3
    assert 'href="/rounds/abcdef0123"' not in opened


async def test_what_the_filters_find_is_exported(site: Site) -> None:
    ids = await run_bakeoff(site)
    formula = Question("=1+1|2", SOMEBODY.asker.id, place=place_of(SOMEBODY))
    await site.run_round(replace(a_round(question=formula), id="f0"))
    browser = site.browser()

    found = (await browser.get("/rounds.json?bakeoff=run1")).json()
    rows = [*csv.DictReader(StringIO((await browser.get("/rounds.csv?q=1%2B1")).text))]
    table = (await browser.get("/rounds.md")).text
    other = await browser.get("/rounds.exe")

    assert [one["id"] for one in found] == ids[::-1]
    assert {one["bakeoff"] for one in found} == {"run1"}
    assert [(row["id"], row["question"]) for row in rows] == [("f0", "'=1+1|2")]
    assert "=1+1\\|2" in table
    assert table.count("\n| ") == 2 + 5
    assert other.status_code == 404


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
