"""Asking in a browser: files as chips, keys, a refusal that loses nothing, an edited question."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, FilePayload, Page, expect

from council.files import MAX_FILES
from tests.bot.web.browser.actions import box_of, wait_until_closed
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browsing import Site, make_site

pytestmark = pytest.mark.asyncio(loop_scope="package")

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
# Puts an image into the form as the clipboard or a file manager does.
GIVE = """([kind, base64]) => {
  const given = new DataTransfer();
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  given.items.add(new File([bytes], `${kind}.png`, { type: "image/png" }));
  const at = kind === "paste" ? document.querySelector("#question") : document.body;
  const event = kind === "paste"
    ? new ClipboardEvent(kind, { clipboardData: given, bubbles: true, cancelable: true })
    : new DragEvent(kind, { dataTransfer: given, bubbles: true, cancelable: true });
  at.dispatchEvent(event);
}"""


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def site() -> Site:
    """Return a site with models that answer at once."""
    return make_site()


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def address(browser: Browser, site: Site) -> AsyncIterator[str]:
    """Yield the address of the site."""
    async with serve_in_process(site) as address:
        yield address


def a_file(name: str, content: bytes = b"one\n") -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": content}


async def test_files_are_chips_until_they_are_sent(page: Page, site: Site) -> None:
    await page.goto("/")
    chips = page.locator(".files li")

    await page.get_by_label("Attach files").set_input_files([a_file("a.txt"), a_file("b.txt")])
    await page.get_by_label("Attach files").set_input_files([a_file("c.txt", b"x" * 2_500)])
    await expect(chips).to_have_count(3)
    await expect(chips.nth(2)).to_contain_text("3 KB")
    await page.get_by_role("button", name="Remove b.txt").click()
    for kind in ("paste", "drop"):
        await page.evaluate(GIVE, [kind, PIXEL])
    await expect(chips).to_have_count(4)
    await expect(page.locator(".files canvas")).to_have_count(2)
    for image in ("paste.png", "drop.png"):  # no model of this panel can see one
        await page.get_by_role("button", name=f"Remove {image}").click()
    await page.get_by_label("Question").fill("What is in them?")
    await page.keyboard.press("Control+Enter")

    await page.wait_for_url("**/rounds/*")
    asked = await site.store.load(page.url.rpartition("/")[2])
    assert [file.name for file in asked.question.files] == ["a.txt", "c.txt"]


async def test_a_refused_file_loses_neither_the_text_nor_the_others(page: Page) -> None:
    await page.goto("/")
    await page.get_by_label("Attach files").set_input_files(
        [a_file("good.txt"), a_file("bad.docx", b"PK\x03\x04")]
    )
    await page.get_by_label("Question").fill("What is in it?")
    await page.get_by_role("button", name="Ask", exact=True).click()

    await expect(page.get_by_role("alert")).to_contain_text("bad.docx")
    assert await page.get_by_label("Question").input_value() == "What is in it?"
    await page.get_by_role("button", name="Remove bad.docx").click()
    await page.get_by_role("button", name="Ask", exact=True).click()

    await page.wait_for_url("**/rounds/*")
    await expect(page.get_by_role("link", name="good.txt")).to_be_visible()


async def test_of_forty_files_those_that_fit_are_sent_and_the_others_say_why(page: Page) -> None:
    await page.goto("/")

    files = [a_file(f"{number}.txt") for number in range(39)]
    await page.get_by_label("Attach files").set_input_files([*files, a_file("none.txt", b"")])

    sent = await page.evaluate("document.querySelector('[name=files]').files.length")
    assert sent == MAX_FILES
    await expect(page.locator(".files .refused")).to_have_count(40 - MAX_FILES)
    assert (await box_of(page, "form.ask"))["height"] < 300


async def test_keys_lead_to_the_question_and_out_of_it(page: Page) -> None:
    await page.goto("/")
    focused = "document.activeElement.id"

    await page.keyboard.press("/")
    await page.keyboard.type("a/b")
    inside = await page.evaluate(focused)
    await page.keyboard.press("Escape")

    assert inside == "question"
    assert await page.get_by_label("Question").input_value() == "a/b"
    assert await page.evaluate(focused) == ""


async def test_an_edited_question_is_a_new_round_and_the_old_one_stays(
    page: Page, site: Site
) -> None:
    await page.goto("/")
    await page.get_by_label("Attach files").set_input_files([a_file("a.txt"), a_file("b.txt")])
    await page.get_by_label("Question").fill("Is it enough?")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/rounds/*")
    first = page.url
    await site.wait_until_closed(first.rpartition("/")[2])

    await page.get_by_role("link", name="Edit").click()
    await page.get_by_label("b.txt").uncheck()
    await page.get_by_label("Question").fill("Is it enough for two?")
    await page.keyboard.press("Enter")
    await page.wait_for_url(lambda url: url != first and not url.endswith("/edit"))

    old, new = [await site.store.load(url.rpartition("/")[2]) for url in (first, page.url)]
    assert (old.question.text, new.question.text) == ("Is it enough?", "Is it enough for two?")
    assert [file.name for file in new.question.files] == ["a.txt"]


async def test_a_question_of_twenty_thousand_characters_is_asked_and_shown(page: Page) -> None:
    await page.goto("/")
    await page.get_by_label("Question").fill("Why? " * 4_000)
    assert (await box_of(page, "form.ask"))["height"] < 400
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/rounds/*")

    await wait_until_closed(page)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (await box_of(page, "h1"))["height"] < 600


async def test_two_tabs_ask_two_questions(page: Page, site: Site) -> None:
    other = await page.context.new_page()
    paths = []
    for tab in (page, other):
        await tab.goto("/")
    for tab in (page, other):
        await tab.get_by_label("Question").fill("Is one tab enough?")
        await tab.keyboard.press("Enter")
        await tab.wait_for_url("**/rounds/*")
        paths.append(tab.url)

    assert len({*paths}) == 2
    await other.close()
