"""Private rounds are not found by anybody but their asker."""

import httpx
import pytest

from council.rounds import Stage
from tests.bot.web.browsing import SOMEBODY, Site, a_round_of, redirected_round_id

READS = ("", "/events", "/state", "/round.json", "/round.md")
ACTS = ("again", "stop", "resume", "feedback")
NOWHERE = "0123456789"


def status_and_content(response: httpx.Response, round_id: str) -> tuple[int, str]:
    """Return the status and the content, without the round's id."""
    text = response.text.replace(round_id, "ID")
    return response.status_code, text[text.index("<main") : text.index("</main>")]


@pytest.mark.parametrize("read", READS)
async def test_a_private_round_reads_like_one_there_is_not(site: Site, read: str) -> None:
    others_round = await site.run_round(a_round_of(SOMEBODY, private=True))
    browser = site.browser()

    found = await browser.get(f"/rounds/{others_round.id}{read}")
    missing = await browser.get(f"/rounds/{NOWHERE}{read}")

    assert status_and_content(found, others_round.id) == status_and_content(missing, NOWHERE)
    assert found.status_code == 404
    assert others_round.question.text not in found.text


@pytest.mark.parametrize("act", ACTS)
async def test_a_private_round_permits_no_action(site: Site, act: str) -> None:
    others_round = a_round_of(SOMEBODY, private=True)
    await site.store.open(others_round)
    browser = site.browser()

    done, missing = await browser.act(others_round.id, act), await browser.act(NOWHERE, act)

    assert status_and_content(done, others_round.id) == status_and_content(missing, NOWHERE)
    assert done.status_code == 404
    assert await site.store.load(others_round.id) == others_round


async def test_a_private_round_is_in_no_list(site: Site) -> None:
    others_round = await site.run_round(a_round_of(SOMEBODY, private=True))
    browser = site.browser()

    pages = [
        await browser.get("/"),
        await browser.get("/rounds"),
        await browser.get("/rounds?q=Postgres"),
        await browser.get("/nowhere"),
        await browser.ask("/council rounds"),
        await browser.ask("/council show last"),
        await browser.ask(f"/council show {others_round.id}"),
    ]

    assert all(others_round.question.text not in page.text for page in pages)


@pytest.mark.parametrize("read", READS)
async def test_a_strangers_running_private_round_is_not_found(
    hanging_site: Site, read: str
) -> None:
    round_id = redirected_round_id(await hanging_site.browser().ask("Is it me?", audience="me"))

    found = await hanging_site.browser().get(f"/rounds/{round_id}{read}")

    assert found.status_code == 404
    assert "Is it me?" not in found.text


async def test_the_visitors_private_round_is_listed_and_opens(site: Site) -> None:
    browser = site.browser()
    round_id = redirected_round_id(await browser.ask("Is it me?", audience="me"))
    await site.wait_until_closed(round_id)

    pages = [await browser.get(path) for path in ("/", "/rounds", "/rounds?q=me")]
    reads = [await browser.get(f"/rounds/{round_id}{read}") for read in READS]

    assert all("Is it me?" in page.text for page in pages)
    assert {page.status_code for page in reads} == {200}


async def test_a_round_for_everyone_is_read_by_everyone(site: Site) -> None:
    others_round = await site.run_round(a_round_of(SOMEBODY))
    browser = site.browser()

    reads = [await browser.get(f"/rounds/{others_round.id}{read}") for read in READS]

    assert {page.status_code for page in reads} == {200}
    assert others_round.question.text in (await browser.get("/rounds")).text


async def test_run_again_on_a_private_round_is_private(site: Site) -> None:
    browser = site.browser()
    round_id = redirected_round_id(await browser.ask("Why?", audience="me"))
    await site.wait_until_closed(round_id)

    again = redirected_round_id(await browser.act(round_id, "again"))

    assert (await site.store.load(again)).question.place.private


async def test_the_asker_can_stop_and_resume_a_round(hanging_site: Site) -> None:
    browser = hanging_site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))
    page = await browser.get(f"/rounds/{round_id}")

    stopped = await browser.post(
        f"/rounds/{round_id}/stop", **browser.form_of(page, f"/rounds/{round_id}/stop")
    )
    running = [bool(hanging_site.context.app.runner.latest(round_id))]
    page = await browser.get(f"/rounds/{round_id}")
    resume = f"/rounds/{round_id}/resume"
    resumed = await browser.post(resume, **browser.form_of(page, resume))
    running.append(bool(hanging_site.context.app.runner.latest(round_id)))

    assert [redirected_round_id(stopped), redirected_round_id(resumed)] == [round_id] * 2
    assert running == [False, True]


@pytest.mark.parametrize("act", ["stop", "resume"])
async def test_only_the_asker_can_stop_or_resume_a_round(hanging_site: Site, act: str) -> None:
    round_id = redirected_round_id(await hanging_site.browser().ask("Why?"))
    other = hanging_site.browser()
    page = await other.get(f"/rounds/{round_id}")

    done = await other.act(round_id, act)

    assert done.status_code == 404
    assert "Only the person who asked can stop or resume this round." in done.text
    assert f"/rounds/{round_id}/{act}" not in page.text
    assert hanging_site.context.app.runner.latest(round_id)


async def test_resuming_a_closed_round_calls_no_model(site: Site) -> None:
    browser = site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))
    closed = await site.wait_until_closed(round_id)

    assert redirected_round_id(await browser.act(round_id, "resume")) == round_id

    assert (closed.stage, site.context.app.runner.latest(round_id)) == (Stage.CLOSED, None)
