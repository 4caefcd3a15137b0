"""The command `council rank`: judges rank texts from a file, several at once, within a cap."""

import asyncio
import json
import secrets
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from rich.console import Console

from bot.bootstrap import StartOptions, open_app
from bot.chat import TERMINAL
from bot.cli.completion import complete
from bot.cli.output import (
    MISUSED,
    OnFault,
    async_command,
    check_writable,
    exit_on_faults,
    fail,
    print_json,
    print_note,
    print_rows,
    unreadable,
)
from bot.cli.progress import CountBar, DownloadBar
from bot.commands.parameters import Kind
from bot.context import AppContext, checked_question
from bot.observability import logs
from bot.render.formatting import count_noun, join_words, max_cost_text
from bot.render.round_json import ranking_document
from bot.settings import load_settings
from bot.settings.council_toml import validation_faults
from council.ballots import Ballot, SpoiledBallot
from council.budget import Estimate, estimate_round
from council.digests import json_digest
from council.errors import BudgetError, CouncilError, PanelError, QuestionError
from council.labels import Label
from council.money import MICRO_USD, cap_micro_usd, cost_micro_usd, format_usd
from council.pipeline.ranking import Judges, Ranked, ranking_round, run_ranking
from council.pipeline.session import run_all
from council.ports import Gateway
from council.rounds import Artefact, Question, Round
from council.tally.borda import PairMatrix, pair_matrix
from council.tally.bradley_terry import FittedStrength, OpenInterval, fit_pools

MAX_FILE_BYTES = 64_000_000
MAX_LINE_BYTES = 1_000_000
ITEMS_AT_ONCE = 8
ATTEMPTS = 2  # a judge whose ballot is invalid is asked once more
ASKED_BY = "terminal"
_PAPER: TypeAdapter[Ballot | SpoiledBallot] = TypeAdapter(Ballot | SpoiledBallot)


# Typer reads its options off the parameters, so there are as many as there are options.
@async_command
async def rank(  # noqa: PLR0913, PLR0917
    file: Annotated[
        Path,
        typer.Argument(
            help='JSON or JSON Lines {"id", "question", "answers": {"name": "text"}}; - is stdin.',
            allow_dash=True,
        ),
    ],
    panel: Annotated[
        str | None,
        typer.Option(help="The panel whose models judge.", autocompletion=complete(Kind.PANEL)),
    ] = None,
    judges: Annotated[
        str | None, typer.Option(help="Models that judge instead, separated by commas.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Add results to this file; what is in it already is not asked again."),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Any text; the same seed gives the same labels and orders.")
    ] = None,
    max_usd: Annotated[
        float | None, typer.Option(min=0.0, help="Stop before the run costs more than this.")
    ] = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="Add the question and the texts to each result.")
    ] = False,
    fit: Annotated[
        bool,
        typer.Option(
            "--fit",
            help="Then print a strength for each name over all lines, with its 95 % interval: "
            'as a last line {"fit": [...]}; with --output as a table, or within --json.',
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --output, print a summary as JSON.")
    ] = False,
) -> None:
    """Let models rank texts from a file, without knowing who wrote them; one line of JSON each."""
    logs.configure_logging()
    if output:
        check_writable(output)
    content, console = _read(file), Console(stderr=True, highlight=False)
    named = tuple(filter(None, (name.strip() for name in (judges or "").split(","))))
    start = StartOptions(on_fetch=DownloadBar(console).show, judges=named)
    with exit_on_faults(err=True) as on_fault:
        async with open_app(load_settings(), start) as app:
            found = _judges(app, panel)
            results = Results(output, fits=fit, has_texts=texts)
            if others := results.judges - {judge.key for judge in found.members}:
                names = join_words(sorted(others))
                kept = (
                    f"{output} has rankings by other judges ({names}); they are kept as they are."
                )
                console.print(kept, soft_wrap=True)
            make = partial(_make_round, results, found, app.gateway, seed)
            # A large file takes a while.
            items = await asyncio.to_thread(_read_items, content, results, make, on_fault)
            run = RankingRun(app, results, on_fault, console)
            try:
                await run.rank(items, None if max_usd is None else cap_micro_usd(max_usd))
            except asyncio.CancelledError:
                if output:
                    console.print("Stopped. Your progress is saved. Run it again to continue.")
                raise
        results.finish()
        fitted = await asyncio.to_thread(fit_pools, results.pools) if fit else ()
        if as_json and output:
            print_json(run.summary() | ({"fit": _documents_of(fitted)} if fit else {}))
        elif fit and output:
            _print_fit(fitted)
        elif fit:
            typer.echo(_line({"fit": _documents_of(fitted)}))


def _documents_of(fitted: Sequence[FittedStrength]) -> list[dict[str, object]]:
    return [asdict(line) for line in fitted]


def _print_fit(fitted: Sequence[FittedStrength]) -> None:
    """Print strengths as a table; say it where names cannot be compared."""
    if not fitted:
        print_note("No strengths: no name was ranked.")
        return
    has_groups = fitted[-1].group > 1
    columns = ["name", "strength", "95 % interval", "expected share, %", "pools", "group"]
    rows = [
        (
            line.name,
            _number(line.strength),
            interval_text(line.ci),
            f"{100 * line.expected_share:.0f}",
            f"{line.pools:,}",
            f"{line.group}",
        )
        for line in fitted
    ]
    shown = len(columns) if has_groups else len(columns) - 1
    print_rows(columns[:shown], [row[:shown] for row in rows])
    if has_groups:
        print_note(
            "Names of different groups never met, not even through others. "
            "Compare strengths only within a group."
        )


def interval_text(ci: OpenInterval) -> str:
    """Return the interval of a strength; an open end has no number."""
    low, high = ci
    if low is None:
        return "open" if high is None else f"up to {_number(high)}"
    return f"from {_number(low)}" if high is None else f"{_number(low)} to {_number(high)}"


def _number(strength: float) -> str:
    return f"{round(strength, 2) + 0.0:+.2f}"  # never −0.00


def _read(file: Path) -> bytes:
    try:
        if str(file) == "-":
            content = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
        else:
            with file.open("rb") as opened:
                content = opened.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        fail(unreadable(file, error), MISUSED)
    if len(content) > MAX_FILE_BYTES:
        fail(f"{file} is too large: at most {MAX_FILE_BYTES:,} bytes. Split it.", MISUSED)
    return content


def _judges(app: AppContext, panel: str | None) -> Judges:
    """Return the named judges, under the panel's rubric and terms if one is named, else its own."""
    if app.judges and panel is None:
        return Judges(app.judges, registry=app.registry)
    of_panel = Judges.of(app.panel(panel, TERMINAL), app.registry)
    return replace(of_panel, members=app.judges) if app.judges else of_panel


# --- Reading


@dataclass(frozen=True, slots=True)
class Item:
    """One set of texts to rank: its line, its id, and the round that ranks it."""

    where: str
    id: str
    round_: Round


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)
    id: str | int | None = None
    question: str
    context: str = ""
    answers: dict[str, str]


MakeRound = Callable[[str, _Line], Round]


def _read_items(
    content: bytes, results: "Results", make: MakeRound, on_fault: OnFault
) -> list[Item]:
    """Return the items without a result yet, and report each line that cannot be used."""
    items, lines, where = [], dict[str, str](), ""
    for where, text in _documents(content):
        try:
            line = _Line.model_validate(_parse(text) if isinstance(text, bytes) else text)
            item_id = where.split()[-1] if line.id is None else str(line.id)
            if item_id in lines:
                on_fault(f"{where}: the id {item_id!r} is also that of {lines[item_id]}.")
            elif item_id not in results.ids:
                items.append(Item(where, item_id, make(item_id, line)))
            lines.setdefault(item_id, where)
        except ValidationError as error:
            on_fault("\n".join(validation_faults(error, f"{where}: ")))
        except (QuestionError, PanelError) as error:
            on_fault(f"{where}: {error}")
    if not where:
        on_fault("There is nothing to rank.")
    return items


def _documents(content: bytes) -> Iterator[tuple[str, Any]]:
    """Yield each position and what is there: text of a line, or an object of one JSON document."""
    lines = content.removeprefix(b"\xef\xbb\xbf").splitlines()
    first = next((line.strip() for line in lines if line.strip()), b"")
    if first[:1] == b"[" or first == b"{":
        try:
            whole = _parse(content)
        except QuestionError:
            yield "file", content
            return
        for number, item in enumerate(whole if isinstance(whole, list) else [whole], start=1):
            yield f"item {number}", item
        return
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield f"line {number}", line


def _parse(text: bytes) -> Any:  # noqa: ANN401
    """Return the value of a JSON text; raise QuestionError."""
    if len(text) > MAX_LINE_BYTES and b"\n" not in text:
        raise QuestionError(f"it has {len(text):,} bytes; the limit is {MAX_LINE_BYTES:,}.")
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        raise QuestionError("this is not valid JSON.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise QuestionError("a name occurs twice in it.")
    return found


def _make_round(
    results: "Results",
    judges: Judges,
    gateway: Gateway,
    seed: str | None,
    item_id: str,
    line: _Line,
) -> Round:
    """Return the round of a line, with the ballots that an interrupted run has received.

    Its id stands for all that the judges are asked, so that other questions find no old ballots.
    """
    item_seed = f"{seed}/{item_id}" if seed is not None else results.seeds.get(item_id)
    item_seed = item_seed or secrets.token_hex(8)
    question = checked_question(Question(line.question, ASKED_BY, line.context, TERMINAL))
    round_ = ranking_round(question, line.answers, judges, item_seed, gateway)
    asked = [item_seed, line.question, line.context, [*line.answers.items()]]
    by = [[judge.key, judge.model_id] for judge in judges.members]
    round_ = replace(round_, id=json_digest([asked, by, judges.rubric.version, round_.versions]))
    for paper in results.papers[round_.id]:
        round_ = round_.with_(paper)
    return round_


# --- Writing


class Results:
    """Results on stdout, or in a file that a later run continues.

    The ballots of unfinished lines are in a second file next to it, so that a run that was killed
    asks for no ballot twice; it is deleted at the end.
    """

    def __init__(self, path: Path | None, *, fits: bool = False, has_texts: bool = False) -> None:
        self.ids: set[str] = set()
        self.judges: set[str] = set()  # of the lines that are there already
        self.pools: list[PairMatrix] = []  # of all lines, if they are to be fitted
        self._fits, self._has_texts = fits, has_texts
        self.seeds: dict[str, str] = {}
        self.papers = defaultdict[str, list[Ballot | SpoiledBallot]](list)
        self._path = path
        self._ballots = path.with_name(f"{path.name}.ballots") if path else None
        if path and self._ballots:
            earlier = _read_back(path)
            self.ids = {str(line["id"]) for line in earlier}
            self.judges = {judge for line in earlier for judge in _judges_of(line)}
            if fits:
                self.pools += (_pair_shares(path, line) for line in earlier)
            for line in _read_back(self._ballots):
                self.seeds[line["id"]] = line["seed"]
                self.papers[line["round"]].append(_PAPER.validate_python(line["ballot"]))

    def save(self, item: Item, artefact: Artefact) -> None:
        """Add a ballot of an unfinished line to the second file, without its prompt."""
        if self._ballots and isinstance(artefact, Ballot | SpoiledBallot) and artefact.paper:
            prompt = replace(artefact.paper.prompt, system="", user="")
            artefact = replace(artefact, paper=replace(artefact.paper, prompt=prompt))
            ballot = _PAPER.dump_python(artefact, mode="json")
            document = {"id": item.id, "seed": item.round_.seed, "round": item.round_.id}
            _append(self._ballots, document | {"ballot": ballot})

    def write(self, item: Item, ranked: Ranked) -> None:
        """Add a result."""
        document = ranking_document(ranked, item.id)
        if self._has_texts:
            document["question"] = item.round_.question.text
            document["texts"] = {one.member: one.text for one in item.round_.answers}
        if self._fits:
            self.pools.append(pair_matrix(ranked.ballots))
        if self._path:
            _append(self._path, document)
        else:
            typer.echo(_line(document))

    def finish(self) -> None:
        """Delete the second file: no line is left unfinished."""
        if self._ballots:
            self._ballots.unlink(missing_ok=True)


def _line(document: object) -> str:
    return json.dumps(document, ensure_ascii=False)


def _append(path: Path, document: object) -> None:
    try:
        with path.open("ab", buffering=0) as file:
            file.write(f"{_line(document)}\n".encode())
    except OSError as error:
        raise OutputError(f"Can't write {path}: {error.strerror}. Name another file.") from error


class OutputError(CouncilError):
    """Results cannot be written to a file, or continued in it."""


def _read_back(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of ours; cut off a last one that was not written to its end."""
    try:
        content = path.read_bytes() if path.exists() else b""
        complete, newline, torn = content.rpartition(b"\n")
        lines = [_result_line(line) for line in complete.splitlines()]
        if None in lines:
            raise OutputError(f"{path} holds something else than results. Name another file.")
        if torn:
            with path.open("r+b") as file:
                file.truncate(len(complete) + len(newline))
    except OSError as error:
        raise OutputError(f"Can't open {path}: {error.strerror}. Name another file.") from error
    return [line for line in lines if line]


class _ResultBallot(BaseModel):
    judge: str
    pass_number: int = Field(alias="pass")
    shown: tuple[Label, ...]
    ranking: tuple[tuple[Label, ...], ...]


_RESULT_BALLOTS: TypeAdapter[list[_ResultBallot]] = TypeAdapter(list[_ResultBallot])


def _pair_shares(path: Path, line: Mapping[str, object]) -> PairMatrix:
    """Return the shares of judges that put one text above another, from a line of our own."""
    try:
        ballots = _RESULT_BALLOTS.validate_python(line.get("ballots"))
    except ValidationError:
        raise OutputError(
            f"{path} holds a line without rankings ({line['id']}). Name another file."
        ) from None
    return pair_matrix(
        [Ballot(one.judge, one.shown, one.ranking, pass_number=one.pass_number) for one in ballots]
    )


def _judges_of(line: Mapping[str, Any]) -> Iterator[str]:
    """Yield the judges of a result's ballots; none if the line is no result."""
    ballots = line.get("ballots")
    for ballot in ballots if isinstance(ballots, list) else ():
        if isinstance(ballot, dict) and isinstance(ballot.get("judge"), str):
            yield ballot["judge"]


def _result_line(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "id" in found else None


# --- Running


class RankingRun:
    """One run: ranks items, several at once, as long as the budgets last."""

    def __init__(
        self, app: AppContext, results: Results, on_fault: OnFault, console: Console
    ) -> None:
        self._app = app
        self._results = results
        self._on_fault = on_fault
        self._console = console
        self._ranked = self._left = self._failed = 0
        self._spent_micro = self._reserved_micro = self._unpriced = 0
        self._is_stopped = False
        self._changed = asyncio.Condition()

    async def rank(self, items: Sequence[Item], cap: int | None) -> None:
        """Rank the items; report what failed. An interrupted run can be repeated."""
        estimates = [await estimate_round(item.round_, self._app.gateway) for item in items]
        self._introduce(items, estimates, cap)
        if items:
            await self._app.prepare(items[0].round_.panel)
        self._left = len(items)
        waiting = iter(zip(items, estimates, strict=True))
        with CountBar(self._console, "Ranking", len(items)) as bar:
            await run_all(self._work(waiting, cap, bar) for _ in range(ITEMS_AT_ONCE))
        if self._left:
            self._on_fault(f"{count_noun(self._left, 'line')} left. Run it again to continue.")
        known = f", {len(self._results.ids):,} were ranked before" if self._results.ids else ""
        self._console.print(f"Ranked {self._ranked:,}{known}. Cost: {self._cost}.", soft_wrap=True)

    def summary(self) -> dict[str, object]:
        """Return the outcome of the run."""
        return {
            "ranked": self._ranked,
            "ranked_before": len(self._results.ids),
            "failed": self._failed,
            "left": self._left,
            "cost_usd": None if self._unpriced else self._spent_micro / MICRO_USD,
        }

    @property
    def _cost(self) -> str:
        if not self._unpriced:
            return format_usd(self._spent_micro)
        known = f"{format_usd(self._spent_micro)}, " if self._spent_micro else ""
        return f"{known}unknown for {count_noun(self._unpriced, 'line')}"

    def _introduce(
        self, items: Sequence[Item], estimates: Sequence[Estimate], cap: int | None
    ) -> None:
        unknown = dict.fromkeys(key for estimate in estimates for key in estimate.unknown)
        if unknown and cap is not None:
            raise BudgetError(
                f"The price of {next(iter(unknown))} is unknown, so --max-usd can't be kept. Give "
                "it input_usd_per_million and output_usd_per_million in council.toml."
            )
        micro = sum(
            estimate.capped(item.round_.panel)
            for item, estimate in zip(items, estimates, strict=True)
        )
        cost = max_cost_text(micro, unknown)
        self._console.print(f"{count_noun(len(items), 'line')} to rank. {cost}.", soft_wrap=True)

    async def _work(
        self, waiting: Iterator[tuple[Item, Estimate]], cap: int | None, bar: CountBar
    ) -> None:
        for item, estimate in waiting:
            micro = ATTEMPTS * estimate.micro
            if not await self._reserve(micro, cap):
                return
            spent, is_priced = micro, not estimate.unknown
            try:
                ranked = await self._rank(item)
                if ranked.cost_usd is not None:
                    spent, is_priced = cost_micro_usd(ranked.cost_usd), True
                self._results.write(item, ranked)
                self._ranked += 1
            except BudgetError as error:
                spent, is_priced = 0, True
                self._stop(str(error))
                return
            except OutputError:
                raise
            except CouncilError as error:
                self._failed += 1
                self._on_fault(f"{item.where}: {error}")
            finally:
                self._unpriced += not is_priced
                await self._settle(micro, spent)
            self._left -= 1
            bar.advance(1)

    async def _rank(self, item: Item) -> Ranked:
        async with self._app.budget.paying(item.round_, self._app.gateway) as gateway:
            save = partial(self._results.save, item)
            return await run_ranking(item.round_, gateway, save)

    async def _reserve(self, micro: int, cap: int | None) -> bool:
        """Wait until the cap leaves room for an item; return False if it never will."""

        def has_room() -> bool:
            return cap is None or self._spent_micro + self._reserved_micro + micro <= cap

        async with self._changed:
            await self._changed.wait_for(
                lambda: has_room() or self._is_stopped or not self._reserved_micro
            )
            if not self._is_stopped and not has_room():
                self._stop(f"Stopped before the cap: {self._cost} is spent.")
            if self._is_stopped:
                return False
            self._reserved_micro += micro
            return True

    async def _settle(self, reserved: int, spent: int) -> None:
        async with self._changed:
            self._reserved_micro -= reserved
            self._spent_micro += spent
            self._changed.notify_all()

    def _stop(self, why: str) -> None:
        if not self._is_stopped:
            self._is_stopped = True
            self._on_fault(why)
