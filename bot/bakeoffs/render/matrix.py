"""Renderer of a bake-off's matrix: texts of its cells, totals, table, JSON and CSV."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from bot.bakeoffs.render.leaderboard_export import Document
from bot.bakeoffs.render.leaderboard_tables import Leaderboard, percent, place_text, right_text
from bot.bakeoffs.render.leaderboard_text import NO_CHANGE, change_lines
from bot.bakeoffs.render.suites import check_lines
from bot.chat import Button, Buttons, Heading, Line, Note, Part, Post, Table
from bot.render.csv_text import csv_text
from bot.render.formatting import (
    count_noun,
    duration,
    join_words,
    known_text,
    money,
    number_table,
    ordinal,
)
from bot.render.text_safety import shorten_to_line
from council.bakeoffs.council_value import COUNCIL, WINNER, CouncilValueLine
from council.bakeoffs.leaderboard import AuthorLine
from council.bakeoffs.matrix import (
    Cell,
    Matrix,
    MatrixRow,
    MethodLine,
    RunMatrix,
    changed_grades,
    compare_methods,
)
from council.rubric_grader import GraderAgreement

Names = Mapping[str, str]

MATRIX_TITLE = "Question by question"
METHODS_TITLE = "Methods side by side"
METHODS_NOTE = (
    "Cost and time are means for a question. A few questions tell methods apart only by chance."
)
AGREEMENT_NOTE = "Agreement: 1 is full agreement of the judges, 0 is chance."
_NOT_RANKED = "not ranked"
UNGRADED = "?"  # its grader failed or is missing, or outside judges were split
_MAX_QUESTION = 60  # characters of a question in a table
_MAX_ROWS = 100  # in a terminal
_CELL_COLUMNS = ("place", "share", "grade", "cost_usd", "seconds")  # in JSON and CSV
CELLS_NOTE = f"✓ right · ✗ wrong · {UNGRADED} not graded · – no answer; 1st is the judges’ place."
_QUESTIONS_PER_POST = 5  # a row of buttons
_MAX_LISTED_QUESTION = 150  # characters of a question in a chat
_HEAT = 4.999  # shades of a share, as CSS has them


# --- Cells


def grade_text(grade: bool | None) -> str:
    """Return "✓", "✗", or "" for an answer that was not graded."""
    return "" if grade is None else "✓" if grade else "✗"


def cell_text(cell: Cell | None) -> str:
    """Return a cell's grade and place: "✓ 1st", "? 2nd"; "–" for no answer, "" if not asked."""
    if cell is None:
        return ""
    if cell.absent:
        return "–"
    place = "" if cell.place is None else ordinal(cell.place)
    grade = UNGRADED if cell.is_ungraded else grade_text(cell.grade)
    return f"{grade} {place}".strip() or "not ranked"


def council_text(row: MatrixRow) -> str:
    """Return the grade of the council's answer, or "failed"; "" if it is not graded at all."""
    if row.failure or not row.has_council:
        return "failed" if row.failure else ""
    is_ungraded = row.council_grade is None and row.question.reference and row.cells
    return UNGRADED if is_ungraded else grade_text(row.council_grade)


def winner_text(row: MatrixRow, names: Names) -> str:
    """Return the name of the winner; "tied" if several share the first place."""
    return "tied" if row.is_tied else names.get(row.winner, row.winner)


def cell_class(cell: Cell | None) -> str:
    """Return the CSS class of a cell's colour: its grade or, without one, its share."""
    if cell is None or cell.absent:
        return "none"
    if cell.grade is not None:
        return "right" if cell.grade else "wrong"
    return "" if cell.share is None else f"h{int(cell.share * _HEAT)}"


def was_text(cell: Cell | None, before: Cell | None) -> str:
    """Return what an earlier run had instead: "was ✗", "was 3rd"; "" if it is the same."""
    if before is None or (cell and (cell.grade, cell.place) == (before.grade, before.place)):
        return ""
    if cell and cell.grade is not None and cell.grade is before.grade:
        return ""  # its place alone says little about a graded answer
    text = grade_text(before.grade) or cell_text(before)
    return f"was {text}" if text else ""


# --- Totals

Totals = tuple[tuple[str, tuple[str, ...]], ...]


def totals(board: Leaderboard, members: Sequence[str]) -> Totals:
    """Return the rows above the matrix: a label, then a cell for each member, council and winner.

    A row that would be empty is left out.
    """
    lines = {line.member: line for line in board.board.rows}
    named = {line.name: line for line in board.worth.rows}
    columns = [*map(lines.get, members), *map(named.get, (COUNCIL, WINNER))]
    rows = (
        ("Place", tuple(place_text(x) if isinstance(x, AuthorLine) else "" for x in columns)),
        ("Points", tuple(map(_points_text, columns))),
        ("Right", tuple(map(_right_text, columns))),
        ("Price", tuple(known_text(x.cost_usd if x else None, money) for x in columns)),
        ("Time", tuple(known_text(x.seconds if x else None, duration) for x in columns)),
    )
    return tuple((label, cells) for label, cells in rows if any(cells))


def _points_text(line: AuthorLine | CouncilValueLine | None) -> str:
    return known_text(line.share, percent) if isinstance(line, AuthorLine) else ""


def _right_text(line: AuthorLine | CouncilValueLine | None) -> str:
    if isinstance(line, AuthorLine):
        return right_text(line)
    if line is None or line.accuracy is None:
        return ""
    return f"{round(line.accuracy * line.graded)} of {line.graded}"


# --- Sentences


def comparison_lines(run: RunMatrix, names: Names) -> Iterator[str]:
    """Yield what differs from the other run, and what cannot be compared."""
    earlier = run.earlier
    if earlier is None or run.against is None:
        return
    pairs, added = run.pairs, len(run.matrix.rows) - len(earlier.before)
    yield (
        f"{count_noun(len(run.changed), 'result')} changed of {count_noun(len(pairs), 'question')} "
        f"that both runs finished{_grades_text(run)}."
    )
    methods = [one.panel.terms.method for one in (run.bakeoff, run.against)]
    if len({*methods}) > 1 and not (run.bakeoff.suite.methods or run.against.suite.methods):
        yield f"This run used the method {methods[0]}, the earlier one {methods[1]}."
    if missing := len(earlier.before) - len(pairs):
        yield f"Not compared: {count_noun(missing, 'question')} that one run did not finish."
    if added or earlier.dropped:
        yield (
            f"The suite changed between the runs: {count_noun(added, 'question')} only in this "
            f"one, {count_noun(len(earlier.dropped), 'question')} only in the earlier one. These "
            "are not compared."
        )
    for members, what in (
        (earlier.only_before, "answered only in the earlier run"),
        (earlier.only_now, "answered only in this run"),
    ):
        if members:
            yield f"{join_words(names.get(key, key) for key in members)} {what}."
    if run.changes and run.changes.runs:
        numbers = replace(run.changes, new=(), missing=())
        yield from [*change_lines(numbers, names)] or [NO_CHANGE.format("that run")]


def grader_lines(run: RunMatrix) -> Iterator[str]:
    """Yield what was not graded in full, and how far the outside judges agreed on grades."""
    yield from check_lines(run.bakeoff.suite)
    rows = [row for row in run.matrix.rows if row.question.rubric and row.cells]
    outside = run.bakeoff.panel.outside_judges
    judges = count_noun(len(outside), "outside judge")
    if has_grades := sum(map(_has_grade, rows)):
        graded = count_noun(has_grades, "question")
        agreement = _agreement_text(run.agreement) if len(outside) > 1 else ""
        yield f"{graded} graded by {judges}, who saw no names{agreement}."
    elif rows:
        yield f"No question has a grade from {judges}. The round of each question says why."
    graded_rows = [row for row in run.matrix.rows if row.question.is_graded]
    cells = [cell for row in graded_rows for cell in row.cells.values()]
    if ungraded := sum(cell.is_ungraded for cell in cells):
        yield (
            f"No grade for {count_noun(ungraded, 'answer')}, shown as {UNGRADED}: the judges were "
            "split, or the grader failed."
        )


def _has_grade(row: MatrixRow) -> bool:
    grades = (row.council_grade, *(cell.grade for cell in row.cells.values()))
    return any(grade is not None for grade in grades)


def _agreement_text(agreement: GraderAgreement | None) -> str:
    if agreement is None:
        return ". No answer has two grades, so how far they agree is unknown"
    kappa = "" if agreement.kappa is None else f" (Fleiss’ κ {agreement.kappa:.2f})"
    kappa = kappa.replace("-", "−")
    return f". Pairs of judges gave the same grade {percent(agreement.same)} of the time{kappa}"


def _grades_text(run: RunMatrix) -> str:
    grades = [grade for row, past in run.pairs for grade in changed_grades(row, past)]
    if not grades:
        return ""
    better = sum(grades)
    return f"; {count_noun(better, 'answer')} became right and {len(grades) - better} became wrong"


# --- Terminal, JSON and CSV


def methods_post(matrix: Matrix) -> Post | None:
    """Return the methods of a bake-off next to each other; None for a bake-off under one.

    A column without a number, such as "Winner right" without grades, is left out.
    """
    lines = compare_methods(matrix)
    if not lines:
        return None
    columns = {title: [shown(line) for line in lines] for title, shown in _METHOD_COLUMNS.items()}
    filled = {title: cells for title, cells in columns.items() if {*cells} - {"", _NOT_RANKED}}
    table = number_table([*filled], zip(*filled.values(), strict=True))
    note = f"{AGREEMENT_NOTE} {METHODS_NOTE}" if "Agreement" in filled else METHODS_NOTE
    return Post((Heading(METHODS_TITLE), table, Note(note)), METHODS_TITLE)


def _of(right: int | None, graded: int) -> str:
    if right is None:
        return _NOT_RANKED
    return f"{right} of {graded}" if graded else ""


_METHOD_COLUMNS: dict[str, Callable[[MethodLine], str]] = {
    "Method": lambda line: line.method,
    "Questions": lambda line: (
        f"{line.over}, {line.failed} failed" if line.failed else str(line.over)
    ),
    "Winner right": lambda line: _of(line.winner_right, line.winners_graded),
    "Council right": lambda line: _of(line.council_right, line.graded),
    "Agreement": lambda line: known_text(line.tau_b, "{:+.2f}".format).replace("-", "−"),
    "Cost": lambda line: known_text(line.cost_usd, money),
    "Time": lambda line: known_text(line.seconds, duration),
}


def matrix_post(run: RunMatrix, names: Names) -> Post:
    """Return the first rows as a table, each model by its name."""
    table = matrix_table(run, names, _MAX_ROWS)
    rest = len(run.matrix.rows) - _MAX_ROWS
    notes = [*grader_lines(run), *comparison_lines(run, names)]
    if rest > 0:
        notes.append(f"And {count_noun(rest, 'more question')}: --csv FILE has them all.")
    methods = methods_post(run.matrix)
    above = methods.parts if methods else ()
    return Post((*above, Heading(MATRIX_TITLE), table, *map(Note, notes)), MATRIX_TITLE)


def matrix_table(run: RunMatrix, names: Names, max_rows: int) -> Table:
    """Return the first rows of the matrix as a table."""
    members = run.matrix.members
    columns = ("", "Question", *(names.get(key, key) for key in members), "Council", "Winner")
    rows = tuple(_table_row(row, members, names) for row in run.matrix.rows[:max_rows])
    return Table(columns, rows, frozenset({0}))


def question_posts(run: RunMatrix, names: Names, open_action: str) -> list[Post]:
    """Return what each model did on each question, a few questions a post.

    Their buttons open the rounds by `open_action`.
    """
    posts, rows = [], run.matrix.rows
    for at in range(0, len(rows), _QUESTIONS_PER_POST):
        some = rows[at : at + _QUESTIONS_PER_POST]
        parts: list[Part] = [Note(CELLS_NOTE)] if at == 0 else []
        for row in some:
            method = f" ({row.question.method})" if row.question.method else ""
            text = shorten_to_line(row.question.text, _MAX_LISTED_QUESTION)
            parts.append(Line(f"**{row.number}.** {text}{method}"))
            parts.append(Note(_row_text(row, run.matrix.members, names)))
        buttons = (
            Button(open_action, f"Open {row.number}", row.round_id)
            for row in some
            if row.cells and row.round_id and not row.failure
        )
        parts.append(Buttons(tuple(buttons)))
        posts.append(Post(tuple(parts), "Questions"))
    return posts


def _row_text(row: MatrixRow, members: Sequence[str], names: Names) -> str:
    if row.failure:
        return f"Failed: {row.failure}"
    if not row.cells:
        return "Not finished yet."
    cells = [(names.get(key, key), cell_text(row.cells.get(key))) for key in members]
    cells.append(("Council", council_text(row)))
    return " · ".join(f"{name} {text}" for name, text in cells if text)


def _table_row(row: MatrixRow, members: Sequence[str], names: Names) -> tuple[str, ...]:
    cells = (cell_text(row.cells.get(key)) for key in members)
    question = shorten_to_line(row.question.text, _MAX_QUESTION)
    if row.question.method:
        question += f" · {row.question.method}"
    if row.question.checks:
        question += f" · {row.question.checks} checks"
    return (str(row.number), question, *cells, council_text(row), winner_text(row, names))


def cell_documents(run: RunMatrix) -> list[Document]:
    """Return every cell of the matrix, question by question; unknown values are null."""
    return [
        {
            "question": row.number,
            "round_id": row.round_id,
            "member": cell.member,
            **_method_document(row),
            **_checks_document(row),
            **{name: getattr(cell, name) for name in _CELL_COLUMNS},
        }
        for row in run.matrix.rows
        for cell in filter(None, map(row.cells.get, run.matrix.members))
    ]


def _method_document(row: MatrixRow) -> Document:
    """Return the method of a bake-off under several; nothing for any other."""
    return {"method": row.question.method} if row.question.method else {}


def _checks_document(row: MatrixRow) -> Document:
    """Return how many of a question's checks were imported; nothing if all were."""
    return {"checks": row.question.checks} if row.question.checks else {}


def comparison_document(run: RunMatrix) -> Document | None:
    """Return what changed since the other run, questions by number; None without one."""
    earlier = run.earlier
    if earlier is None or run.against is None:
        return None
    return {
        "id": run.against.id,
        "changed": sorted(run.changed),
        "added": [row.number for row in run.matrix.rows if row.number not in earlier.before],
        "dropped": [row.question.text for row in earlier.dropped],
        "left": list(earlier.left),
        "joined": list(earlier.joined),
    }


def matrix_csv(run: RunMatrix) -> str:
    """Return a row for each question, with place, share, grade, cost and time of each model."""
    rows = []
    for row in run.matrix.rows:
        document: Document = {
            "question": row.number,
            "text": row.question.text,
            "category": row.question.category,
            **_method_document(row),
            "checks": row.question.checks,
            "round_id": row.round_id,
            "failure": row.failure,
            "disputed": row.is_disputed,
            "winner": row.sole_winner,
            "winner_grade": None if row.is_tied else row.winner_grade,
            "council_grade": row.council_grade,
            "cost_usd": row.cost_usd,
            "seconds": row.seconds,
        }
        for member in run.matrix.members:
            cell = row.cells.get(member)
            document |= {f"{member} {name}": getattr(cell, name, None) for name in _CELL_COLUMNS}
        rows.append(document)
    return csv_text([*rows[0]] if rows else ["question"], rows)
