"""The pictures of the page on bias: of a store that holds rounds, as the product serves it.

Drives Debian's chromium; the store is copied, and stays as it is.
"""

import argparse
import asyncio
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Browser, ViewportSize, async_playwright

from tests.bench.blockkit import thinned
from tests.bench.pictures import PICTURES
from tests.bot.homes import Home, scripted_config
from tests.bot.web.browser.product import serve_product

WIDE: ViewportSize = {"width": 1280, "height": 1000}
PHONE: ViewportSize = {"width": 360, "height": 1260}


async def taken(browser: Browser, address: str) -> None:
    """Take the page in the light, in the dark and on a phone, and its figures as one picture."""
    for name, size in (("", WIDE), ("-dark", WIDE), ("-phone", PHONE)):
        page = await browser.new_page(
            viewport=size,
            device_scale_factor=2 if size is PHONE else 1,
            color_scheme="dark" if name == "-dark" else "light",
            locale="en-GB",
        )
        await page.goto(f"{address}/bias")
        await _keep(f"bias{name}.png", await page.screenshot())
        if not name:
            figures = await page.request.get(f"{address}/bias.png")
            await _keep("bias-figures.png", await figures.body())
        await page.close()


async def _keep(name: str, picture: bytes) -> None:
    path = PICTURES / name
    path.write_bytes(await asyncio.to_thread(thinned, picture))
    print(f"{name}: {path.stat().st_size // 1000} KB")


async def main(data: Path, toml: str) -> None:
    found = shutil.which("chromium")
    if not found:
        raise SystemExit("There is no chromium here: apt-get install chromium.")
    with TemporaryDirectory(prefix="council-pictures-") as folder:
        copied = Path(folder) / "data"
        shutil.copytree(data, copied)
        home = Home(Path(folder)).with_config(toml)
        async with async_playwright() as playwright, serve_product(home) as product:
            browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            await taken(browser, product.address)
            await browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.bias_pictures", description=__doc__
    )
    parser.add_argument("data", type=Path, help="the data folder that holds the rounds")
    parser.add_argument("--config", type=Path, help="a council.toml that names their seats")
    given = parser.parse_args()
    own = given.config.read_text(encoding="utf-8") if given.config else scripted_config()
    asyncio.run(main(given.data, own))
