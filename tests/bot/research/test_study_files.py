"""A study's file is refused with the key or the line that is wrong, and what would help."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.research import study_files
from bot.research.study_files import (
    REPLIES,
    StudyFolder,
    read_study_file,
)
from council.errors import CouncilError, StudyError, StudyFileError
from tests.bot.homes import Home, Result
from tests.bot.research.study_folders import questions, run_study, study_toml, write_study


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path).with_config("").with_tables()


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        pytest.param("name = ", "small.toml is not valid TOML: ", id="toml"),
        pytest.param(study_toml(most_drawn=3), "small.toml: most_drawn: ", id="unknown-field"),
        pytest.param(
            study_toml(panel='chair = "x"'), "small.toml: panels.house.chair: ", id="panel-field"
        ),
        pytest.param(study_toml(usd=None), "small.toml: usd: ", id="no-cap"),
        pytest.param(study_toml(usd=0), "small.toml: usd: ", id="zero-cap"),
        pytest.param(study_toml(arms=["best", "worst"]), "small.toml: arms.1: ", id="unknown-arm"),
        pytest.param(study_toml(arms=["council"]), "small.toml: arms: ", id="one-arm"),
        pytest.param(study_toml(arms=["best", "draws"]), "arms: a study compares", id="no-council"),
        pytest.param(study_toml(questions="../q.jsonl"), "in the same folder", id="elsewhere"),
        pytest.param(study_toml(questions="result.json"), "in the same folder", id="own-file"),
        pytest.param(study_toml(questions="none.jsonl"), "Can't read ", id="no-questions"),
        pytest.param(study_toml(most_draws=0), "small.toml: most_draws: ", id="draws"),
    ],
)
def test_a_fault_of_the_file_names_the_key(home: Home, toml: str, says: str) -> None:
    result = run_study_with(home, toml)

    assert result.code == 2
    assert says in result.err
    assert not (home.folder / "out").exists()


def run_study_with(home: Home, toml: str = "", asked: str = "") -> Result:
    write_study(home, toml, asked)
    return run_study(home)


def test_an_unknown_field_lists_the_known_ones(home: Home) -> None:
    result = run_study_with(home, study_toml(most_drawn=3))

    assert "A study has name, questions, seed, arms, usd, question_usd, most_draws" in result.err


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        pytest.param(questions(3), "a study needs at least 4", id="too-few"),
        pytest.param(
            questions() + '{"question": "Why?"}\n', "question 5 has no answer", id="no-answer"
        ),
        pytest.param(
            questions() + '{"question": "Why?", "rubric": "It says why."}\n',
            "question 5 has no answer that code can check",
            id="rubric",
        ),
        pytest.param(
            questions() + '{"question": "Why?", "answer": "a", "grading": "syllables"}\n',
            "has an unknown grading 'syllables'",
            id="missing-grader",
        ),
        pytest.param(questions() + "{\n", "Line 5", id="broken-line"),
    ],
)
def test_a_fault_of_the_questions_names_the_line_or_the_question(
    home: Home, asked: str, says: str
) -> None:
    result = run_study_with(home, asked=asked)

    assert result.code == 2
    assert says in result.err
    assert "q.jsonl" in result.err


@pytest.mark.parametrize(
    ("members", "panel", "says"),
    [
        ([], "", "panels.house: it has no members"),
        (["scripted/random-1"], "", "panels.house: "),
        (["scripted/random-1", "scripted/random-1"], "", "includes 'scripted/random-1' twice"),
        (["scripted/random-1", "scripted/random-2"], 'method = "none"', "panels.house: There is"),
        (["mine", "scripted/random-2"], "", "There is no model 'mine'"),
        (["local/smollm2-135m", "scripted/random-2"], "", "Add --local"),
    ],
)
def test_a_fault_of_a_panel_names_it(home: Home, members: list[str], panel: str, says: str) -> None:
    result = run_study_with(home, study_toml(members, panel))

    assert result.code == 2
    assert says in result.err


def test_every_file_has_a_limit_that_is_checked_first(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_study(home)
    assert run_study(home).code == 0
    folder = StudyFolder(home.folder / "out")

    def refused(name: str, read: Callable[[], object]) -> None:
        monkeypatch.setattr(study_files, name, 10)
        with pytest.raises(StudyFileError, match="is too large: the limit is 10 bytes"):
            read()
        monkeypatch.undo()

    refused("MAX_STUDY_BYTES", lambda: read_study_file(path))
    refused("MAX_BYTES", lambda: read_study_file(path))
    refused("MAX_REPLIES_BYTES", folder.read)
    refused("MAX_RESULT_BYTES", folder.read_result)
    monkeypatch.setattr(study_files, "MAX_LINE_BYTES", 200)
    assert folder.read().faults


def test_one_process_at_a_time_runs_a_study(tmp_path: Path) -> None:
    with (
        StudyFolder(tmp_path / "out").locked(),
        pytest.raises(StudyError, match="Another process is running the study"),
        StudyFolder(tmp_path / "out").locked(),
    ):
        pass


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")

    with pytest.raises(StudyError, match="Can't write to"), StudyFolder(tmp_path / "out").locked():
        pass


def test_a_reply_that_cannot_be_stored_ends_the_study(home: Home) -> None:
    write_study(home)
    assert run_study(home).code == 0
    folder = StudyFolder(home.folder / "out")
    replies = folder.read()
    (folder.path / REPLIES).unlink()
    (folder.path / REPLIES).mkdir()

    with pytest.raises(StudyError, match="Make room, then resume"):
        folder.save(replies, replies.calls[0])
    with pytest.raises(CouncilError, match="Can't read"):
        folder.read()
