"""`python -m tests.clients [NAME …]`: install the clients, ask, print what worked.

With `--write`, the table and the transcripts become docs/clients.md.
"""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bot.homes import Home
from tests.bot.web.browser.product import Product, panels_of, serve_product
from tests.clients.clients import CLIENTS, COLUMNS, Client, Outcome, ask, install
from tests.clients.recorder import Sent, recording
from tests.wire.models import ModelServer
from tests.wire.models.obedient import obedient

KEY = "sk-a-long-random-text"
SEATS = ("a", "b", "c", "d")
PAGE = Path(__file__).parents[2] / "docs/clients.md"
SHOWN = 190  # characters of a request or an answer in a transcript
_NAMED_COLUMNS = ("structured", "responses")  # whose modes the table names
_APIS = dict.fromkeys(COLUMNS, "/v1/chat/completions") | {"responses": "/v1/responses"}
_TITLES = ("client", "packages", "plain chat", "stream", "structured output", "Responses")
_HEAD = """\
# Clients

For developers with a client of OpenAI's API: see what works, and copy the snippet behind its name.
`make clients` installs these clients of OpenAI's API at these versions (3.5 GB, outside of \
the repository), runs the snippet of each with only its base URL and key \
changed, and writes this page.
A cell says how many ways of asking work, of those tried; – means no such thing, or not tried.

Four scripted models answer; they obey their system role and nothing else.
Every snippet's system prompt demands the word "quokka", and only an answer with that word counts \
as working.
[A test](../tests/bot/web/test_api_system_prompts.py) makes 20 demands that can be checked, such \
as "Write exactly 3 lines", and all 20 are obeyed.
"""
_TRANSCRIPTS = """
inspect-ai asks the Responses API unless its model has `responses_api=False`, and then begins with \
"Please say 'hello, world'", which is a round of its own.

## Transcripts

The first request of each client as it was sent, cut where "…" stands, and the answer that it got.
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


@dataclass(frozen=True, slots=True)
class Trial:
    """What each mode of a client got, and the requests that it sent."""

    outcomes: Sequence[Outcome]
    posts: Sequence[Sent] = ()

    def of(self, column: str) -> list[Outcome]:
        """Return the outcomes of a column's modes."""
        return [one for one in self.outcomes if one.mode.partition("_")[0] == column]


async def try_client(client: Client, product: Product) -> Trial:
    """Return what each mode of a client got, or that it can't be installed."""
    if why := await install(client):
        return Trial([Outcome("install", error=why)])
    with TemporaryDirectory(prefix="council-client-") as folder:
        async with recording(product.address) as recorder:
            outcomes = await ask(client, recorder.address, KEY, Path(folder))
        posts = recorder.posts()
        return Trial([*outcomes, *_misrouted(outcomes, posts)], posts)


def _misrouted(outcomes: Sequence[Outcome], posts: Sequence[Sent]) -> Iterator[Outcome]:
    """Yield a fault for each API that was asked less often than its modes were tried."""
    asked = Counter(sent.path for sent in posts)
    tried = Counter(_APIS[one.mode.partition("_")[0]] for one in outcomes if not one.fault)
    for path in tried - asked:
        yield Outcome("path", error=f"{tried[path]} modes, but {asked[path]} requests to {path}.")


def count_worked(outcomes: Sequence[Outcome]) -> str:
    """Return how many outcomes are what was asked for, as "1 of 2" or "–"."""
    worked = sum(not one.fault for one in outcomes)
    return f"{worked} of {len(outcomes)}" if outcomes else "–"


def format_cell(trial: Trial, column: str) -> str:
    """Return how many modes of a column worked, and what they are."""
    found = trial.of(column)
    names = [one.mode.removeprefix(column).strip("_") or "create" for one in found]
    named = f" ({', '.join(names)})" if found and column in _NAMED_COLUMNS else ""
    return f"{count_worked(found)}{named}"


def format_page(trials: Mapping[Client, Trial]) -> str:
    """Return the page: the table of what worked, then two lines of each client."""
    lines = [_HEAD, f"| {' | '.join(_TITLES)} |", "|---" * len(_TITLES) + "|"]
    for client, trial in trials.items():
        link = f"[{client.name}](../tests/clients/snippets/{client.source.name})"
        cells = [link, ", ".join(client.packages), *(format_cell(trial, one) for one in COLUMNS)]
        lines.append(f"| {' | '.join(cells)} |")
    sums = [count_worked([o for trial in trials.values() for o in trial.of(c)]) for c in COLUMNS]
    lines += [f"| all {len(trials)} | | {' | '.join(sums)} |", _TRANSCRIPTS, "```text"]
    for client, trial in trials.items():
        lines += [f"{client.name}: {_shorten(_request(trial))}", f"  {_shorten(_answer(trial))}"]
    return "\n".join((*lines, "```")) + "\n"


def _request(trial: Trial) -> str:
    return next((f"{sent.method} {sent.path} {sent.body}" for sent in trial.posts), "no request")


def _answer(trial: Trial) -> str:
    return next((one.fault or str(one.said) for one in trial.of("chat")), "no answer")


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


async def run(names: Sequence[str], *, write: bool) -> bool:
    """Try the clients; return whether each one installs and every mode works."""
    found: dict[Client, Trial] = {}
    with TemporaryDirectory(prefix="council-clients-") as folder:
        async with serve_obedient(Path(folder)) as product:
            for client in CLIENTS:
                if not names or client.name in names:
                    found[client] = trial = await try_client(client, product)
                    cells = (f"{column} {count_worked(trial.of(column))}" for column in COLUMNS)
                    faults = [f"  {one.mode}: {one.fault}" for one in trial.outcomes if one.fault]
                    print(f"{client.name:<15} {', '.join(cells)}", *faults, sep="\n", flush=True)
    outcomes = [one for trial in found.values() for one in trial.outcomes]
    if write and all(one.mode != "install" for one in outcomes):
        PAGE.write_text(format_page(found), encoding="utf-8")
    return not any(one.fault for one in outcomes)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument(
        "--write", action="store_true", help="write docs/clients.md, of all clients"
    )
    asked = parser.parse_args()
    if asked.write and asked.names:
        parser.error("docs/clients.md has every client: leave the names out")
    if unknown := {*asked.names} - {client.name for client in CLIENTS}:
        parser.error(f"there is no client {', '.join(sorted(unknown))}")
    if not asyncio.run(run(asked.names, write=asked.write)):
        sys.exit(1)


if __name__ == "__main__":
    main()
