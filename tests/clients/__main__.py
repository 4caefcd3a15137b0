"""`python -m tests.clients [NAME …]`: install the clients, ask, print a table.

With `--write`, the table and the snippets become docs/clients.md.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bot.homes import Home
from tests.bot.web.browser.product import Product, panels_of, serve_product
from tests.clients.clients import CLIENTS, COLUMNS, Client, Outcome, ask, install
from tests.wire.models import ModelServer
from tests.wire.models.obedient import obedient

KEY = "sk-a-long-random-text"
SEATS = ("a", "b", "c", "d")
PAGE = Path(__file__).parents[2] / "docs/clients.md"
_HEAD = """\
# Clients

`make clients` installs each client at these versions and runs its snippet against a panel of four \
scripted models, which obey their system role only.
Every snippet finds the address and the key in `OPENAI_BASE_URL` and `OPENAI_API_KEY`.
A number in the table is how many modes work; – is what the client lacks, or what was not tried.
"""


@asynccontextmanager
async def serve_obedient(folder: Path) -> AsyncIterator[Product]:
    """Serve the product, its members scripted models that obey their system role."""
    async with ModelServer() as models:
        models.script |= dict.fromkeys(SEATS, obedient())
        home = Home(folder, {"OPENAI_API_KEY": "sk-none", "COUNCIL_WEB_TOKEN": KEY})
        home.with_config(panels_of(models.api_base, house=SEATS))
        async with serve_product(home, fresh=True) as product:
            yield product


async def try_client(client: Client, product: Product) -> list[Outcome]:
    """Return what each mode of a client got, or that it can't be installed."""
    if why := await install(client):
        return [Outcome("install", error=why)]
    with TemporaryDirectory(prefix="council-client-") as folder:
        return await ask(client, product.address, KEY, Path(folder))


def format_cell(outcomes: Sequence[Outcome], column: str) -> str:
    """Return how many modes of a column worked, as "2", "1 of 2" or "–"."""
    faults = [one.fault for one in outcomes if one.mode.partition("_")[0] == column]
    worked = faults.count("")
    if not faults:
        return "–"
    return str(worked) if worked == len(faults) else f"{worked} of {len(faults)}"


def format_page(found: Mapping[Client, Sequence[Outcome]]) -> str:
    """Return the page: the table, then each client's snippet with what it got."""
    titles = ("client", "plain chat", "stream", "structured output", "Responses")
    lines = [_HEAD, f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for client, outcomes in found.items():
        cells = [format_cell(outcomes, column) for column in COLUMNS]
        lines.append(f"| [{client.name}](#{client.name}) | {' | '.join(cells)} |")
    for client, outcomes in found.items():
        language = "js" if client.source.suffix == ".mjs" else "py"
        lines += ["", f"## {client.name}", "", f"`{' '.join(client.packages)}`", ""]
        lines += [f"```{language}", client.source.read_text("utf-8").strip(), "```", "```"]
        lines += [f"{one.mode}: {one.fault or one.said}".strip() for one in outcomes]
        lines.append("```")
    return "\n".join(lines) + "\n"


async def run(names: Sequence[str], *, write: bool) -> bool:
    """Try the clients; return whether every mode of every one that installs works."""
    found: dict[Client, list[Outcome]] = {}
    with TemporaryDirectory(prefix="council-clients-") as folder:
        async with serve_obedient(Path(folder)) as product:
            for client in CLIENTS:
                if not names or client.name in names:
                    found[client] = await try_client(client, product)
                    cells = (f"{column} {format_cell(found[client], column)}" for column in COLUMNS)
                    faults = [f"  {one.mode}: {one.fault}" for one in found[client] if one.fault]
                    print(f"{client.name:<15} {', '.join(cells)}", *faults, sep="\n", flush=True)
                    if write:
                        PAGE.write_text(format_page(found), encoding="utf-8")
    return not any(one.fault for ones in found.values() for one in ones if one.mode != "install")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true", help="write docs/clients.md")
    asked = parser.parse_args()
    if not asyncio.run(run(asked.names, write=asked.write)):
        sys.exit(1)


if __name__ == "__main__":
    main()
