"""Whatever is changed in a study's folder, verification finds it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from bot.research.studies import recompute, verify_study
from bot.research.study_files import (
    REPLIES,
    REPORT,
    RESULT,
    STUDY,
    Replies,
    StudyFolder,
    make_study,
)
from bot.research.study_report import differences, report_markdown
from council.answers import Role
from council.registry import NO_PLUGINS
from council.research.study import StoredCall
from tests.bot.homes import Home
from tests.bot.research.study_folders import run_study, write_study


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished study."""
    home = Home(tmp_path_factory.mktemp("study")).with_config("").with_tables()
    write_study(home)
    assert run_study(home).code == 0
    return home.folder / "out"


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return copytree(finished, tmp_path / "copy")


async def faults(folder: Path) -> list[str]:
    found, _ = await verify_study(StudyFolder(folder), NO_PLUGINS)
    return found


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    """Yield the path of each value that holds no other."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in items:
        if isinstance(inside, dict | list) and inside:
            yield from leaves(inside, (*path, key))
        else:
            yield (*path, key)


def other(value: object) -> object:
    """Return another value of the same kind."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
    return 1


def changed(document: Any, path: tuple[Any, ...]) -> Any:  # noqa: ANN401
    """Return a document with another value at a path."""
    copy = json.loads(json.dumps(document))
    inside = copy
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = other(inside[path[-1]])
    return copy


async def test_a_finished_study_has_no_fault(folder: Path) -> None:
    assert await faults(folder) == []


async def test_a_change_at_any_field_of_the_replies_is_found_and_its_line_named(
    folder: Path,
) -> None:
    lines = (folder / REPLIES).read_text().splitlines()
    by_part: dict[tuple[str | None, str | None], int] = {}
    for place, line in enumerate(lines):
        slot = json.loads(line).get("call", {}).get("slot", {})
        by_part.setdefault((slot.get("part"), slot.get("role")), place)
    assert len(by_part) == 6  # the header, three roles of a round, fusion, draws

    for place in by_part.values():
        record = json.loads(lines[place])
        for path in leaves(record):
            line = json.dumps(changed(record, path))
            text = "\n".join([*lines[:place], line, *lines[place + 1 :], ""])
            (folder / REPLIES).write_text(text)
            found = StudyFolder(folder).read().faults
            assert any(f"{REPLIES}, line {place + 1} " in fault for fault in found), path
    assert await faults(folder)  # what reading finds is reported


async def test_a_change_at_any_field_of_the_result_is_found_and_named(folder: Path) -> None:
    result = json.loads((folder / RESULT).read_text())
    paths = [path for path in leaves(result) if path[0] != "questions" or path[1] in {0, 3}]
    stored = {path: changed(result, path) for path in paths}

    for path, document in stored.items():
        (folder / RESULT).write_text(json.dumps(document))
        found = await faults(folder) if path == paths[0] else [*differences(document, result)]
        assert len(found) == 1, (path, found)
        assert str(path[-1]) in found[0] or f"[{path[-1]}]" in found[0]


async def test_a_changed_report_is_found_and_its_first_line_named(folder: Path) -> None:
    replies = StudyFolder(folder).read()
    header = replies.header
    assert header
    study = make_study(StudyFolder(folder).read_file(), header, NO_PLUGINS)
    text = report_markdown((await recompute(study, replies))[1])
    lines = text.splitlines()
    lines[4] += " Really."

    for stored, start in (
        (text, ""),
        ("\n".join(lines), "report.md, line 5: stored "),
        (f"{text}\nMore.\n", f"report.md, line {len(lines) + 2}: stored 'More.', recomputed ''."),
        ("", "report.md, line 1: stored '', "),
    ):
        (folder / REPORT).write_text(stored)
        found = await faults(folder)
        assert [fault.startswith(start) for fault in found] == ([True] if start else [])


def drop_line(lines: list[str]) -> list[str]:
    return [*lines[:5], *lines[6:]]


def swap_lines(lines: list[str]) -> list[str]:
    return [*lines[:5], lines[6], lines[5], *lines[7:]]


def repeat_line(lines: list[str]) -> list[str]:
    return [*lines[:6], *lines[5:]]


def drop_end(lines: list[str]) -> list[str]:
    return lines[:-1]


def no_json(lines: list[str]) -> list[str]:
    return [*lines[:5], "{", *lines[6:]]


def no_header(lines: list[str]) -> list[str]:
    return ["[]", *lines[1:]]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (drop_line, "line 6 was changed, or does not follow"),
        (swap_lines, "line 6 was changed, or does not follow"),
        (repeat_line, "line 7 was changed, or does not follow"),
        (drop_end, "replies.lines: stored"),
        (no_json, "line 6 can't be read"),
        (no_header, "no first line that can be read"),
    ],
)
async def test_lines_that_are_missing_moved_or_broken_are_found(
    folder: Path, change: Callable[[list[str]], list[str]], says: str
) -> None:
    lines = (folder / REPLIES).read_text().splitlines()

    (folder / REPLIES).write_text("".join(f"{line}\n" for line in change(lines)))

    assert says in "\n".join(await faults(folder))


async def test_a_last_line_that_was_cut_off_is_found(folder: Path) -> None:
    content = (folder / REPLIES).read_bytes()

    (folder / REPLIES).write_bytes(content[:-20])

    assert any("is cut off" in fault for fault in await faults(folder))


@pytest.mark.parametrize("name", [STUDY, "q.jsonl"])
async def test_a_file_that_was_edited_after_the_run_is_named(folder: Path, name: str) -> None:
    (folder / name).write_text(f"{(folder / name).read_text()}\n")

    assert await faults(folder) == [f"{name} was edited after the study began."]


async def test_a_file_that_can_no_longer_be_used_is_reported_with_its_fault(folder: Path) -> None:
    (folder / STUDY).write_text("name = 1")

    assert "panels: " in "\n".join(await faults(folder))


async def test_a_missing_or_broken_result_is_a_fault(folder: Path) -> None:
    (folder / RESULT).write_text("{")
    broken = await faults(folder)
    (folder / RESULT).unlink()
    missing = await faults(folder)

    assert broken == ["result.json is not valid JSON."]
    assert "Can't read" in missing[0]


def store_again(folder: Path, calls: list[StoredCall]) -> Replies:
    """Store these calls in place of the others, with digests that fit."""
    study = StudyFolder(folder)
    header, file = study.read().header, study.read_file()
    assert header
    (folder / REPLIES).unlink()
    replies = study.begin(file, header)
    for call in calls:
        study.save(replies, call)
    return replies


async def test_a_forged_answer_with_new_digests_is_found(folder: Path) -> None:
    first, *others = StudyFolder(folder).read().calls
    assert first.reply
    forged = replace(first, reply=replace(first.reply, text="Answer: 1"))

    store_again(folder, [first, *others])
    same = await faults(folder)
    store_again(folder, [forged, *others])
    found = await faults(folder)

    assert same == []
    # The judges' prompts have the answer, and their ballots belong to the first one.
    assert any(fault.startswith("result.json: missing: ") for fault in found)


async def test_a_forged_synthesis_with_new_digests_is_found(folder: Path) -> None:
    calls = StudyFolder(folder).read().calls
    place = next(n for n, call in enumerate(calls) if call.slot.role is Role.SYNTHESIS)
    call = calls[place]
    assert call.reply
    forged = replace(call.reply, text=f"Answer: {call.slot.number}")

    store_again(folder, [*calls[:place], replace(call, reply=forged), *calls[place + 1 :]])
    found = await faults(folder)

    assert any(fault.startswith("result.json: replies.head: ") for fault in found)
    assert any(f"questions[{call.slot.number - 1}]." in fault for fault in found)
    assert any("panels.house.arms[" in fault for fault in found)


async def test_a_reply_that_was_added_with_new_digests_is_named(folder: Path) -> None:
    calls = StudyFolder(folder).read().calls

    replies = store_again(folder, [*calls, calls[0]])

    said = f"Line {replies.lines} of the replies answers no call of the study."
    assert said in await faults(folder)
