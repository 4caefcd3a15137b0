"""Folders with small studies, run on members that answer at random."""

import json
from collections.abc import Iterable
from pathlib import Path

from tests.bot.homes import Home, Result

MEMBERS = ("scripted/random-1", "scripted/random-2", "scripted/random-3")


def study_toml(members: Iterable[str] = MEMBERS, panel: str = "", **fields: object) -> str:
    """Return a study's file; a field of None is left out."""
    given = {"name": "Small", "questions": "q.jsonl", "seed": "s", "usd": 1.0, "question_usd": 0.5}
    lines = [
        f"{name} = {json.dumps(value)}"
        for name, value in (given | fields).items()
        if value is not None
    ]
    return "\n".join([*lines, "[panels.house]", f"members = {json.dumps([*members])}", panel, ""])


def questions(count: int = 4) -> str:
    rows = ({"question": f"What is {n}?", "answer": str(n)} for n in range(1, count + 1))
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def write_study(home: Home, toml: str = "", asked: str = "") -> Path:
    """Write a study's file with its questions, and return its path."""
    (home.folder / "q.jsonl").write_text(asked or questions(), encoding="utf-8")
    path = home.folder / "small.toml"
    path.write_text(toml or study_toml(), encoding="utf-8")
    return path


def run_study(home: Home, *options: str) -> Result:
    return home.invoke("lab", "study", "run", "small.toml", "--output", "out", "--yes", *options)
