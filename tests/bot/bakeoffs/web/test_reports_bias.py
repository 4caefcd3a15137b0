"""The bias report on the page: findings, charts, tables, filters and downloads."""

import csv
import json
import re
from html import unescape
from io import StringIO

from bot.bakeoffs.parts import bakeoff_settings, bakeoff_stores
from bot.plugins import RecordSources
from council.bakeoffs.bias.report import BiasReport
from council.bakeoffs.ports import RecordQuery
from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.builders import packed_all, runs_of
from tests.bot.bakeoffs.render.bias.builders import NOTHING, a_report
from tests.bot.bakeoffs.render.boards.builders import QWEN
from tests.bot.web.browsing import Site, make_site

FILES = ("/bias.csv", "/bias.json", "/bias.png")


def site_with(report: BiasReport, wanted: list[RecordQuery] | None = None) -> Site:
    """Return a site with this bias report; its queries are appended to `wanted`."""

    async def measure(_: RecordSources, records: RecordQuery) -> BiasReport:
        if wanted is not None:
            wanted.append(records)
        return report

    app = an_app()
    bakeoff_settings(app).measure_bias = measure
    return make_site(app)


async def read(site: Site, path: str = "/bias") -> str:
    return unescape((await site.browser().get(path)).text)


async def test_without_rounds_the_page_says_what_to_do(site: Site) -> None:
    page = await read(site)

    assert "No rounds yet" in page
    assert "<table" not in page
    assert "<svg" not in page


async def test_findings_come_before_cautions_tables_what_wins_and_audits() -> None:
    page = await read(site_with(a_report(majority="qwen")))

    order = (
        "ollama/qwen3 places its own answer too high.",
        "Most judges are from one family, qwen.",
        "Over 64 finished rounds with 256 rankings.",
        "Too little data yet on",
        "Charts</a>",
        "Judges side by side",
        "ranks its own answer .31 higher than the others do (n 52, .18 to .44).",
        "ollama/qwen3 as a judge",
        "What wins here",
        "64 audit rankings, made to measure bias and never counted",
        "How to read it",
    )
    places = [page.index(words) for words in order]
    assert places == sorted(places)
    assert " style=" not in page
    at_first = page[: page.index("The findings with their figures")]
    assert not re.search("[φατ]|Holm|N_eff|log-odds", at_first)


async def test_every_figure_is_a_table_too() -> None:
    page = await read(site_with(a_report()), "/bias/charts")

    assert page.count('<svg class="chart" role="img"') == 3
    assert page.count("Show as a table") == 3
    for title in ("How judges rated each author", "Position bias", "Consistency"):
        assert f'aria-label="{title}, as a table"' in page


async def test_filters_select_the_rounds_that_count() -> None:
    wanted: list[RecordQuery] = []
    site = site_with(a_report(), wanted)
    await bakeoff_stores(site.context.app).records.save(
        packed_all([*runs_of("sql", 1), *runs_of("poems", 1)])
    )

    page = await read(site, "/bias?suite=sql&panel=house&category=joins&since=30d")

    assert (wanted[0].suite, wanted[0].panel, wanted[0].category) == ("sql", "house", "joins")
    assert wanted[0].since
    assert "<option selected>sql</option>" in page
    assert "<option>poems</option>" in page
    assert 'href="/bias.csv?suite=sql&panel=house&category=joins&since=30d"' in page


async def test_an_invalid_time_is_an_error_on_the_page() -> None:
    page = await site_with(NOTHING).browser().get("/bias?since=yesterday")

    assert page.status_code == 422
    assert "I can't read" in unescape(page.text)


async def test_query_values_are_escaped() -> None:
    page = await site_with(NOTHING).browser().get("/bias?panel=<script>alert(1)</script>")

    assert page.status_code == 200
    assert "<script>alert" not in page.text


async def test_the_downloads_contain_what_the_page_shows() -> None:
    browser = site_with(a_report()).browser()

    table, document, picture = [await browser.get(path) for path in FILES]

    rows = [*csv.DictReader(StringIO(table.text))]
    assert any(row["judge"] == QWEN and row["measure"] == "own" for row in rows)
    assert json.loads(document.text)["rounds"] == 64
    assert picture.content.startswith(b"\x89PNG")
    assert 'filename="bias.png"' in picture.headers["content-disposition"]
