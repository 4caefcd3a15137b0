"""Ranking of given texts: a round without answering members and without a chairman."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from council.answers import Absence, Answer, Prompt, Reply, Role, storable_text
from council.ballots import Ballot
from council.errors import PanelError, QuestionError, QuorumError
from council.filters import check_filters, find_all_suspicions
from council.labels import Label
from council.methods import find_method
from council.panel import MAX_MEMBERS, MIN_MEMBERS, Member, ModelId, Panel, Rubric, Terms
from council.pipeline.run import run_round, versions
from council.pipeline.session import RoundServices
from council.ports import Gateway
from council.prompts.shared import DEFAULT_RUBRIC
from council.registry import NO_PLUGINS, Registry
from council.rounds import Artefact, Draw, Question, Round, sort_by_panel
from council.tally import Flag, FlagKind, Standing, Verdict

MAX_TEXT_CHARACTERS = 64_000
MAX_NAME_CHARACTERS = 200
_MAPPING = 'Give each text a name: {"a": "first text", "b": "second text"}.'
_LABEL = re.compile(r"\b[K-Z]\b")


@dataclass(frozen=True, slots=True)
class Judges:
    """Who ranks texts, and how; a judge with the name of a text does not see that text."""

    members: tuple[Member, ...]
    rubric: Rubric = DEFAULT_RUBRIC
    terms: Terms = field(default_factory=Terms)
    registry: Registry = NO_PLUGINS

    @classmethod
    def of(cls, panel: Panel, registry: Registry) -> "Judges":
        """Return every seat of a panel that votes, under the panel's rubric and terms."""
        return cls(panel.judges, panel.rubric, panel.terms, registry)

    def panel(self, names: Sequence[str]) -> Panel:
        """Return the panel of a ranking of texts; raise PanelError or QuestionError."""
        if not self.members:
            raise PanelError("Nobody can rank these texts: name at least one judge.")
        by_key = {judge.key: judge for judge in self.members}
        if len(names) == MIN_MEMBERS and all(judge in names for judge in by_key):
            raise PanelError(
                "Every judge wrote one of the two texts, and nobody ranks a text of their own. "
                "Add another judge."
            )
        return Panel(
            "ranking",
            tuple(by_key.get(name) or _text_seat(name) for name in names),
            self.rubric,
            tuple(judge for judge in self.members if judge.key not in names),
            terms=replace(self.terms, quorum=1, audit_share=0.0),
            has_given_texts=True,
        )


def _text_seat(name: str) -> Member:
    return Member(name, ModelId(""), name.rpartition("/")[2] or name, "")


def ranking_round(
    question: Question, texts: Mapping[str, str], judges: Judges, seed: str | None, gateway: Gateway
) -> Round:
    """Return the round in which judges rank texts by name, with a random seed unless one is given.

    Raise QuestionError for texts that cannot be ranked, PanelError for judges that cannot.
    """
    _check(question, texts)
    panel, method = judges.panel([*texts]), find_method(judges.terms.method, judges.registry)
    check_filters(panel, judges.registry)
    asks_authors = method.exchanges(panel).keys() - {judge.key for judge in judges.members}
    if not method.is_ranked or method.pair_ballots or asks_authors:
        raise PanelError(f"Method {method.name} can't rank given texts. Choose another one.")
    answers = (
        # What nobody asked for costs nothing.
        Answer(name, Prompt("", ""), Reply(storable_text(text), cost_usd=0.0))
        for name, text in texts.items()
    )
    return Round(
        id=secrets.token_hex(5),
        question=question,
        panel=panel,
        seed=secrets.token_hex(8) if seed is None else seed,
        asked_at=datetime.now(UTC),
        versions=tuple(sorted(versions(gateway, method=method).items())),
        answers=tuple(answers),
        registry=judges.registry,
    )


def _check(question: Question, texts: Mapping[str, str]) -> None:
    if not isinstance(question.text, str) or not question.text.strip():
        raise QuestionError("The question is empty. Judges need it to rank the texts.")
    if not isinstance(texts, Mapping):
        raise QuestionError(f"The texts are {type(texts).__name__}, not a mapping. {_MAPPING}")
    if not MIN_MEMBERS <= len(texts) <= MAX_MEMBERS:
        raise QuestionError(
            f"{len(texts)} texts can't be ranked. Give {MIN_MEMBERS} to {MAX_MEMBERS}."
        )
    for name, text in texts.items():
        if not isinstance(name, str):
            raise QuestionError(f"The name {name!r} is {type(name).__name__}, not str. {_MAPPING}")
        if not isinstance(text, str):
            raise QuestionError(f"The text {name!r} is {type(text).__name__}, not str. {_MAPPING}")
        if not name.strip() or len(name) > MAX_NAME_CHARACTERS:
            raise QuestionError(
                f"A text's name has 1 to {MAX_NAME_CHARACTERS} characters. Rename {name[:30]!r}."
            )
        if not text.strip():
            raise QuestionError(f"The text {name!r} is empty. Leave it out.")
        if len(text) > MAX_TEXT_CHARACTERS:
            raise QuestionError(
                f"The text {name!r} has {len(text):,} characters; the limit is "
                f"{MAX_TEXT_CHARACTERS:,}. Shorten it."
            )


@dataclass(frozen=True, slots=True)
class RankedText:
    """A text's line in the standings; equal shares have the same place. See `Standing`."""

    name: str
    place: int
    share: float | None
    points: float
    max_points: int
    first_votes: int
    mean_rank: float | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """Texts as their judges ranked them; all labels are replaced by the names of the texts.

    `first` is the best text's name; of tied ones, that of the text given first. `standings` are
    best first. `ballots` have a judge's reason and what it was shown. An unknown cost is None.
    `absences` are the judges without a usable ballot. Flags of the verdict name equal texts.
    """

    first: str
    standings: tuple[RankedText, ...]
    verdict: Verdict
    ballots: tuple[Ballot, ...]
    absences: tuple[Absence, ...]
    cost_usd: float | None

    @classmethod
    def of(cls, round_: Round) -> "Ranked":
        """Return the result of a closed ranking; raise QuorumError if no judge ranked the texts."""
        draw, tally = round_.draw, round_.tally
        absences = _absences(round_)
        if draw is None or tally is None or not tally.standings:
            why = "; ".join(f"{absence.member} {absence.reason}" for absence in absences)
            raise QuorumError(f"No judge ranked the texts: {why}.")
        standings = tuple(_ranked_text(line, draw) for line in tally.standings)
        suspicions = (
            Flag(FlagKind.SUSPICIOUS_TEXT, detail=(answer.member, why))
            for answer in round_.answers
            for why in find_all_suspicions(round_, answer.text)
        )
        equal = (
            Flag(FlagKind.SUSPICIOUS_TEXT, detail=(name, f"is the same as {first!r}"))
            for name, first in _equal_texts(round_)
        )
        return cls(
            first=standings[0].name,
            standings=standings,
            verdict=replace(tally.verdict, flags=(*tally.verdict.flags, *suspicions, *equal)),
            ballots=tuple(_named(ballot, draw) for ballot in round_.ballots),
            absences=absences,
            cost_usd=round_.cost_usd,
        )


def _equal_texts(round_: Round) -> Iterator[tuple[str, str]]:
    """Yield the name of each text that is given twice, and the first name that it has."""
    first_of: dict[str, str] = {}
    for answer in round_.answers:
        first = first_of.setdefault(answer.text.strip(), answer.member)
        if first != answer.member:
            yield answer.member, first


def _absences(round_: Round) -> tuple[Absence, ...]:
    voted = {ballot.judge for ballot in round_.ballots}
    twice = {s.judge: s.fault for s in round_.spoiled if s.judge not in voted}
    absent = tuple(
        absence
        for absence in round_.absences
        if absence.role is Role.BALLOT and absence.member not in voted
    )
    left = twice.keys() - {absence.member for absence in absent}
    return (
        *absent,
        *(
            Absence(judge, Role.BALLOT, f"returned no valid ranking: {twice[judge]}")
            for judge in sorted(left)
        ),
    )


def _ranked_text(line: Standing, draw: Draw) -> RankedText:
    name = draw.labels.author_of(line.label)
    return RankedText(
        name=name,
        place=line.place,
        share=line.share,
        points=line.points,
        max_points=line.max_points,
        first_votes=line.first_votes,
        mean_rank=line.mean_rank,
    )


def _named(ballot: Ballot, draw: Draw) -> Ballot:
    names = {label: Label(name) for name, label in draw.labels.pairs}
    return replace(
        ballot,
        shown=tuple(names[label] for label in ballot.shown),
        ranking=tuple(tuple(names[label] for label in place) for place in ballot.ranking),
        reason=_LABEL.sub(lambda match: names.get(Label(match[0]), match[0]), ballot.reason),
    )


async def run_ranking(
    round_: Round, gateway: Gateway, on_save: Callable[[Artefact], None] = lambda _: None
) -> Ranked:
    """Return the result of a ranking; raise QuorumError if no judge ranked the texts.

    `on_save` receives each artefact. Ballots that the round has already are not asked for again.
    """
    closed = await run_in_memory(round_, gateway, on_save)
    # Looking for injections in long texts takes a while.
    return await asyncio.to_thread(Ranked.of, closed)


async def run_in_memory(
    round_: Round, gateway: Gateway, on_save: Callable[[Artefact], None] = lambda _: None
) -> Round:
    """Return the round, closed; what it does not wait for is cancelled."""
    services = RoundServices(gateway, RoundInMemory(round_, on_save))
    try:
        return await run_round(round_.id, services)
    finally:
        services.late.cancel()


T = TypeVar("T")


class RoundInMemory:
    """A store of one running round, without a file; `on_save` receives each artefact."""

    def __init__(self, round_: Round, on_save: Callable[[Artefact], None]) -> None:
        self._round = round_
        self._on_save = on_save

    async def together(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work."""
        return await work()

    async def save(self, round_id: str, *artefacts: Artefact) -> None:
        """Add artefacts to the round, unless it is closed."""
        for artefact in artefacts:
            if not self._round.closing:
                self._on_save(artefact)
                self._round = self._round.with_(artefact)

    async def load(self, round_id: str) -> Round:
        """Return the round with its parts in panel order."""
        return sort_by_panel(self._round)

    async def load_past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        """Return nothing: no earlier rounds are known."""
        return ()
