"""Trials: find the stored answers that one uses again, open its rounds, and load its result."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.bakeoffs.access import can_read_bakeoff
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.records import load_closed_rounds
from bot.chat import Asker, IncomingMessage
from bot.context import AppContext
from council.answers import Answer, Origin
from council.bakeoffs.models import Bakeoff, BakeoffProgress, split_round_id
from council.bakeoffs.ports import BakeoffQuery
from council.bakeoffs.record_arrays import Columns, pack_record, record_columns
from council.bakeoffs.records import PackedRecord, build_record
from council.bakeoffs.trial import (
    USUAL_SPREAD,
    TrialResult,
    earlier_spread,
    is_settled,
    paired_differences,
    round_panel,
    trial_result,
)
from council.budget import Estimate, estimate_round
from council.errors import BakeoffError
from council.panel import Member, Panel, Trial
from council.pipeline.stages import answer_temperature, member_prompt
from council.ports import RoundQuery
from council.rounds import Question, Round

MAX_RUNS = 20  # of the suite, whose answers are looked at


def trial_of(bakeoff: Bakeoff) -> Trial:
    """Return whom a trial compares; raise BakeoffError for another bake-off."""
    if bakeoff.panel.trial is None:
        raise BakeoffError("This bake-off compares all models of its panel. It is no trial.")
    return bakeoff.panel.trial


@dataclass(frozen=True, slots=True)
class Reuse:
    """The stored answers that a trial uses again, by question and model.

    `unfit` are models with stored answers none of which fits, since their model, their settings or
    the prompt has changed since.
    """

    answers: Mapping[int, Mapping[str, Answer]] = field(default_factory=dict)
    unfit: tuple[str, ...] = ()

    def count(self, member: str) -> int:
        """Return on how many questions a model's answer is used again."""
        return sum(member in answers for answers in self.answers.values())

    def days(self, member: str) -> tuple[datetime, datetime] | None:
        """Return when the oldest and the newest of its answers were given; None without any."""
        given = [answers[member].origin for answers in self.answers.values() if member in answers]
        at = [origin.asked_at for origin in given if origin]
        return (min(at), max(at)) if at else None


async def find_reusable(app: AppContext, bakeoff: Bakeoff) -> Reuse:
    """Return the newest stored answers to the same questions that a trial can use again."""
    search = _Search(app, bakeoff)
    for earlier in await _earlier_runs(app, bakeoff):
        if not search.is_over:
            await search.look_at(earlier)
    return search.found


async def _earlier_runs(app: AppContext, bakeoff: Bakeoff) -> Sequence[Bakeoff]:
    """Return the runs of the suite that the asker may read, newest first."""
    by = IncomingMessage("", Asker(bakeoff.asked_by, ""), bakeoff.place, "")
    scope = None if bakeoff.place.chat == "terminal" else bakeoff.place.scope
    wanted = BakeoffQuery(scope=scope, suite=bakeoff.suite.name, before=bakeoff.at)
    found = await bakeoff_stores(app).bakeoffs.list_recent(None, wanted)
    return [one for one in found if can_read_bakeoff(by, one)][:MAX_RUNS]


class _Search:
    """A search through earlier runs, newest first, for answers to the questions of a trial."""

    def __init__(self, app: AppContext, bakeoff: Bakeoff) -> None:
        self._app = app
        self._bakeoff = bakeoff
        trial = bakeoff.panel.trial
        self._seats = [x for x in bakeoff.panel.members if trial and x.key != trial.candidate]
        self._answers: dict[int, dict[str, Answer]] = defaultdict(dict)
        self._models: dict[str, str] = {}  # what providers called them last
        self._numbers: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number in bakeoff.numbers:
            asked = bakeoff.suite.questions[number - 1]
            self._numbers[asked.text, asked.context].append(number)
        self._seen: set[str] = set()

    @property
    def is_over(self) -> bool:
        """Whether every question has an answer of every model."""
        found = sum(map(len, self._answers.values()))
        return found == len(self._seats) * len(self._bakeoff.numbers)

    @property
    def found(self) -> Reuse:
        """What was found so far."""
        used = {member for answers in self._answers.values() for member in answers}
        unfit = tuple(x.key for x in self._seats if x.key in self._seen - used)
        return Reuse(dict(self._answers), unfit)

    async def look_at(self, earlier: Bakeoff) -> None:
        """Take from an earlier run what is still missing and fits."""
        lines = await self._app.store.list_summaries(wanted=RoundQuery(bakeoff=earlier.id))
        closed = {line.id for line in lines if line.seconds is not None}
        for index, asked in enumerate(earlier.suite.questions, start=1):
            round_id = earlier.round_id(index)
            for number in self._numbers.get((asked.text, asked.context), ()):
                if round_id in closed and len(self._answers[number]) < len(self._seats):
                    self._take(number, await self._app.store.load(round_id))

    def _take(self, number: int, stored: Round) -> None:
        answers = {x.member: x for x in stored.answers if x.text and not x.origin}
        for seat in self._seats:
            answer = answers.get(seat.key)
            if answer is None:
                continue
            self._seen.add(seat.key)
            newest = self._models.setdefault(seat.key, answer.model) or answer.model
            is_same_model = newest == (answer.model or newest)
            if seat.key not in self._answers[number] and is_same_model:
                new = _new_round(self._bakeoff, number, stored)
                if _fits(answer, seat, stored, new):
                    origin = Origin(stored.id, stored.asked_at)
                    self._answers[number][seat.key] = replace(answer, origin=origin)


def _new_round(bakeoff: Bakeoff, number: int, stored: Round) -> Round:
    """Return a stored round as the trial would ask it."""
    asked = bakeoff.suite.questions[number - 1]
    question = Question(asked.text, context=asked.context)
    return replace(stored, question=question, panel=bakeoff.panel)


def _fits(answer: Answer, seat: Member, stored: Round, new: Round) -> bool:
    """Return whether a seat would be asked today as it was then: model, settings, prompt."""
    then = stored.panel.seat(answer.member)
    same = replace(then, display=seat.display, family=seat.family, fallback=None) == seat
    temperatures = answer_temperature(stored.panel, then), answer_temperature(new.panel, seat)
    is_same_prompt = answer.prompt == member_prompt(new, seat)
    return same and is_same_prompt and temperatures[0] == temperatures[1]


def with_answers(round_: Round, reuse: Reuse) -> Round:
    """Return a new round of a trial with the answers that it uses again."""
    answers = tuple(reuse.answers.get(split_round_id(round_.id)[1], {}).values())
    panel = round_panel(round_.panel, [answer.member for answer in answers])
    quoted = dict.fromkeys(answer.origin.round_id for answer in answers if answer.origin)
    question = replace(round_.question, quotes=tuple(quoted) or None)
    return replace(round_, panel=panel, question=question, answers=answers)


async def estimate_rounds(app: AppContext, rounds: Iterator[Round]) -> Estimate:
    """Return what these rounds may cost at most, each limited by the cap of its panel."""
    micro, unknown = 0, dict[str, None]()
    for round_ in rounds:
        await asyncio.sleep(0)  # a long suite must not block the event loop
        estimate = await estimate_round(round_, app.gateway)
        micro += estimate.capped(round_.panel)
        unknown |= dict.fromkeys(estimate.unknown)
    return Estimate(micro, unknown=tuple(unknown))


# --- What it shows


async def expected_spread(app: AppContext, bakeoff: Bakeoff, trial: Trial) -> float:
    """Return how much the incumbent and other models differ on these questions, from earlier runs.

    They are of the last finished run of all the panel's models; the usual value if there is none.
    """
    for earlier in await _earlier_runs(app, bakeoff):
        is_full = earlier.panel.trial is None and earlier.panel.name == bakeoff.panel.name
        is_finished = earlier.ending is not None and earlier.ending.failure is None
        if is_full and is_finished and earlier.suite.version == bakeoff.suite.version:
            return earlier_spread(await load_run_columns(app, earlier), trial)
    return USUAL_SPREAD


async def load_run_columns(app: AppContext, bakeoff: Bakeoff) -> Columns:
    """Return the numbers of a run's closed rounds, those of answers used again included."""
    return record_columns(await load_run_records(app, bakeoff))


async def load_run_records(app: AppContext, bakeoff: Bakeoff) -> list[PackedRecord]:
    """Return the records of a run's closed rounds, with those of answers used again."""
    return await _records_of(await load_closed_rounds(app, bakeoff), bakeoff)


async def _records_of(rounds: Sequence[Round], bakeoff: Bakeoff) -> list[PackedRecord]:
    build = (pack_record(build_record(x, bakeoff, with_reused=True)) for x in rounds)
    return await asyncio.to_thread(lambda: [*build])


@dataclass(frozen=True, slots=True)
class Tried:
    """A trial's result, with the answers that were used again."""

    progress: BakeoffProgress
    result: TrialResult
    reused: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)

    @property
    def panel(self) -> Panel:
        """The panel of the trial."""
        return self.progress.bakeoff.panel

    @property
    def trial(self) -> Trial:
        """Whom it compares."""
        return trial_of(self.progress.bakeoff)


async def load_tried(app: AppContext, progress: BakeoffProgress) -> Tried:
    """Return what a trial shows so far."""
    bakeoff = progress.bakeoff
    rounds = await load_closed_rounds(app, bakeoff)
    reused: dict[str, list[Origin]] = defaultdict(list)
    for round_ in rounds:
        for answer in round_.answers:
            if answer.origin:
                reused[answer.member].append(answer.origin)
    columns = record_columns(await _records_of(rounds, bakeoff))
    is_over = bakeoff.ending is not None and not bakeoff.ending.failure
    result = trial_result(columns, trial_of(bakeoff), progress.questions, is_over=is_over)
    return Tried(progress, result, {key: tuple(origins) for key, origins in reused.items()})


async def is_trial_settled(app: AppContext, bakeoff: Bakeoff, asked: int) -> bool:
    """Return whether a trial stops after so many questions."""
    differences = paired_differences(await load_run_columns(app, bakeoff), trial_of(bakeoff))
    return is_settled(differences, asked, len(bakeoff.numbers))
