"""Database transactions and statements of one round, by the code that opens them.

    python -m tests.bench.transactions [terminal page slack] [--together]

The round has five members, who vote, and a chairman: eleven priced replies, on SQLite, from a
scripted model server. By default each reply comes after the one before is stored, which is the
most transactions that a round can take; with `--together`, all of a stage come at once.
"""

import argparse
import asyncio
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from rich.console import Console
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.bootstrap import StartOptions, open_app
from bot.chat import TERMINAL, Asker, IncomingMessage
from bot.commands.ask import ask
from bot.context import AppContext
from bot.observability import logs
from bot.settings import load_settings
from bot.terminal import TerminalChat
from storage.engine import SqlStore
from tests.bot.homes import panel_toml, seat_toml
from tests.bot.slack.in_process import make_fake_slack, run_slack
from tests.bot.web.browsing import make_site, redirected_round_id
from tests.wire.models import ModelServer, Request
from tests.wire.models.http import Connection

ROOT = Path(__file__).parents[2]
LAYERS = tuple(str(ROOT / layer) for layer in ("bot", "council"))
SEATS = ("a", "b", "c", "d", "e")
CHAIR = "chair"
QUESTION = "Which queue should we use?"
MAX_TRANSACTIONS = 18  # the target for a round


@dataclass(slots=True)
class Transaction:
    """One transaction: who opened it, and its statements."""

    location: str
    is_write: bool
    statements: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Count:
    """The transactions so far; `on_commit` is called after each one that wrote."""

    transactions: list[Transaction] = field(default_factory=list)
    on_commit: Callable[[Transaction], None] = lambda _: None
    _creators: dict[int, str] = field(default_factory=dict)

    @property
    def statements(self) -> int:
        """How many statements all transactions had, without BEGIN and COMMIT."""
        return sum(len(one.statements) for one in self.transactions)

    def has_statement(self, start: str) -> bool:
        """Return whether a statement began so."""
        return any(
            one.startswith(start)
            for transaction in self.transactions
            for one in transaction.statements
        )

    @contextmanager
    def counting(self, engine: AsyncEngine) -> Iterator["Count"]:
        """Count what this engine does in the block."""
        loop, before = asyncio.get_running_loop(), asyncio.get_running_loop().get_task_factory()
        listeners: dict[str, Callable[..., None]] = {
            "before_cursor_execute": self._on_statement,
            "commit": self._on_end,
            "rollback": self._on_end,
        }
        loop.set_task_factory(self._create_task)
        for name, listener in listeners.items():
            event.listen(engine.sync_engine, name, listener)
        try:
            yield self
        finally:
            loop.set_task_factory(before)
            for name, listener in listeners.items():
                event.remove(engine.sync_engine, name, listener)

    def _create_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Any,  # noqa: ANN401
        **options: Any,  # noqa: ANN401
    ) -> "asyncio.Task[Any]":
        # A store runs each operation in a task, whose frames end before its caller's.
        task = asyncio.Task(coroutine, loop=loop, **options)
        self._creators[id(task)] = _location(sys._getframe(), self._creator())
        return task

    def _creator(self) -> str:
        task = asyncio.current_task()
        return self._creators.get(id(task), "") if task else ""

    def _on_statement(self, _: object, __: object, statement: str, *___: object) -> None:
        if statement.startswith("BEGIN"):
            frame = import_module("greenlet").getcurrent().parent
            where = _location(frame.gr_frame if frame else None, self._creator())
            self.transactions.append(Transaction(where, statement == "BEGIN IMMEDIATE"))
        elif self.transactions:
            self.transactions[-1].statements.append(statement)

    def _on_end(self, _: object) -> None:
        if self.transactions and self.transactions[-1].is_write:
            self.on_commit(self.transactions[-1])

    def table(self) -> str:
        """Return a line for each place in the code, in the order in which it came first."""
        own = Counter(one.location for one in self.transactions)
        lines = [f"{'':<64}{'transactions':>13}{'statements':>12}"]
        for location, number in own.items():
            same = [one for one in self.transactions if one.location == location]
            statements = sum(len(one.statements) for one in same)
            lines.append(f"{location:<64}{number:>13}{statements:>12}")
        total = f"{'in all':<64}{len(self.transactions):>13}{self.statements:>12}"
        return "\n".join([*lines, total])


def _location(frame: FrameType | None, otherwise: str) -> str:
    """Return the innermost function of ours around a frame that is not a store's."""
    operation = ""
    while frame:
        file, name = frame.f_code.co_filename, frame.f_code.co_qualname
        if file.startswith(LAYERS):
            where = f"{Path(file).relative_to(ROOT)}:{frame.f_lineno}"
            return f"{where} {operation or name}"
        if file.startswith(str(ROOT / "storage")) and "." in name and "<" not in name:
            operation = name.removeprefix("Sql")
        frame = frame.f_back
    short = otherwise.partition(" ")[0]
    return f"{short} {operation}" if operation and short else otherwise


class OrderedServer(ModelServer):
    """A model server that sends a reply only once the one before is stored."""

    def __init__(self, *, together: bool = False) -> None:
        super().__init__()
        self._turn = asyncio.Semaphore(1)
        self._together = together

    async def _complete(self, request: Request, wire: Connection) -> None:
        if not self._together:
            await self._turn.acquire()
        await super()._complete(request, wire)

    def release(self, transaction: Transaction) -> None:
        """Send the next reply, if the transaction stored one."""
        tables = ("answer", "ballot", "synthesis")
        stored = [f"INSERT INTO {name} " for name in tables]
        is_stored = any(one.startswith(start) for one in transaction.statements for start in stored)
        if is_stored and self._turn.locked():
            self._turn.release()


def config(api_base: str) -> str:
    """Return a council.toml whose models are priced."""
    prices = {"input_usd_per_million": 1.0, "output_usd_per_million": 2.0}
    keys = [f"openai/{name}" for name in SEATS]
    panel = panel_toml(keys, chairman=[f"openai/{CHAIR}"])
    models = [*keys, f"openai/{CHAIR}"]
    return panel + "".join(seat_toml(key, api_base=api_base, **prices) for key in models)


def engine_of(app: AppContext) -> AsyncEngine:
    """Return the engine of an app's stores."""
    assert isinstance(app.store, SqlStore)
    return app.store.engine


async def ask_in_terminal(app: AppContext, count: Count) -> None:
    """Ask as `council ask` does."""
    said = IncomingMessage(QUESTION, Asker("ana", "Ana"), TERMINAL, app.new_id())
    with count.counting(engine_of(app)):
        await ask(app, TerminalChat(Console(quiet=True)), said, {"question": said.text})


async def ask_on_page(app: AppContext, count: Count) -> None:
    """Send the form of the page, and follow the round to its end, without reading it."""
    browser = make_site(app).browser()
    async with browser.client:
        form = await browser.form()
        with count.counting(engine_of(app)):
            reply = await browser.post("/ask", **(form | {"question": QUESTION}))
            async with app.runner.subscribe(redirected_round_id(reply)) as snapshots:
                async for _ in snapshots:
                    pass
            # Then it settles its costs.
            while await app.runner.is_running(redirected_round_id(reply)):  # noqa: ASYNC110
                await asyncio.sleep(0)


async def ask_in_slack(app: AppContext, count: Count) -> None:
    """Ask with a slash command, and wait until the thread is delivered."""
    async with make_fake_slack() as slack, run_slack(slack, app=app):
        with count.counting(engine_of(app)):
            await slack.command("U1", "C1", "/council", QUESTION)
            await slack.until(lambda: count.has_statement("UPDATE round SET delivered"), 60)


CHATS: Mapping[str, Callable[[AppContext, Count], Awaitable[None]]] = {
    "terminal": ask_in_terminal,
    "page": ask_on_page,
    "slack": ask_in_slack,
}


async def count_round(chat: str, *, together: bool = False) -> Count:
    """Return what a round in a chat does with its database."""
    count = Count()
    async with OrderedServer(together=together) as server:
        with TemporaryDirectory() as folder, in_home(Path(folder), config(server.api_base)):
            count.on_commit = server.release
            async with open_app(load_settings(), StartOptions()) as app:
                await app.prepare(app.panel(None, TERMINAL))  # imports litellm
                await CHATS[chat](app, count)
    return count


@contextmanager
def in_home(folder: Path, config: str) -> Iterator[None]:
    """Let the settings be those of an empty home."""
    file = folder / "council.toml"
    file.write_text(config)
    variables = {
        "COUNCIL_CONFIG": str(file),
        "COUNCIL_DATA_DIR": str(folder / "data"),
        "OPENAI_API_KEY": "sk-none",
    }
    before = {name: os.environ.get(name) for name in variables}
    os.environ |= variables
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def main() -> None:
    """Print a table for each chat."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chats", nargs="*", default=[*CHATS])
    parser.add_argument("--together", action="store_true")
    options = parser.parse_args()
    logs.configure_logging()
    for chat in options.chats:
        count = asyncio.run(count_round(chat, together=options.together))
        print(f"{chat}: {len(count.transactions)} transactions, {count.statements} statements\n")
        print(count.table(), end="\n\n")


if __name__ == "__main__":
    main()
