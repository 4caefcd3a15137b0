"""Accessibility checks with axe, in light and dark, on a phone and a desktop."""

from dataclasses import dataclass
from typing import Literal

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page

Scheme = Literal["light", "dark"]


@dataclass(frozen=True, slots=True)
class View:
    """How a visitor sees the page."""

    scheme: Scheme
    width: int

    def __str__(self) -> str:
        return f"{self.scheme}-{self.width}"


PHONE, DARK_DESKTOP = View("light", 360), View("dark", 1280)
_OTHERS = DARK_DESKTOP, View("light", 1280), View("dark", 360)
# A phone shows most faults: what is too wide, and what scrolls but cannot be focused.
VIEWS = pytest.mark.parametrize(
    "view", [PHONE, *(pytest.param(view, marks=pytest.mark.nightly) for view in _OTHERS)], ids=str
)


async def set_view(page: Page, view: View) -> None:
    """Show a page in this view."""
    await page.emulate_media(color_scheme=view.scheme)
    await page.set_viewport_size({"width": view.width, "height": 740})


async def faults_of(page: Page, *rules: str) -> list[str]:
    """Return serious faults that axe finds, with all details open, and whether it is too wide.

    With `rules`, axe checks only these.
    """
    await page.wait_for_load_state("load")  # without its style a page has other colours
    await page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    found = await Axe().run(page, options={"runOnly": rules} if rules else None)
    faults = [
        f"{fault['id']}: {node['target']} {node['html'][:120]}"
        for fault in found.response["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]
    width, window = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    return faults + [f"{width} px wide"] * (width > window)


async def faults_by_path(page: Page, *paths: str) -> dict[str, list[str]]:
    """Open each path and return the faults of those that have any."""
    found = {}
    for path in paths:
        await page.goto(path)
        if faults := await faults_of(page):
            found[path] = faults
    return found


_CHART_TEXTS = (
    "[...document.querySelectorAll('.chart')].map((chart) => "
    "[...chart.querySelectorAll('text')].map((text) => {"
    " const box = text.getBoundingClientRect();"
    " return [text.textContent, box.left, box.top, box.right, box.bottom] }))"
)


async def overlapping_texts(page: Page) -> list[tuple[str, str]]:
    """Return the pairs of texts that overlap within a chart."""
    return [
        (one[0], other[0])
        for boxes in await page.evaluate(_CHART_TEXTS)
        for number, one in enumerate(boxes, start=1)
        for other in boxes[number:]
        if one[1] < other[3] and other[1] < one[3] and one[2] < other[4] and other[2] < one[4]
    ]


async def smallest_text(page: Page) -> float:
    """Return the height of the smallest text of all charts, in pixels."""
    charts = await page.evaluate(_CHART_TEXTS)
    return min(float(bottom - top) for boxes in charts for _, _, top, _, bottom in boxes)
