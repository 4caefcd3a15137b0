"""Faults of council.toml: all are reported at once, a line for each."""

from pathlib import Path

import pytest

from bot.settings import SettingsError, load_panel_config

SOUND = '[panels.house]\nmembers = ["openai/a", "openai/b"]\n'


def faults(folder: Path, text: str) -> tuple[str, ...]:
    path = folder / "council.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_panel_config(path)
    assert str(caught.value).splitlines() == list(caught.value.faults)
    return caught.value.faults


def test_three_faults_are_three_lines(tmp_path: Path) -> None:
    text = """
    [panels.house]
    members = ["openai/a", "openai/b"]
    rubric = "guessing"
    [panels.night]
    members = ["openai/a", "openai/b"]
    answer_seconds = -1
    [pannels.day]
    """

    found = faults(tmp_path, text)

    assert len(found) == 3
    assert all(fault.startswith("council.toml: ") and fault.endswith(".") for fault in found)
    for word in ("'guessing'", "panels.night.answer_seconds", "pannels"):
        assert sum(word in fault for fault in found) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("[panels.house\n", "council.toml is not valid TOML: ", id="not-toml"),
        (SOUND + "[pannels]\n", "pannels: there is no such section."),
        (SOUND + 'rubric = "mine"\n', "panels.house: there is no rubric 'mine'."),
        (
            f'default_panel = "day"\n{SOUND}',
            ("default_panel: there is no panel 'day'; add it, or name another."),
        ),
        pytest.param(
            SOUND + '[models."openai/a"]\nfallback = "openai/b"\n',
            "Panel 'house' needs 'openai/b' for two seats, since it is also the fallback of "
            "'openai/a'. Name another fallback.",
            id="fallback-with-a-seat",
        ),
        pytest.param(
            SOUND + 'filter = "openai/b"\n',
            "Panel 'house' has 'openai/b' as its filter, but that model also answers or judges and "
            "would check itself. Name another model as the filter.",
            id="filter-with-a-seat",
        ),
        pytest.param(
            SOUND + '[models."openai/a"]\nfallback = "c"\n',
            "panels.house: 'c' is neither a seat of [models] nor a model id",
            id="unknown-fallback",
        ),
        pytest.param(
            SOUND + '[models."openai/a"]\nfallback = "openai/c"\ndrafts = 2\n',
            "models.openai/a: a model with drafts has no fallback; leave out one of both.",
            id="drafts-with-fallback",
        ),
        pytest.param(
            SOUND + '[models."openai/a"]\ndrafts = 10\n',
            "Panel 'house' has 11 members. At most 10 can rank each other, so remove some.",
            id="too-many-drafts",
        ),
        pytest.param(
            '[panels.house]\nmembers = ["openai/a"]\n',
            "Panel 'house' has 1 member(s). A council needs at least two models, so add "
            "another to its members",
            id="panel-of-one",
        ),
        pytest.param(
            '[panels.house]\nmembers = ["openai/a", "openai/a"]\n',
            "Panel 'house' includes 'openai/a' twice",
            id="duplicate-member",
        ),
        pytest.param(
            '[panels.house]\nmembers = ["openai/a", "gpt"]\n',
            "'gpt' is neither a seat of [models] nor a model id with its provider",
            id="no-provider",
        ),
        pytest.param(SOUND + "quorum = 3\n", "a quorum of 3, but 2 members", id="quorum"),
        pytest.param(SOUND + "answer_secs = 3\n", "panels.house.answer_secs: ", id="typing-error"),
        pytest.param('[panels]\nhouse = "x"\n', "panels.house", id="no-table"),
        ("panels = 1\n", "panels: it must be written as [panels.NAME]."),
        pytest.param(SOUND + "[models.x]\ntemprature = 1\n", "models.x.temprature: ", id="model"),
        pytest.param(SOUND + "[budgets]\nday = 5\n", "budgets.day: ", id="budget-typing-error"),
        pytest.param(SOUND + "[budgets]\nday_usd = -1\n", "budgets.day_usd: ", id="negative"),
        pytest.param(SOUND + "[budgets]\nday_usd = inf\n", "budgets.day_usd: ", id="endless"),
        (SOUND + '[budgets]\nunknown_prices = "maybe"\n', "budgets.unknown_prices: "),
        pytest.param("budgets = 5\n", "council.toml: budgets", id="budgets-no-table"),
        (SOUND + "[providers.openai]\nconcurrency = 0\n", "providers.openai.concurrency: "),
        (SOUND + "[rubrics.mine]\ncriteria = []\n", "rubrics.mine.criteria: "),
        pytest.param("[retention]\ntexts_days = 0", "retention.texts_days: ", id="no-days"),
        pytest.param("retention = 3", "council.toml: retention: ", id="no-retention"),
    ],
)
def test_a_fault_is_one_line_that_says_where_it_is(tmp_path: Path, text: str, said: str) -> None:
    found = faults(tmp_path, text)

    assert len(found) == 1
    assert said in found[0]
    assert not found[0].endswith("..")
    assert ".: " not in found[0]


def test_a_file_that_is_no_text_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "council.toml"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingsError, match="is not valid TOML"):
        load_panel_config(path)
    with pytest.raises(SettingsError, match="cannot be read: Is a directory"):
        load_panel_config(tmp_path)


def test_a_wrong_key_hides_no_other_fault_of_its_section(tmp_path: Path) -> None:
    found = faults(tmp_path, '[panels.trio]\nmembers = ["openai/a"]\nquorumm = 3\nquorum = "x"\n')

    said = "\n".join(found)
    for part in ("quorumm", "panels.trio.quorum: ", "at least two models"):
        assert part in said


def test_another_name_in_a_lab_is_a_fault(tmp_path: Path) -> None:
    [fault] = faults(tmp_path, f"{SOUND}[panels.house.lab]\nquorum = 3\n")

    assert "panels.house.lab" in fault
