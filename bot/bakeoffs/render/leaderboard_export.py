"""A leaderboard as a JSON document and as CSV."""

from dataclasses import asdict
from typing import Any

from bot.bakeoffs.render.headline import cheapest_equal, cheapest_line, headline, missing_lines
from bot.bakeoffs.render.leaderboard_tables import Coverage, Leaderboard
from bot.bakeoffs.render.leaderboard_text import change_lines, claim_lines, footnote_lines
from bot.render.csv_text import csv_text
from council.bakeoffs.changes import TrendRun
from council.bakeoffs.intervals import Interval
from council.bakeoffs.leaderboard import AuthorLine, JudgeLine

Document = dict[str, Any]


def leaderboard_document(leaderboard: Leaderboard, *, as_judge: bool = False) -> Document:
    """Return a board, best first; members by seat key, shares as fractions, unknown values null."""
    cheapest = cheapest_equal(leaderboard.board)
    return {
        "ranked_by": leaderboard.board.ranked_by,
        "headline": headline(leaderboard),
        "missing": [*missing_lines(leaderboard)],
        "cheapest": cheapest.member if cheapest else None,
        "cheapest_line": cheapest_line(leaderboard),
        "rows": _row_documents(leaderboard, as_judge=as_judge),
        "worth": _council_value_document(leaderboard),
        "news": [*change_lines(leaderboard.changes, leaderboard.names)]
        if leaderboard.changes
        else [],
        "decided": [*claim_lines(leaderboard), *footnote_lines(leaderboard)],
        "counted": _coverage_document(leaderboard.coverage),
        "runs": [_run_document(run) for run in leaderboard.runs],
        "weighted": dict(leaderboard.weighted.document) if leaderboard.weighted else None,
    }


def _row_documents(leaderboard: Leaderboard, *, as_judge: bool = False) -> list[Document]:
    if as_judge:
        return [_judge_document(line, leaderboard) for line in leaderboard.judges.rows]
    return [_author_document(line, leaderboard) for line in leaderboard.board.rows]


def leaderboard_csv(leaderboard: Leaderboard, *, as_judge: bool = False) -> str:
    """Return the rows as CSV; no cell is evaluated as a formula."""
    rows = [_flatten(row) for row in _row_documents(leaderboard, as_judge=as_judge)]
    empty_header = ["member", "place", "share", "ci_low", "ci_high", "rounds"]
    return csv_text([*rows[0]] if rows else empty_header, rows)


def _author_document(line: AuthorLine, leaderboard: Leaderboard) -> Document:
    own = {
        name: _interval_list(value) if name.endswith("ci") else value
        for name, value in asdict(line).items()
    }
    no_share: Document = {"ci": None} if line.share is None else {}
    return {"member": line.member, "name": leaderboard.name(line.member), **own, **no_share}


def _judge_document(line: JudgeLine, leaderboard: Leaderboard) -> Document:
    people = leaderboard.people.get(line.judge)
    return {
        "member": line.judge,
        "name": leaderboard.name(line.judge),
        "rounds": line.rounds,
        "agreement": line.agreement,
        "agreement_ci": _interval_list(line.agreement_ci),
        "valid": line.valid,
        "spoiled": line.spoiled,
        "spoiled_rate": line.spoiled_rate,
        "position": line.position,
        "position_ci": _interval_list(line.position_ci),
        "is_position_biased": line.judge in leaderboard.biased,
        "orders_kept": line.kept,
        "orders_compared": line.pairs,
        "consistency": line.consistency,
        "with_people": people.share if people else None,
        "with_people_ci": _interval_list(people.ci) if people else None,
        "people_votes": people.ballots if people else 0,
        "people_kappa": people.kappa if people else None,
        "people_kappa_ci": _interval_list(people.kappa_ci) if people else None,
        "cost_usd": line.cost_usd,
    }


def _council_value_document(leaderboard: Leaderboard) -> Document | None:
    best = leaderboard.worth.best
    if best is None:
        return None
    return {
        "best": asdict(best),
        "rows": [asdict(line) for line in leaderboard.worth.rows],
        "drafts": asdict(leaderboard.worth.drafts) if leaderboard.worth.drafts else None,
        "is_voted": leaderboard.worth.is_voted,
    }


def _coverage_document(coverage: Coverage) -> Document:
    return {
        "rounds": coverage.rounds,
        "suite": coverage.suite or None,
        "version": coverage.version or None,
        "panel": coverage.panel or None,
        "panels": list(coverage.panels),
        "category": coverage.category or None,
        "first": coverage.first.isoformat() if coverage.first else None,
        "last": coverage.last.isoformat() if coverage.last else None,
        "left_out": dict(coverage.left_out),
    }


def _run_document(run: TrendRun) -> Document:
    return {
        "bakeoff": run.bakeoff,
        "at": run.at.isoformat(),
        "shares": {
            point.member: {"share": point.share, "ci": [*point.ci], "rounds": point.rounds}
            for point in run.points
        },
    }


def _interval_list(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [*interval]


def _flatten(row: Document) -> Document:
    """Return a row with each interval as two columns."""
    flat: Document = {}
    for name, value in row.items():
        if name.endswith("ci"):
            low, high = value or (None, None)
            flat |= {f"{name}_low": low, f"{name}_high": high}
        else:
            flat[name] = value
    return flat
