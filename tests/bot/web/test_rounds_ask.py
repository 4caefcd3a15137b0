"""Asking on the page: a form starts one round, and errors are sentences."""

import re
from dataclasses import replace
from html import unescape

import httpx
import pytest

from council.files import MAX_FILES, QuestionFile
from council.panel import Panel
from council.rounds import Stage
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import SOMEBODY, NewSite, Site, a_round_of, redirected_round_id
from tests.builders import a_panel


async def test_a_question_redirects_to_its_round(site: Site) -> None:
    browser = site.browser()

    asked = await browser.ask("Is Postgres enough?")
    closed = await site.wait_until_closed(redirected_round_id(asked))

    assert (closed.question.text, closed.stage) == ("Is Postgres enough?", Stage.CLOSED)
    assert closed.question.asked_by == browser.visitor.asker.id
    assert (closed.question.place.chat, closed.question.place.private) == ("web", False)
    assert "The council says yes." in (await browser.get(f"/rounds/{closed.id}")).text


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("Why?", id="plain"),
        pytest.param("Why?\r\nAnd how?\r\n", id="lines-as-browsers-send-them"),
        pytest.param("  pass\u200bword? ", id="invisible"),
        pytest.param("panel:house seed:s Why?", id="options"),
        pytest.param("/council ask help", id="addressed"),
    ],
)
async def test_the_same_form_twice_is_one_round(site: Site, question: str) -> None:
    browser = site.browser()
    form = await browser.form() | {"question": question}

    first, second = await browser.post("/ask", **form), await browser.post("/ask", **form)

    assert redirected_round_id(first) == redirected_round_id(second)
    assert len(await site.store.list_summaries()) == 1


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"question": "But why?"}, id="question-with-the-same-end"),
        pytest.param({"question": "Wh"}, id="beginning"),
        pytest.param({"panel": "other"}, id="panel"),
        pytest.param({"audience": "me"}, id="audience"),
    ],
)
async def test_the_same_form_with_something_else_is_another_round(
    new_site: NewSite, other: dict[str, str]
) -> None:
    site = new_site(an_app(panels=[a_panel(3), named(a_panel(4), "other")]))
    browser = site.browser()
    form = await browser.form() | {"question": "why?"}

    first = redirected_round_id(await browser.post("/ask", **form))
    second = redirected_round_id(await browser.post("/ask", **(form | other)))

    assert first != second
    assert len(await site.store.list_summaries()) == 2


def named(panel: Panel, name: str) -> Panel:
    return replace(panel, name=name)


async def test_the_key_of_anothers_round_starts_a_new_one(site: Site) -> None:
    others_round = await site.run_round(a_round_of(SOMEBODY, private=True))

    asked = await site.browser().ask(others_round.question.text, round=others_round.id)

    assert redirected_round_id(asked) != others_round.id
    assert await site.store.load(others_round.id) == others_round


@pytest.mark.parametrize("key", ["", "x", "../../etc", "ABCDEF0123", "0" * 99])
async def test_a_malformed_key_is_replaced(site: Site, key: str) -> None:
    assert redirected_round_id(await site.browser().ask("Why?", round=key))


async def test_run_again_repeats_the_question(site: Site) -> None:
    first = await site.run_round(a_round_of(SOMEBODY))
    browser = site.browser()
    form = await browser.form(f"/rounds/{first.id}", f"/rounds/{first.id}/again")

    sent = [await browser.post(f"/rounds/{first.id}/again", **form) for _ in range(2)]

    assert redirected_round_id(sent[0]) == redirected_round_id(sent[1]) != first.id
    second = await site.store.load(redirected_round_id(sent[0]))
    assert (second.question.text, second.panel) == (first.question.text, first.panel)
    assert second.question.asked_by == browser.visitor.asker.id


async def test_run_again_keeps_the_context(site: Site) -> None:
    bare = a_round_of(SOMEBODY)
    first = await site.run_round(
        replace(bare, question=replace(bare.question, context="A thread."))
    )

    again = await site.browser().act(first.id, "again")

    assert (await site.store.load(redirected_round_id(again))).question.context == "A thread."


async def test_run_again_on_a_removed_panel_is_an_error_that_keeps_the_question(site: Site) -> None:
    bare = a_round_of(SOMEBODY)
    first = await site.run_round(replace(bare, panel=named(bare.panel, "gone")))

    again = await site.browser().act(first.id, "again")

    assert again.status_code == 422
    assert shows_error(again, "There is no panel &#39;gone&#39;. Known panels: house.")
    assert typed(again) == first.question.text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("/council help", "list the newest rounds", id="help"),
        pytest.param("/council panel", "house (in use)", id="panel"),
        pytest.param("/council panel house", "Questions here now go to panel", id="pick"),
        pytest.param("/council rounds", "abcdef0123", id="rounds"),
        pytest.param("/council show abcdef0123", "The council says yes.", id="show"),
        pytest.param("/council panel none", "There is no panel &#39;none&#39;", id="no-panel"),
    ],
)
async def test_a_command_is_answered_on_the_page(site: Site, text: str, words: str) -> None:
    await site.run_round(a_round_of(SOMEBODY))

    page = await site.browser().ask(text)

    assert page.status_code == 200
    assert words in page.text
    assert len(await site.store.list_summaries()) == 1


@pytest.mark.parametrize("audience", ["everyone", "me"])
async def test_a_picked_panel_is_used_on_the_page(new_site: NewSite, audience: str) -> None:
    site = new_site(an_app(panels=[a_panel(), named(a_panel(4), "other")]))
    browser = site.browser()

    await browser.ask("/council panel other", audience=audience)

    assert "<option selected>other</option>" in (await browser.get("/")).text


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        pytest.param("", "The question is empty", id="empty"),
        pytest.param(" \n\t", "The question is empty", id="blank"),
        pytest.param("\u200b\u202e", "The question is empty", id="invisible"),
        pytest.param("/council ask", "The question is empty", id="ask-alone"),
        pytest.param("a" * 100_000, "100,000 characters; the limit is", id="too-long"),
        pytest.param("ä<b> " * 200_000, "characters; the limit is", id="megabyte"),
    ],
)
async def test_an_invalid_question_is_an_error_and_stays_in_the_form(
    site: Site, question: str, sentence: str
) -> None:
    refused = await site.browser().ask(question)

    assert refused.status_code == 422
    assert shows_error(refused, sentence)
    assert typed(refused).split() == question.split()
    assert await site.store.list_summaries() == ()


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"panel": "<none>"}, "There is no panel &#39;&lt;none&gt;&#39;. Known panels: house."),
        ({"method": "dice"}, "There is no method &#39;dice&#39;. Known methods:"),
    ],
)
async def test_an_unknown_choice_is_an_error_that_keeps_the_question(
    site: Site, choice: dict[str, str], sentence: str
) -> None:
    refused = await site.browser().ask("Why <b>?", **choice)

    assert refused.status_code == 422
    assert shows_error(refused, sentence)
    assert typed(refused) == "Why <b>?"


async def test_a_form_without_its_token_is_refused(site: Site) -> None:
    browser, other = site.browser(), site.browser()
    foreign = await other.form()
    own = await browser.form()

    for token in ("", "x", foreign["token"], own["token"] + "x", "\u2028"):
        refused = await browser.post("/ask", **(own | {"token": token, "question": "Why?"}))
        assert refused.status_code == 403
        assert shows_error(refused, "This page was open for too long: load it again, then send it.")
    assert await site.store.list_summaries() == ()


async def test_a_get_request_to_a_form_path_is_an_error_in_one_sentence(site: Site) -> None:
    refused = await site.browser().get("/ask")

    assert refused.status_code == 405
    assert shows_error(refused, "There is nothing to read at this address")


def shows_error(page: httpx.Response, sentence: str) -> bool:
    """Return whether a page shows this error, and no traceback."""
    (error,) = re.findall(r'<p class="caution"[^>]*>(.*?)</p>', page.text)
    return sentence in error and "Traceback" not in page.text


def typed(page: httpx.Response) -> str:
    """Return the text in the form of a page."""
    (area,) = re.findall(r"<textarea[^>]*>(.*?)</textarea>", page.text, re.DOTALL)
    return unescape(area)


async def test_files_come_with_the_question_and_can_be_downloaded(site: Site) -> None:
    browser = site.browser()
    form = await browser.form() | {"question": "What rose?"}
    uploads = [("files", ("sales.csv", b"month,sales\n1,7\n")), ("files", ("b.md", b"*Note*"))]

    asked = await browser.client.post("/ask", data=form, files=uploads)
    closed = await site.wait_until_closed(redirected_round_id(asked))

    assert [(f.name, f.text) for f in closed.question.files] == [
        ("sales.csv", "month,sales\n1,7"),
        ("b.md", "*Note*"),
    ]
    page = await browser.get(f"/rounds/{closed.id}")
    assert f'/rounds/{closed.id}/files/0" download>sales.csv' in page.text
    fetched = await browser.get(f"/rounds/{closed.id}/files/0")
    assert (fetched.text, fetched.headers["content-type"]) == (
        "month,sales\n1,7",
        "text/plain; charset=utf-8",
    )
    assert "attachment" in fetched.headers["content-disposition"]
    assert (await browser.get(f"/rounds/{closed.id}/files/2")).status_code == 404


async def test_a_file_that_cannot_be_read_is_an_error_that_keeps_the_question(site: Site) -> None:
    browser = site.browser()
    form = await browser.form() | {"question": "What is in it?"}

    refused = await browser.client.post(
        "/ask", data=form, files={"files": ("report.docx", b"PK\x03\x04")}
    )

    assert refused.status_code == 422
    assert "report.docx can&#39;t be read. Save it as PDF" in refused.text
    assert "What is in it?" in refused.text
    assert await site.store.ids() == ()


async def test_a_refused_file_does_not_lose_the_others(site: Site) -> None:
    browser, other = site.browser(), site.browser()
    form = await browser.form() | {"question": "What is in them?"}
    uploads = [("files", (f"{name}.md", name.encode())) for name in "abc"]
    uploads.append(("files", ("report.docx", b"PK\x03\x04")))

    refused = await browser.client.post("/ask", data=form, files=uploads)
    again = {**form, **browser.form_of(refused, "/ask"), "keep 0": "1", "keep 2": "1"}
    asked = await browser.client.post("/ask", data=again, files={"files": ("d.md", b"d")})
    stolen = await other.post("/ask", **(again | await other.form()))

    names = [
        [file.name for file in (await site.store.load(redirected_round_id(one))).question.files]
        for one in (asked, stolen)
    ]
    assert names == [["a.md", "c.md", "d.md"], []]


async def test_an_image_is_downloaded_as_it_was_and_not_through_a_shared_link(site: Site) -> None:
    chart = QuestionFile("chart.png", "image/png", data="iVBORw0KGgo=")
    bare = a_round_of(SOMEBODY)
    round_ = await site.run_round(replace(bare, question=replace(bare.question, files=(chart,))))
    address = f"/rounds/{round_.id}/files/0"

    fetched = await site.browser().get(address)
    shared = await site.browser().get(
        f"{address}?key={site.context.signer.link_key(round_.id, 600)}"
    )

    assert (fetched.content, fetched.headers["content-type"]) == (
        b"\x89PNG\r\n\x1a\n",
        "image/png",
    )
    assert shared.status_code in {403, 404, 410}


async def test_run_again_and_follow_ups_keep_the_files(site: Site) -> None:
    note = QuestionFile("note.md", "text/plain", "It is short.")
    bare = a_round_of(SOMEBODY)
    first = await site.run_round(replace(bare, question=replace(bare.question, files=(note,))))
    browser = site.browser()

    again = await browser.act(first.id, "again")
    followed = await browser.ask("And then?", follows=first.id)

    for response in (again, followed):
        stored = await site.store.load(redirected_round_id(response))
        assert stored.question.files == (note,)


async def test_an_edited_question_keeps_the_files_that_stay_and_takes_new_ones(site: Site) -> None:
    notes = tuple(QuestionFile(f"{name}.md", "text/plain", name) for name in "abc")
    bare = a_round_of(SOMEBODY)
    asked = replace(bare.question, files=notes, context="A thread.")
    first = await site.run_round(replace(bare, question=asked))
    browser = site.browser()
    action = f"/rounds/{first.id}/again"
    page = await browser.get(f"/rounds/{first.id}/edit")
    form = {**browser.form_of(page, action), "question": "seed:s Is it enough for two?"}
    new = {"files": ("d.md", b"d")}

    sent = await browser.client.post(action, data={**form, "keep 1": "1"}, files=new)
    many = [("files", (f"{number}.md", b"1")) for number in range(MAX_FILES)]
    refused = await browser.client.post(action, data={**form, "keep 1": "1"}, files=many)

    stored = await site.store.load(redirected_round_id(sent))
    assert (stored.question.text, stored.seed) == ("Is it enough for two?", "s")
    assert stored.question.context == "A thread."
    assert [file.name for file in stored.question.files] == ["b.md", "d.md"]
    assert await site.store.load(first.id) == first
    assert typed(page) == first.question.text
    assert (refused.status_code, typed(refused)) == (422, form["question"])
    assert 'name="keep 1"' in refused.text
    assert 'name="keep 0"' not in refused.text


async def test_a_refused_follow_up_still_follows(site: Site) -> None:
    first = await site.run_round(a_round_of(SOMEBODY))
    browser = site.browser()

    refused = await browser.ask("", follows=first.id, audience="me")

    assert browser.form_of(refused, "/ask")["follows"] == first.id
    assert '<option value="me" selected>' in refused.text


async def test_a_form_of_an_older_page_may_name_a_method(site: Site) -> None:
    asked = await site.browser().ask("Is Postgres enough?", method="blind-ranking")

    assert redirected_round_id(asked)
