"""Baseline files: read, compared, and rejected with what to do."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from bot.bakeoffs.leaderboard import compute_changes
from bot.bakeoffs.records import (
    Baseline,
    BaselineError,
    check_comparable,
    read_baseline,
    record_as_json,
)
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import (
    FIRST_VERSION,
    AuthorRecord,
    CouncilRecord,
    Margin,
    PackedRecord,
    Record,
)
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite
from tests.builders import ASKED_AT
from tests.council.bakeoffs.test_record_arrays import ADDED, stored_without

MEMBERS = ("a", "b", "c", "d", "e")


def a_record(number: int, shares: dict[str, float], bakeoff: str) -> PackedRecord:
    suite = a_suite(40)
    margins = tuple(
        Margin(x, y, shares[x] - shares[y], 3, 0.5 + (shares[x] - shares[y]) / 2)
        for i, x in enumerate(MEMBERS)
        for y in MEMBERS[i + 1 :]
    )
    record = Record(
        f"{bakeoff}.{number}",
        ASKED_AT + timedelta(days=int(bakeoff[-1])),
        "house",
        "",
        tuple(AuthorRecord(member, shares[member]) for member in MEMBERS),
        (),
        margins,
        CouncilRecord("a"),
        bakeoff=bakeoff,
        number=number,
        suite=suite.name,
        suite_version=suite.version,
    )
    return pack_record(record)


def a_run(bakeoff: str, fall: float = 0.0) -> list[PackedRecord]:
    """Return forty records in which shares differ by question, and "a" fell by so much."""
    found = []
    for number in range(1, 41):
        sway = 0.05 * ((number * 7) % 5 - 2)
        shares = {m: 0.5 + sway * (1 - i % 2 * 2) for i, m in enumerate(MEMBERS)}
        shares |= {"a": shares["a"] - fall, "b": shares["b"] + fall}
        found.append(a_record(number, shares, bakeoff))
    return found


OLD = record_as_json(a_run("bo:1")[0]._replace(version=0))


def written(folder: Path, records: list[PackedRecord]) -> Path:
    path = folder / "base.json"
    path.write_text(json.dumps({"records": [record_as_json(record) for record in records]}))
    return path


def test_what_is_written_is_read_again_and_an_unknown_number_is_null(tmp_path: Path) -> None:
    records = a_run("bo:1")[:3]
    document = record_as_json(records[0])

    assert read_baseline(written(tmp_path, records)) == Baseline(tuple(records))
    assert None in document["numbers"]
    assert "NaN" not in json.dumps(document)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("no JSON", "is not valid JSON"),
        ("[]", "has no records of a bake-off"),
        ('{"records": [{}]}', "has records that can't be read"),
        (json.dumps({"records": [OLD]}), "was saved by a version that can't be read"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "base.json"
    path.write_text(content)

    with pytest.raises(BaselineError, match=why):
        read_baseline(path)
    with pytest.raises(BaselineError, match="can't be read"):
        read_baseline(tmp_path / "missing.json")


def test_a_baseline_from_before_fields_had_names_is_read(tmp_path: Path) -> None:
    records = a_run("bo:1")
    unnamed = [
        record._replace(shape=json.dumps(json.loads(record.shape)[:2]), version=FIRST_VERSION)
        for record in (stored_without(one, *ADDED) for one in records)
    ]

    before = read_baseline(written(tmp_path, unnamed)).records

    assert compute_changes(a_run("bo:2"), before) == compute_changes(a_run("bo:2"), records)


def test_a_fall_beyond_noise_is_found_against_a_file(tmp_path: Path) -> None:
    before = read_baseline(written(tmp_path, a_run("bo:1"))).records

    changes = compute_changes(a_run("bo:2", fall=0.2), before)
    still = compute_changes(a_run("bo:2"), before)

    assert changes
    assert [move.member for move in changes.worse()] == ["a"]
    assert changes.worse("b") == ()
    assert still
    assert still.worse() == ()


def test_another_version_of_the_suite_is_another_suite() -> None:
    with pytest.raises(BaselineError, match=". Their questions differ, so"):
        check_comparable(Baseline(tuple(a_run("bo:1"))), a_bakeoff(a_suite(3)))

    check_comparable(Baseline(tuple(a_run("bo:1"))), a_bakeoff(a_suite(40)))


def test_a_baseline_of_another_method_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, a_run("bo:1"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"method": "critique"}))

    with pytest.raises(BaselineError, match=r"critique, but this bake-off uses blind"):
        check_comparable(read_baseline(path), a_bakeoff(a_suite(40)))
