"""A leaderboard by weighed judges, for programs."""

import csv
from collections.abc import Mapping
from io import StringIO
from typing import Any

from bot.render.leaderboard_tables import Coverage, Leaderboard
from bot.render.leaderboard_text import decided, news_lines
from council.bakeoffs.changes import TrendRun
from council.bakeoffs.council_value import BestMember, CouncilValueLine
from council.bakeoffs.intervals import Interval
from council.bakeoffs.leaderboard import AuthorLine, JudgeLine
from council.research.judge_weights import JudgeWeight
from council.research.weighted_leaderboard import WeightedBoard, WeightedLine

# --- A leaderboard by weighed judges, for programs.

Document = dict[str, Any]
Names = Mapping[str, str]


def _weighted_document(board: WeightedBoard, names: Names) -> Document:
    """Give the board; its rows are empty where there is too little to weigh by."""
    return {
        "weights": board.weighing.name,
        "is_usable": board.weighing.is_usable,
        "have": board.weighing.have,
        "need": board.weighing.need,
        "rounds": board.rounds,
        "rows": [_weighted_row_document(line, names) for line in board.rows],
        "moved": [line.member for line in board.moved],
        "judges": [_weight_document(line, names) for line in board.weighing.judges],
    }


def _weighted_row_document(line: WeightedLine, names: Names) -> Document:
    return {
        "member": line.member,
        "name": names.get(line.member, line.member),
        "rank": line.rank,
        "share": line.share,
        "ci": [*line.ci],
        "uniform_rank": line.uniform_rank,
        "uniform_share": line.uniform,
        "change": line.change,
        "rounds": line.rounds,
    }


def _weight_document(line: JudgeWeight, names: Names) -> Document:
    return {
        "judge": line.judge,
        "name": names.get(line.judge, line.judge),
        "weight": line.weight,
        "basis": line.basis,
        "n": line.n,
    }


# --- A leaderboard for programs: the document that `council leaderboard --json` prints, and CSV.

BoardDocument = dict[str, Any]
DisplayNames = Mapping[str, str]

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would work out
_EMPTY_HEADER = ["member", "place", "share", "ci_low", "ci_high", "rounds"]


def board_document(shown: Leaderboard, *, as_judge: bool = False) -> BoardDocument:
    """Give a board, best first; members by seat key, shares as fractions, unknowns null."""
    return {
        "rows": _row_documents(shown, as_judge=as_judge),
        "worth": _council_value_document(shown),
        "news": [*news_lines(shown.changes, shown.names)] if shown.changes else [],
        "decided": [*decided(shown)],
        "counted": _coverage_document(shown.coverage),
        "runs": [_run_document(run) for run in shown.runs],
        "weighted": _weighted_document(shown.weighted, shown.names) if shown.weighted else None,
    }


def _row_documents(shown: Leaderboard, *, as_judge: bool = False) -> list[BoardDocument]:
    """Give a document for each member as an author, or for each seat as a judge."""
    if as_judge:
        return [_judge_document(line, shown) for line in shown.judges.rows]
    return [_author_document(line, shown.names) for line in shown.board.rows]


def csv_of(shown: Leaderboard, *, as_judge: bool = False) -> str:
    """Give the rows as a table for spreadsheets; no cell of it is worked out by one."""
    flat = [_flatten(row) for row in _row_documents(shown, as_judge=as_judge)]
    written = StringIO()
    writer = csv.DictWriter(written, [*flat[0]] if flat else _EMPTY_HEADER, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return written.getvalue()


def _author_document(line: AuthorLine, names: DisplayNames) -> BoardDocument:
    return {
        "member": line.member,
        "name": names.get(line.member, line.member),
        "place": line.place,
        "share": line.share,
        "ci": None if line.share is None else _interval_list(line.ci),
        "rounds": line.rounds,
        "strength": line.strength,
        "strength_ci": _interval_list(line.strength_ci),
        "first_votes": line.first_votes,
        "ballots": line.ballots,
        "accuracy": line.accuracy,
        "accuracy_ci": _interval_list(line.accuracy_ci),
        "graded": line.graded,
        "cost_usd": line.cost_usd,
        "seconds": line.seconds,
        "tokens_out": line.tokens_out,
        "answers": line.answers,
        "absences": line.absences,
        "refusals": line.refusals,
        "named_itself": line.named_itself,
    }


def _judge_document(line: JudgeLine, shown: Leaderboard) -> BoardDocument:
    people = shown.people.get(line.judge)
    return {
        "member": line.judge,
        "name": shown.name(line.judge),
        "rounds": line.rounds,
        "agreement": line.agreement,
        "agreement_ci": _interval_list(line.agreement_ci),
        "valid": line.valid,
        "spoiled": line.spoiled,
        "spoiled_rate": line.spoiled_rate,
        "position": line.position,
        "position_ci": _interval_list(line.position_ci),
        "is_position_biased": line.is_position_biased,
        "orders_kept": line.kept,
        "orders_compared": line.pairs,
        "consistency": line.consistency,
        "with_people": people.share if people else None,
        "with_people_ci": _interval_list(people.ci) if people else None,
        "people_votes": people.ballots if people else 0,
        "cost_usd": line.cost_usd,
    }


def _council_value_document(shown: Leaderboard) -> BoardDocument | None:
    best = shown.worth.best
    if best is None:
        return None
    return {
        "best": _best_member_document(best),
        "rows": [_council_value_row(line) for line in shown.worth.rows],
    }


def _best_member_document(best: BestMember) -> BoardDocument:
    return {
        "member": best.member,
        "accuracy": best.accuracy,
        "cost_usd": best.cost_usd,
        "seconds": best.seconds,
        "is_picked_elsewhere": best.is_picked_elsewhere,
    }


def _council_value_row(line: CouncilValueLine) -> BoardDocument:
    return {
        "name": line.name,
        "graded": line.graded,
        "accuracy": line.accuracy,
        "accuracy_ci": _interval_list(line.accuracy_ci),
        "difference": line.difference,
        "difference_ci": _interval_list(line.difference_ci),
        "cost_usd": line.cost_usd,
        "seconds": line.seconds,
        "verdict": line.verdict.value if line.verdict else None,
    }


def _coverage_document(coverage: Coverage) -> BoardDocument:
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


def _run_document(run: TrendRun) -> BoardDocument:
    points = {point.member: point for point in run.points}
    return {
        "bakeoff": run.bakeoff,
        "at": run.at.isoformat(),
        "shares": {
            member: {"share": point.share, "ci": _interval_list(point.ci), "rounds": point.rounds}
            for member, point in points.items()
        },
    }


def _interval_list(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [*interval]


def _flatten(row: BoardDocument) -> BoardDocument:
    """Give a row with each interval as two columns."""
    made: BoardDocument = {}
    for name, value in row.items():
        if name.endswith("ci"):
            low, high = value or (None, None)
            made |= {f"{name}_low": low, f"{name}_high": high}
        else:
            made[name] = escape_formula(value)
    return made


def escape_formula(value: object) -> object:
    """Give a text that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
