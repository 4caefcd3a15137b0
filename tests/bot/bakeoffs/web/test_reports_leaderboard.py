"""The leaderboard on the page: sorting, filters, chart and downloads."""

import csv
import json
import re
from html import unescape
from io import StringIO

import httpx
import pytest

from bot.bakeoffs.parts import bakeoff_stores
from tests.bot.bakeoffs.builders import MEMBERS, packed_all, runs_of
from tests.bot.web.browsing import SOMEBODY, Site, a_round_of, make_site


@pytest.fixture
async def sql_site() -> Site:
    """Yield a site with runs of suite sql in two versions, and of another suite."""
    site = make_site()
    records = [
        *runs_of("sql", 2, version="0000aaaabbbb", scope="slack/T1"),
        *runs_of("sql", 4),
        *runs_of("poems", 1, scope="discord/1"),
    ]
    await bakeoff_stores(site.context.app).records.save(packed_all(records))
    return site


async def get(site: Site, query: str = "") -> httpx.Response:
    return await site.browser().get(f"/leaderboard{query}")


def rows_of(page: httpx.Response) -> list[list[str]]:
    table = re.findall(r'<table class="sortable">(.*?)</table>', page.text, re.DOTALL)[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)[1:]
    return [[unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]


def heads_of(page: httpx.Response) -> dict[str, tuple[str, str]]:
    """Return the link and the order of each column by its title."""
    table = re.findall(r'<table class="sortable">(.*?)</table>', page.text, re.DOTALL)[0]
    found = re.findall(r'<th scope="col"([^>]*)><a href="([^"]*)">(.*?)</a></th>', table)
    sorts = {title: re.search(r'aria-sort="(\w+)"', more) for more, _, title in found}
    return {
        unescape(title): (unescape(link), match[1] if (match := sorts[title]) else "")
        for _, link, title in found
    }


async def test_without_rounds_the_page_says_what_to_do(site: Site) -> None:
    page = await get(site)

    assert page.status_code == 200
    assert "No rounds yet" in page.text
    assert "<table" not in page.text


async def test_members_are_listed_best_first_with_a_chart(sql_site: Site) -> None:
    page = await get(sql_site, "?suite=sql")

    rows = rows_of(page)
    assert page.status_code == 200
    places = [int(row[0].removeprefix("=")) for row in rows]
    assert places == sorted(places)
    assert {row[1] for row in rows} == {*MEMBERS}
    assert '<svg class="chart" role="img"' in page.text
    assert " style=" not in page.text
    assert "48 rounds of suite sql, version 3f2a1b9c" in page.text
    assert "24 rounds of 1 other version are not included." in page.text


async def test_the_table_under_the_chart_does_not_repeat_its_numbers(sql_site: Site) -> None:
    page = await get(sql_site, "?suite=sql")

    assert [*heads_of(page)] == ["Place", "Model", "Points", "Price"]
    assert "95 % interval</a>" in page.text.partition("All columns")[2]


async def test_a_version_can_be_chosen(sql_site: Site) -> None:
    page = await get(sql_site, "?suite=sql&version=0000aaaabbbb")

    assert "24 rounds of suite sql, version 0000aaaa" in page.text
    assert "48 rounds of 1 other version are not included." in page.text


async def test_an_unfiltered_leaderboard_names_its_rounds(sql_site: Site) -> None:
    page = await get(sql_site)

    assert "84 rounds: 12 of suite poems and 72 of suite sql in 2 versions" in page.text


async def test_a_column_sorts_best_first_then_worst_first(sql_site: Site) -> None:
    first = await get(sql_site, "?suite=sql")
    link, sorted_now = heads_of(first)["Price"]

    cheap = await sql_site.browser().get(link)
    again, sorted_so = heads_of(cheap)["Price"]
    dear = await sql_site.browser().get(again)

    assert (sorted_now, sorted_so) == ("", "ascending")
    assert heads_of(dear)["Price"][1] == "descending"
    assert [row[1] for row in rows_of(cheap)] == [*reversed(MEMBERS)]
    assert [row[1] for row in rows_of(dear)] == [*MEMBERS]
    assert heads_of(cheap)["Points"][0] == "/leaderboard?suite=sql&sort=share"


async def test_judges_have_a_separate_table(sql_site: Site) -> None:
    page = await get(sql_site, "?suite=sql&as=judge")

    assert "Agreement" in heads_of(page)
    assert len(rows_of(page)) == 5
    assert "<svg" not in page.text


async def test_the_filters_list_their_choices(sql_site: Site) -> None:
    page = await get(sql_site, "?suite=sql&category=joins&since=30d")

    assert re.search(r"<option selected>sql</option>", page.text)
    assert re.search(r"<option selected>joins</option>", page.text)
    assert re.search(r'<option value="30d" selected>', page.text)
    for value in ("poems", "windows", "house", "0000aaaabbbb"):
        assert f">{value}</option>" in page.text


async def test_an_invalid_time_is_an_error_on_the_page(sql_site: Site) -> None:
    page = await get(sql_site, "?since=yesterday")

    assert page.status_code == 422
    assert "I can't read" in unescape(page.text)


async def test_query_values_are_escaped(sql_site: Site) -> None:
    page = await get(sql_site, "?suite=<script>alert(1)</script>&sort=<b>")

    assert page.status_code == 200
    assert "<script>alert" not in page.text


async def test_the_downloads_contain_what_the_page_shows(sql_site: Site) -> None:
    browser = sql_site.browser()

    table = await browser.get("/leaderboard.csv?suite=sql")
    document = await browser.get("/leaderboard.json?suite=sql")
    picture = await browser.get("/leaderboard.png?suite=sql")

    lines = [*csv.DictReader(StringIO(table.text))]
    assert {line["member"] for line in lines} == {*MEMBERS}
    assert json.loads(document.text)["counted"]["rounds"] == 48
    assert picture.content.startswith(b"\x89PNG")
    assert 'filename="leaderboard.png"' in picture.headers["content-disposition"]


async def test_weighted_places_are_shown_next_to_the_places(site: Site) -> None:
    for number in range(3):
        await site.run_round(a_round_of(SOMEBODY, f"w{number}"))

    plain, weighed = await get(site), await get(site, "?weights=family")

    assert 'id="weighted"' not in plain.text
    assert rows_of(weighed) == rows_of(plain)
    assert "With judges weighted by family" in weighed.text
    assert '<option value="family" selected>by family share</option>' in weighed.text
    assert "weights=family" in weighed.text.partition("leaderboard.csv?")[2][:40]


async def test_unknown_weights_are_an_error(site: Site) -> None:
    page = await get(site, "?weights=loudness")

    assert page.status_code == 422
    assert "not by &#39;loudness&#39;" in page.text
