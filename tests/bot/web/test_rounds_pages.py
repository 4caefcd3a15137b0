"""Rounds on the page: the list and its search, a round, its downloads."""

import json
import re
from dataclasses import replace
from html import unescape
from urllib.parse import quote

import httpx
import pytest

from bot.render.markdown import thread_markdown
from bot.render.round_json import round_document
from bot.render.round_report.thread import DISCLAIMER, whole_round
from bot.settings.default_panels import DEMO_QUESTIONS
from council.errors import GatewayError
from council.rounds import Question
from tests.bot.app_fakes import an_app
from tests.bot.rounds import as_demonstration
from tests.bot.web.browsing import SOMEBODY, NewSite, Site, a_round_of, redirected_round_id
from tests.builders import CLAUDE, GPT, KEYS, a_panel
from tests.fakes.gateway import FakeGateway

ALERT = 'role="alert"'  # whatever is wrong is said outside the details
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)> \"'& {{ 7*7 }} [x](javascript:x)"
QUESTIONS = {
    "percent": "Is 100% enough?",
    "quote": "Is it O'Reilly's \"book\"?",
    "umlaut": "Ist ÄRGER gut?",
    "plain": "Why?",
}


async def store_questions(site: Site) -> None:
    for i, text in enumerate(QUESTIONS.values()):
        bare = a_round_of(SOMEBODY, f"{i:010x}")
        await site.store.open(replace(bare, question=replace(bare.question, text=text)))


def listed(page: httpx.Response) -> list[str]:
    found = re.findall(r'<th scope="row"><a href=[^>]*>(.*?)</a>', page.text, re.DOTALL)
    return [unescape(text) for text in found]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("%", ["percent"]),
        ('"', ["quote"]),
        ("ärger", ["umlaut"]),
        ("  Why?  ", ["plain"]),
        ("<script>", []),
        ("\x00", []),
        ("a" * 9999, []),
    ],
)
async def test_a_search_finds_the_questions_with_the_text(
    site: Site, wanted: str, found: list[str]
) -> None:
    await store_questions(site)

    page = await site.browser().client.get("/rounds", params={"q": wanted})

    assert (page.status_code, listed(page)) == (200, [QUESTIONS[name] for name in found])
    assert "<script>" not in page.text


async def test_the_first_page_says_who_answers_and_leads_to_connect(site: Site) -> None:
    page = unescape((await site.browser().get("/")).text)

    assert "Claude Sonnet 4.6, GPT-5.1" in page
    assert '<a href="/models">' in page
    assert not any(question in page for question in DEMO_QUESTIONS)


async def test_demo_rounds_say_so_and_one_press_asks_a_stock_question(new_site: NewSite) -> None:
    site = new_site(an_app(panels=[as_demonstration(a_panel())]))
    browser = site.browser()

    first = await browser.get("/")
    asked = await browser.post(
        "/ask", **browser.form_of(first, "/ask"), panel="house", question=DEMO_QUESTIONS[0]
    )
    round_ = await site.wait_until_closed(redirected_round_id(asked))
    page = await browser.get(f"/rounds/{round_.id}")

    assert all(f'value="{question}"' in first.text for question in DEMO_QUESTIONS)
    assert round_.question.text == DEMO_QUESTIONS[0]
    for shown in (first, page):
        assert 'Demo models: expect mistakes. <a href="/models#connect">' in shown.text
    under_answer = page.text[page.text.index("</article>") :]
    assert '<a class="button go" href="/models#connect">Connect real models</a>' in under_answer


async def test_every_page_links_to_the_others(site: Site) -> None:
    page = await site.browser().get("/")

    for path in ("/rounds", "/models"):
        assert f'="{path}"' in page.text


async def test_without_a_search_every_question_is_listed(site: Site) -> None:
    await store_questions(site)

    assert sorted(listed(await site.browser().get("/rounds"))) == sorted(QUESTIONS.values())


async def test_without_rounds_the_list_is_empty(site: Site) -> None:
    page = await site.browser().get("/rounds")

    assert "No questions yet." in page.text


async def test_a_round_shows_its_answer_its_ballots_and_its_checks(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))

    page = await site.browser().get(f"/rounds/{round_.id}")

    for words in (
        "The council says yes.",
        'class="placings"',
        "Verified:",
        round_.seed,
        DISCLAIMER,
    ):
        assert words in page.text
    assert all(answer.reply.text in page.text for answer in round_.answers)


async def test_a_changed_round_shows_the_difference(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))
    await site.store.open(replace(round_, id="aaaaaaaaaa", seed="another"))

    page = await site.browser().get("/rounds/aaaaaaaaaa")

    assert ALERT in page.text
    assert "Verified:" not in page.text


async def test_a_round_that_failed_shows_why(new_site: NewSite) -> None:
    silent = {key: GatewayError("hung up") for key in KEYS[:3]}
    site = new_site(an_app(FakeGateway(answers=silent)))
    round_ = await site.run_round(a_round_of(SOMEBODY))

    page = await site.browser().get(f"/rounds/{round_.id}")

    assert round_.closing
    assert round_.closing.failure
    assert round_.closing.failure in unescape(page.text)


async def test_texts_of_people_and_models_are_escaped(new_site: NewSite) -> None:
    gateway = FakeGateway(
        answers={CLAUDE: EVIL}, chairmen={CLAUDE: EVIL}, judges={GPT: f"{EVIL} I rank none."}
    )
    site = new_site(an_app(gateway))
    round_ = await site.run_round(replace(a_round_of(SOMEBODY), question=Question(EVIL, "x", EVIL)))

    page = await site.browser().get(f"/rounds/{round_.id}")
    search = await site.browser().client.get("/rounds", params={"q": EVIL})

    for text in (page.text, search.text):
        assert not re.findall(
            r"<script(?! src=./static/)|<img|<[^>\x22]* onerror|href=.javascript", text
        )
        assert "& {{ 7*7 }} [x]" in unescape(text)
        assert "& 49" not in unescape(text)


async def test_the_json_file_is_the_rounds_document(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))

    file = await site.browser().get(f"/rounds/{round_.id}/round.json")

    assert json.loads(file.text) == json.loads(json.dumps(round_document(round_)))
    assert file.headers["content-type"] == "application/json"
    assert file.headers["content-disposition"] == f'attachment; filename="round-{round_.id}.json"'


async def test_the_markdown_file_holds_answer_table_and_ballots(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))

    file = await site.browser().get(f"/rounds/{round_.id}/round.md")

    assert file.text == thread_markdown(whole_round(round_))
    assert "The council says yes." in file.text
    assert "| --: |" in file.text or "| --- |" in file.text
    assert all(ballot.reason in file.text for ballot in round_.ballots)
    assert file.headers["content-type"] == "text/markdown; charset=utf-8"


@pytest.mark.parametrize(
    ("round_id", "name"),
    [
        ("slack:T1:123.4@5", "round-slack_T1_123.4_5"),
        ('a"; filename="evil', "round-a___filename__evil"),
        ("a\r\nSet-Cookie: x=y", "round-a__Set-Cookie__x_y"),
        ("..", "round-.."),
        ("家族", "round-"),
    ],
)
async def test_a_file_name_is_plain_for_any_round_id(site: Site, round_id: str, name: str) -> None:
    await site.store.open(a_round_of(SOMEBODY, round_id))
    path = f"/rounds/{quote(round_id, safe='')}".replace("..", "%2E%2E")

    for kind in ("json", "md"):
        file = await site.browser().get(f"{path}/round.{kind}")
        assert file.headers["content-disposition"] == f'attachment; filename="{name}.{kind}"'
        assert "set-cookie" not in {key for key in file.headers if "x=y" in file.headers[key]}


async def test_a_running_round_can_be_downloaded(site: Site) -> None:
    await site.store.open(a_round_of(SOMEBODY))

    files = [
        await site.browser().get(f"/rounds/abcdef0123/round.{kind}") for kind in ("json", "md")
    ]

    assert [file.status_code for file in files] == [200, 200]


async def test_a_running_round_says_who_receives_the_text_and_what_it_may_cost(
    hanging_site: Site,
) -> None:
    browser = hanging_site.browser()

    asked = await browser.ask("Which queue?")
    page = (await browser.get(f"/rounds/{redirected_round_id(asked)}")).text

    assert "Sent only to" in page
    assert "It costs nothing." in page or "cost unknown" in page
