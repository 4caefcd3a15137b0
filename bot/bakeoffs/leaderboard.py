"""Which leaderboard is wanted, and how a window of time is named. Pure: knows no store."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from bot.bakeoffs.records import RecordSources, records_up_to_date, uncollected, votes_up_to_date
from bot.chat import Post
from bot.render.leaderboard_tables import Coverage, Leaderboard
from bot.render.leaderboard_weighted import beside_post, too_few
from council.bakeoffs.changes import Changes, changes, trend
from council.bakeoffs.council_value import worth
from council.bakeoffs.leaderboard import JudgeBoard, judge_board
from council.bakeoffs.leaderboard import leaderboard as board_of
from council.bakeoffs.pairwise import scores_of
from council.bakeoffs.ports import BakeoffStores, RecordQuery
from council.bakeoffs.record_arrays import columns
from council.bakeoffs.records import PackedRecord
from council.errors import CouncilError
from council.research.judge_weights import FEWEST_VOTES, NAMES, Choice, WithPeople, with_people
from council.research.posterior import posterior
from council.research.weighted_leaderboard import WeightedBoard, evidence_of, weighted_board
from council.rounds import Round
from council.tally.standings import informative

# --- Which leaderboard is wanted, and how a window of time is named. Pure: knows no store.

_AGO = re.compile(r"(\d{1,5})\s*(h|d|w|m|y)[a-z]*", re.IGNORECASE)
_UNITS = {
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "m": timedelta(days=30),
    "y": timedelta(days=365),
}


class LeaderboardQueryError(CouncilError):
    """A leaderboard that cannot be given as it is asked for."""


@dataclass(frozen=True, slots=True)
class LeaderboardQuery:
    """Which rounds a leaderboard should count, whether it is of judges, and how these weigh.

    Without a version it is the one that was held last. `scope` None is every workspace's. Without
    `weights` there is nothing beside the official count.
    """

    suite: str = ""
    version: str = ""
    panel: str = ""
    category: str = ""
    since: datetime | None = None
    before: datetime | None = None
    as_judge: bool = False
    scope: str | None = None
    weights: str = ""

    @property
    def wanted(self) -> RecordQuery:
        """Give the records among which it is, every version of the suite among them."""
        return RecordQuery(
            scope=self.scope,
            suite=self.suite,
            panel=self.panel,
            category=self.category,
            since=self.since,
            before=self.before,
        )


def parse_query(given: Mapping[str, str], now: datetime) -> LeaderboardQuery:
    """Give what options mean, wherever they were chosen; those that are "" mean nothing.

    They are suite (`sql` or `sql@3f2a`), version, panel, category, since, until, as and weights.
    Raises LeaderboardQueryError.
    """
    view = (given.get("as") or "author").lower()
    if view not in {"author", "judge"}:
        raise LeaderboardQueryError(f"A leaderboard is as:author or as:judge, not as:{view}.")
    weights = given.get("weights", "").strip().lower()
    if weights not in {"", *NAMES}:
        raise LeaderboardQueryError(f"Judges weigh by {', '.join(NAMES)}, not by {weights[:20]!r}.")
    suite, version = suite_and_version(given.get("suite", ""))
    since, until = given.get("since", ""), given.get("until", "")
    return LeaderboardQuery(
        suite,
        version or given.get("version", "").strip().lower(),
        given.get("panel", ""),
        given.get("category", ""),
        since_of(since, now) if since else None,
        before_of(until, now) if until else None,
        as_judge=view == "judge",
        weights=weights,
    )


def suite_and_version(text: str) -> tuple[str, str]:
    """Read `sql`, or `sql@3f2a` for one version of it."""
    name, _, version = text.partition("@")
    return name.strip(), version.strip().lower()


def since_of(text: str, now: datetime) -> datetime:
    """Give the start of a window: "30d", "2w", "12h" before now, or a day or moment.

    Days are UTC where no zone is named. Raises LeaderboardQueryError.
    """
    if ago := _AGO.fullmatch(text.strip()):
        try:
            return now - int(ago[1]) * _UNITS[ago[2].lower()]
        except OverflowError:
            raise _unread(text) from None
    return _moment(text)


def before_of(text: str, now: datetime) -> datetime:
    """Return the end of a window, the last moment of its day; raise LeaderboardQueryError."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return since_of(text, now)
    return datetime.combine(day, time(), UTC) + timedelta(days=1)


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise _unread(text) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _unread(text: str) -> LeaderboardQueryError:
    return LeaderboardQueryError(
        f"{text!r} is no time I can read: say 30d, 2w, 12h, 2026-11-21 or 2026-11-21T09:00."
    )


# --- Which records a leaderboard counts, one version of a suite at a time. Pure.


def chosen(
    records: Sequence[PackedRecord], sought: LeaderboardQuery
) -> tuple[Sequence[PackedRecord], Coverage]:
    """Give the records that count among those wanted, oldest first, and what they are.

    Of a suite one version counts: the one that is named, else the one that was held last.
    """
    version, rounds = sought.version, Counter(record.suite_version for record in records)
    if sought.suite:
        held = records[-1].suite_version if records else ""
        version = next((one for one in rounds if version and one.startswith(version)), version)
        version = version or held
        counted = [record for record in records if record.suite_version == version]
        left_out = tuple((one, number) for one, number in rounds.items() if one != version)
    else:
        counted, left_out = [*records], ()
    return counted, _coverage(counted, sought, version, left_out)


def choices_of(every: Sequence[PackedRecord], suite: str = "") -> Mapping[str, tuple[str, ...]]:
    """Give by option what can be chosen among records; versions and categories are a suite's."""
    kinds = {(x.suite, x.suite_version, x.panel, x.category) for x in every}
    choices = {
        "suite": {name for name, _, _, _ in kinds},
        "version": {v for name, v, _, _ in kinds if suite and name == suite},
        "panel": {panel for _, _, panel, _ in kinds},
        "category": {c for name, _, _, c in kinds if suite in {"", name}},
    }
    return {name: tuple(sorted(values - {""})) for name, values in choices.items()}


def _coverage(
    counted: Sequence[PackedRecord],
    sought: LeaderboardQuery,
    version: str,
    left_out: tuple[tuple[str, int], ...],
) -> Coverage:
    suites = Counter((record.suite, record.suite_version) for record in counted)
    return Coverage(
        rounds=len(counted),
        suite=sought.suite,
        version=version,
        panel=sought.panel,
        category=sought.category,
        first=counted[0].asked_at if counted else None,
        last=counted[-1].asked_at if counted else None,
        panels=tuple(sorted({record.panel for record in counted})),
        suites=tuple((*key, number) for key, number in sorted(suites.items())),
        left_out=left_out,
        since=sought.since,
        before=sought.before,
    )


# --- The leaderboard of the rounds that are wanted, counted beside the event loop.

Names = Mapping[str, str]

NO_JUDGES = JudgeBoard((), 0)


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """A leaderboard, and by option what other ones can be chosen from."""

    shown: Leaderboard
    choices: Mapping[str, tuple[str, ...]]


async def leaderboard(
    bench: BakeoffStores, sought: LeaderboardQuery, names: Names, *, whole: bool = True
) -> Leaderboard:
    """Give the leaderboard that is sought; one without rows where no round fits.

    Where it need not be whole, one of authors has no judges.
    """
    with uncollected():
        records = await bench.records.recent(sought.wanted)
        return await asyncio.to_thread(counted, records, sought, names, whole=whole)


async def shelf(bench: BakeoffStores, sought: LeaderboardQuery, names: Names) -> LeaderboardPage:
    """Give the leaderboard that is sought, and what there is to choose from."""
    with uncollected():
        every = await bench.records.recent(RecordQuery(scope=sought.scope))
        return await asyncio.to_thread(_shelf, every, sought, names)


def _shelf(
    every: Sequence[PackedRecord], sought: LeaderboardQuery, names: Names
) -> LeaderboardPage:
    wanted = sought.wanted
    is_all = wanted == RecordQuery(scope=sought.scope)
    records = every if is_all else [record for record in every if wanted.admits(record)]
    return LeaderboardPage(
        counted(records, sought, names, whole=False), choices_of(every, sought.suite)
    )


def counted(
    records: Sequence[PackedRecord], sought: LeaderboardQuery, names: Names, *, whole: bool = True
) -> Leaderboard:
    """Give the leaderboard of records, oldest first; it takes a moment where they are many."""
    kept, coverage = chosen(records, sought)
    arrays = columns(kept)
    return Leaderboard(
        coverage,
        board_of(arrays),
        judge_board(arrays) if whole or sought.as_judge else NO_JUDGES,
        worth(arrays),
        trend(arrays) if len({suite for suite, _, _ in coverage.suites if suite}) == 1 else (),
        _news_of(kept) if sought.suite else None,
        names,
    )


def _news_of(records: Sequence[PackedRecord]) -> Changes | None:
    """Give what changed from the runs before to the newest; None with fewer than two runs."""
    runs = dict.fromkeys(record.bakeoff for record in records if record.bakeoff)
    if len(runs) < 2:  # noqa: PLR2004
        return None
    newest = [*runs][-1]
    now = [record for record in records if record.bakeoff == newest]
    return changed(now, [record for record in records if record.bakeoff not in {newest, ""}])


def changed(now: Sequence[PackedRecord], before: Sequence[PackedRecord]) -> Changes | None:
    """Give what changed; None where there is nothing to compare."""
    return changes(columns(now), columns(before)) if now and before else None


# --- A leaderboard with weighed judges, and judges beside people: shown with the official one.


@dataclass(frozen=True, slots=True)
class _Beside:
    weighted: WeightedBoard | None
    people: dict[str, WithPeople]


async def weighed(
    parts: RecordSources, sought: LeaderboardQuery, shown: Leaderboard
) -> Leaderboard:
    """Give the leaderboard with what stands beside it, where anything does.

    That is the board by weights that are sought, and from twenty votes on how far judges agree
    with people. The official standings stay as they are.
    """
    cast = await parts.store.votes()
    choices = [Choice(vote.round_id, vote.member) for vote in cast]
    too_few = len(choices) < FEWEST_VOTES or not shown.judges.rows
    if not sought.weights and too_few:
        return shown
    await votes_up_to_date(parts)
    with uncollected():
        rows = await parts.bakeoff_stores.votes.recent(sought.wanted)
        beside = await asyncio.to_thread(_beside, rows, sought, choices)
    return replace(shown, weighted=beside.weighted, people=beside.people)


def _beside(
    rows: Sequence[PackedRecord], sought: LeaderboardQuery, choices: Sequence[Choice]
) -> _Beside:
    kept, _ = chosen(rows, sought)
    evidence = evidence_of(kept, choices)
    weighted = weighted_board(sought.weights, evidence) if sought.weights else None
    return _Beside(weighted, dict(with_people(evidence.rounds, choices)))


# --- What the leaderboard would have said of a round: the board before it as prior.

FEWEST_ROUNDS = 10  # on the board, before it has a say


async def beside(parts: RecordSources, round_: Round) -> Post:
    """Give a closed round's answers with the leaderboard of the rounds before it as prior.

    The board is that of the round's own workspace. Nothing of it is stored or counted.
    """
    await records_up_to_date(parts)
    wanted = RecordQuery(scope=round_.question.place.scope, before=round_.asked_at)
    with uncollected():
        kept = await parts.bakeoff_stores.records.recent(wanted)
        return await asyncio.to_thread(_prior_message, round_, kept)


def _prior_message(round_: Round, kept: Sequence[PackedRecord]) -> Post:
    ballots = informative(round_.ballots) if round_.tally else ()
    if len(kept) < FEWEST_ROUNDS or not round_.draw or not ballots:
        return too_few(round_, len(kept), FEWEST_ROUNDS)
    strengths = scores_of(columns(kept))
    likely = posterior(round_.draw.labels, ballots, strengths, round_.seed)
    return beside_post(round_, round_.draw, likely, len(kept))
