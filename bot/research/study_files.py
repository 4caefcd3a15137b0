"""Files of a study: the TOML that fixes it, and the folder with its replies and its result.

`replies.jsonl` has one line for each call; the digest of a line covers that of the one before it.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from tomllib import TOMLDecodeError, loads
from typing import Any

from filelock import FileLock, Timeout
from pydantic import Field, TypeAdapter, ValidationError

from bot.bakeoffs.file_parsers import MAX_BYTES
from bot.bakeoffs.suite_files import parse_suite_file
from bot.cli.output import write_file
from bot.settings.council_toml import Section, SettingsError, validation_faults
from council.bakeoffs.models import Suite
from council.digests import canonical_json, json_digest
from council.errors import CouncilError, StudyError, StudyFileError
from council.methods import check_panel_rules
from council.money import cap_micro_usd
from council.panel import Member, Panel, Terms
from council.prompts.shared import DEFAULT_RUBRIC
from council.registry import Registry
from council.research.study import MAX_DRAWS, Arm, StoredCall, Study

STUDY, REPLIES, RESULT = "study.toml", "replies.jsonl", "result.json"
MAX_STUDY_BYTES = 100_000
MAX_LINE_BYTES = 5_000_000
MAX_REPLIES_BYTES = 1_000_000_000
MAX_RESULT_BYTES = 50_000_000
MIN_QUESTIONS = 4
MAX_PANELS = 4
_CALL = TypeAdapter(StoredCall)
_NAME = re.compile(r"[\w][\w. -]{0,79}")


# --- What a study is


class StudyPanelSection(Section):
    """A panel of a study; the defaults are those of `council.panel.Terms`."""

    members: tuple[str, ...]
    outside_judges: tuple[str, ...] = ()
    chairman: str | None = None
    method: str = "blind-ranking"
    answer_seconds: float = Field(60, gt=0)
    ballot_seconds: float = Field(60, gt=0)
    synthesis_seconds: float = Field(60, gt=0)
    answer_temperature: float | None = Field(1.0, ge=0)
    ballot_temperature: float | None = Field(0.0, ge=0)
    synthesis_temperature: float | None = Field(0.3, ge=0)

    @property
    def keys(self) -> tuple[str, ...]:
        """The seats that are asked; without a chairman, the first member writes."""
        return (*self.members, *self.outside_judges, *([self.chairman] if self.chairman else []))


class StudySection(Section):
    """What a study's file may say."""

    name: str = Field(min_length=1, max_length=80)
    questions: str
    seed: str = Field(min_length=1, max_length=200)
    arms: tuple[Arm, ...] = tuple(Arm)
    usd: float = Field(gt=0)
    question_usd: float = Field(gt=0)
    most_draws: int = Field(25, ge=1, le=MAX_DRAWS)
    panels: dict[str, StudyPanelSection] = Field(min_length=1, max_length=MAX_PANELS)


@dataclass(frozen=True, slots=True)
class StudyFile:
    """A study's file and its questions, as people wrote them."""

    section: StudySection
    content: bytes
    questions: bytes

    @property
    def contents(self) -> dict[str, bytes]:
        """The contents of both files, by their names in the folder."""
        return {STUDY: self.content, self.section.questions: self.questions}

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of both files."""
        return {name: sha256(content).hexdigest() for name, content in self.contents.items()}

    @property
    def seats(self) -> tuple[str, ...]:
        """The keys of all seats, once each."""
        return tuple(dict.fromkeys(key for x in self.section.panels.values() for key in x.keys))


def read_study_file(path: Path) -> StudyFile:
    """Return a study's file with its questions, which are next to it.

    Raise SettingsError with every fault and its key or line, StudyFileError for other faults.
    """
    content = read_limited(path, MAX_STUDY_BYTES)
    try:
        section = StudySection.model_validate(loads(content.decode()))
    except (TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyFileError(f"{path.name} is not valid TOML: {error}.") from None
    except ValidationError as error:
        known = ", ".join(StudySection.model_fields)
        of_panels = ", ".join(StudyPanelSection.model_fields)
        faults = validation_faults(error, f"{path.name}: ")
        raise SettingsError([*faults, f"A study has {known}; a panel has {of_panels}."]) from None
    name = section.questions
    if not _NAME.fullmatch(name) or name in {STUDY, REPLIES, RESULT}:
        raise StudyFileError(
            f"{path.name}: questions: {name[:80]!r} can't be the file of the questions. Name a "
            "file in the same folder, such as questions.jsonl."
        )
    if Arm.COUNCIL not in section.arms or len({*section.arms}) < 2:  # noqa: PLR2004
        raise StudyFileError(
            f"{path.name}: arms: a study compares council with at least one of "
            f"{', '.join(arm for arm in Arm if arm is not Arm.COUNCIL)}."
        )
    return StudyFile(section, content, read_limited(path.parent / name, MAX_BYTES))


def parse_questions(file: StudyFile, registry: Registry) -> Suite:
    """Return a study's questions; raise SuiteError or StudyFileError naming the line or question.

    Each needs an answer that code can check.
    """
    name = file.section.questions
    suite = parse_suite_file("study", name, file.questions, registry=registry)
    if len(suite.questions) < MIN_QUESTIONS:
        raise StudyFileError(
            f"{name} has {len(suite.questions)} questions, and a study needs at least "
            f"{MIN_QUESTIONS}, so that a member can be picked on one half. Add some."
        )
    for number, question in enumerate(suite.questions, start=1):
        if not question.is_graded or question.rubric:
            raise StudyFileError(
                f"{name}: question {number} has no answer that code can check. Give it an "
                "`answer`, and a `grading` such as number, exact or choice."
            )
    return suite


def read_limited(path: Path, limit: int) -> bytes:
    """Return a file's bytes; raise StudyFileError if it can't be read or is too large."""
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise StudyFileError(f"Can't read {path}: {error.strerror}.") from None
    if len(content) > limit:
        raise StudyFileError(f"{path} is too large: the limit is {limit:,} bytes.")
    return content


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of the replies: what else is fixed when a study begins."""

    files: dict[str, str]
    seats: dict[str, Member]
    versions: dict[str, str]
    contexts: dict[str, int | None]
    began: datetime


_HEADER = TypeAdapter(Header)


def make_study(file: StudyFile, header: Header, registry: Registry) -> Study:
    """Return the study of a file and of what was fixed when it began.

    Raise StudyFileError or SuiteError for questions or panels that can't be used.
    """
    section = file.section
    return Study(
        name=section.name,
        seed=section.seed,
        suite=parse_questions(file, registry),
        panels=make_panels(file, header.seats, registry),
        arms=tuple(arm for arm in Arm if arm in section.arms),
        cap_micro=cap_micro_usd(section.usd),
        question_cap_micro=cap_micro_usd(section.question_usd),
        most_draws=section.most_draws,
        files=tuple(sorted(header.files.items())),
        versions=tuple(sorted(header.versions.items())),
        began=header.began,
        contexts=tuple(sorted(header.contexts.items())),
        registry=registry,
    )


def make_panels(
    file: StudyFile, seats: Mapping[str, Member], registry: Registry
) -> tuple[Panel, ...]:
    """Return a study's panels; raise StudyFileError, naming the panel, for one that has faults."""
    panels = []
    for name, section in file.section.panels.items():
        terms = {x: getattr(section, x) for x in Terms.__dataclass_fields__ if hasattr(section, x)}
        try:
            panel = Panel(
                name,
                tuple(seats[key] for key in section.members),
                DEFAULT_RUBRIC,
                tuple(seats[key] for key in section.outside_judges),
                chairmen=(seats[section.chairman or section.members[0]],),
                terms=Terms(**terms, audit_share=0.0),
            )
            check_panel_rules(panel, registry)
        except IndexError:
            raise StudyFileError(f"{STUDY}: panels.{name}: it has no members. Name two.") from None
        except KeyError as error:
            raise StudyFileError(f"{STUDY}: panels.{name}: {error} has no seat.") from None
        except CouncilError as error:
            raise StudyFileError(f"{STUDY}: panels.{name}: {error}") from None
        panels.append(panel)
    return tuple(panels)


# --- The folder


@dataclass(slots=True)
class Replies:
    """The lines of `replies.jsonl`: the header, the calls, and what is wrong with them.

    `size` is where the last whole line ends; a line after it was cut.
    """

    header: Header | None = None
    calls: list[StoredCall] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of the lines of the calls
    lines: int = 0
    head: str = ""
    size: int = 0
    faults: list[str] = field(default_factory=list)
    is_cut: bool = False

    def line_of(self, call: StoredCall) -> int:
        """Return the number of a call's line."""
        place = next(place for place, one in enumerate(self.calls) if one is call)
        return self.numbers[place]


class StudyFolder:
    """The folder of a study."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def has_begun(self) -> bool:
        """Whether a study began here."""
        return (self.path / REPLIES).exists()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from running the study; raise StudyError if one does."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path / ".lock", timeout=0):
                yield
        except Timeout:
            raise StudyError(
                f"Another process is running the study in {self.path}. Wait until it ends."
            ) from None
        except OSError as error:
            raise StudyError(f"Can't write to {self.path}: {error.strerror}.") from error

    def begin(self, file: StudyFile, header: Header) -> Replies:
        """Store the files and the first line."""
        for name, content in file.contents.items():
            write_file(self.path / name, content)
        replies = Replies(header=header)
        self._append(replies, {"study": _HEADER.dump_python(header, mode="json")})
        return replies

    def save(self, replies: Replies, call: StoredCall) -> None:
        """Store a call as the next line, on disk before this returns."""
        self._append(replies, {"call": _CALL.dump_python(call, mode="json", exclude_defaults=True)})
        replies.calls.append(call)
        replies.numbers.append(replies.lines)

    def _append(self, replies: Replies, content: Mapping[str, object]) -> None:
        record = {**content, "line": replies.lines + 1}
        digest = json_digest([replies.head, record])
        line = f"{canonical_json({**record, 'digest': digest})}\n".encode()
        try:
            with (self.path / REPLIES).open("ab", buffering=0) as file:
                file.truncate(replies.size)  # without a line that was cut
                file.write(line)
                os.fsync(file.fileno())
        except OSError as error:
            raise StudyError(
                f"Can't write {self.path / REPLIES}: {error.strerror}. Make room, then resume."
            ) from error
        replies.lines += 1
        replies.head, replies.size = digest, replies.size + len(line)

    def read(self) -> Replies:
        """Return the lines; raise StudyFileError if there is no file, or it is too large."""
        path, replies = self.path / REPLIES, Replies()
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_size > MAX_REPLIES_BYTES:
                    raise StudyFileError(
                        f"{path} is too large: the limit is {MAX_REPLIES_BYTES:,} bytes."
                    )
                while line := file.readline(MAX_LINE_BYTES + 1):
                    _read_line(line, replies)
        except OSError as error:
            raise StudyFileError(
                f"Can't read {path}: {error.strerror}. Name the folder of a study."
            ) from None
        return replies

    def read_file(self) -> StudyFile:
        """Return the study's file and questions as they are in the folder."""
        return read_study_file(self.path / STUDY)

    def write_result(self, result: Mapping[str, object]) -> None:
        """Store the result."""
        write_file(self.path / RESULT, f"{json.dumps(result, indent=1)}\n".encode())

    def read_result(self) -> object:
        """Return the stored result; raise StudyFileError if there is none that can be read."""
        content = read_limited(self.path / RESULT, MAX_RESULT_BYTES)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise StudyFileError(f"{RESULT} is not valid JSON.") from None


def _read_line(line: bytes, replies: Replies) -> None:
    """Add a line to what was read; note what is wrong with it."""
    number = replies.lines + 1
    where = f"{REPLIES}, line {number}"
    if not line.endswith(b"\n"):
        replies.is_cut = True
        replies.faults.append(f"{where} is cut off.")
        return
    replies.lines, replies.size = number, replies.size + len(line)
    try:
        record: dict[str, Any] = json.loads(line)
        digest = str(record.pop("digest"))
        if record["line"] != number or digest != json_digest([replies.head, record]):
            replies.faults.append(f"{where} was changed, or does not follow the line before it.")
        replies.head = digest
        if number == 1:
            replies.header = _HEADER.validate_python(record["study"])
        else:
            call = _CALL.validate_python(record["call"])
            replies.calls.append(call)
            replies.numbers.append(number)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, CouncilError):
        replies.faults.append(f"{where} can't be read.")
