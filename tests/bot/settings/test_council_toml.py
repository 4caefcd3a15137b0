"""council.toml: what it says of panels and seats is what is seated."""

from pathlib import Path

import pytest

from bot.settings import PanelConfig, SettingsError, load_panel_config
from council.budget_caps import Caps
from council.panel import Terms
from council.providers import Limits
from council.tally.verdict import outside_judges_needed
from tests.bot.homes import panel_toml, seat_toml

ROOT = Path(__file__).parents[3]
# As the design documents it, whole.
DOCUMENTED = """
default_panel = "house"

[panels.house]
members  = ["openai/gpt-5.1", "anthropic/claude-sonnet-4-6", "gemini/gemini-3-pro", "ollama/qwen3"]
outside_judges = []                 # judges that do not answer
chairman = ["anthropic/claude-sonnet-4-6", "openai/gpt-5.1"]   # in order of fallback
method   = "blind-ranking"
quorum   = 2
answer_seconds = 60                 # a stage, retries and the re-ask included
ballot_seconds = 60
synthesis_seconds = 60              # each chairman
audit_share = 0.0
answer_temperature = 1.0            # where the model takes one; ballots and synthesis likewise
rubric   = "default"
max_round_usd = 0.50

[models."ollama/qwen3"]             # optional, a model
api_base = "http://127.0.0.1:11434" # passed as it is (an OpenAI-compatible one includes /v1)
family   = "qwen"
display  = "Qwen 3"
api_key_env = "MY_KEY"

[models."qwen-warm"]                # a seat of its own for a model that sits twice
model = "ollama/qwen3"
temperature = 1.0

[access]      # who may ask, where, how often, and what it may cost
[retention]   # how long texts are kept
[suites.sql]
questions = ["Why?", "How?"]        # or file = "sql.csv" / .jsonl / .yaml
"""


def house_panel(folder: Path, text: str) -> PanelConfig:
    path = folder / "council.toml"
    path.write_text(text, encoding="utf-8")
    return load_panel_config(path)


def test_the_documented_file_is_read_as_documented(tmp_path: Path) -> None:
    found = house_panel(tmp_path, DOCUMENTED)

    panel = found.panels["house"]
    assert found.default == "house"
    assert [seat.key for seat in panel.members] == [
        "openai/gpt-5.1",
        "anthropic/claude-sonnet-4-6",
        "gemini/gemini-3-pro",
        "ollama/qwen3",
    ]
    assert [seat.key for seat in panel.chairmen] == [
        "anthropic/claude-sonnet-4-6",
        "openai/gpt-5.1",
    ]
    assert panel.terms == Terms(audit_share=0, max_round_usd=0.5)


def test_agreement_in_the_examples_panel_is_more_than_chance() -> None:
    config = load_panel_config(ROOT / "council.toml.example")

    panel = config.panels["house"]
    assert (len(panel.members), len(panel.outside_judges)) == (5, 1)
    assert outside_judges_needed(5, 1) == 0


def test_limits_come_from_their_sections_or_the_defaults(
    tmp_path: Path,
) -> None:
    text = "[providers.openai]\nconcurrency = 8\nrequests_per_minute = 60\n"
    text += '[providers."127.0.0.1:8080"]\nrequests_per_minute = 5\n'

    assert house_panel(tmp_path, text).limits == {
        "openai": Limits(8, 60),
        "127.0.0.1:8080": Limits(20, 5),
    }


def test_an_empty_file_has_no_panels(tmp_path: Path) -> None:
    assert house_panel(tmp_path, "") == PanelConfig()


def test_the_first_panel_is_the_default(tmp_path: Path) -> None:
    text = panel_toml(["scripted/random", "scripted/b"])

    assert house_panel(tmp_path, text).default == "house"


def test_a_seat_is_what_its_section_says(tmp_path: Path) -> None:
    section = {
        "model": "openai/qwen3",
        "api_base": "http://models.example:8000/v1",
        "api_key_env": "MY_KEY",
        "display": "Our Qwen",
        "family": "house",
        "temperature": 0.4,
    }
    found = house_panel(tmp_path, panel_toml(["warm", "openai/b"]) + seat_toml("warm", **section))

    seat = found.seats["warm"]
    assert (seat.member.key, seat.member.model_id) == ("warm", "openai/qwen3")
    assert (seat.member.display, seat.member.family) == ("Our Qwen", "house")
    assert seat.member.temperature == 0.4
    assert seat.member.receiver == "models.example"
    assert seat.section.api_base == "http://models.example:8000/v1"
    assert seat.section.api_key_env == "MY_KEY"


def test_a_seat_without_a_section_is_named_after_its_model(tmp_path: Path) -> None:
    found = house_panel(tmp_path, panel_toml(["anthropic/claude-sonnet-4-6", "openai/gpt-5.1"]))

    member = found.seats["anthropic/claude-sonnet-4-6"].member
    assert (member.display, member.family) == ("Claude Sonnet 4.6", "anthropic")


def test_a_panels_terms_are_read_from_its_section(tmp_path: Path) -> None:
    terms = {"quorum": 1, "answer_seconds": 5, "ballot_temperature": 0.7, "audit_share": 0}
    found = house_panel(tmp_path, panel_toml(["openai/a", "openai/b"], **terms))

    assert found.panels["house"].terms == Terms(
        quorum=1, answer_seconds=5, ballot_temperature=0.7, audit_share=0
    )


def test_texts_are_kept_for_ever_unless_a_number_of_days_is_named(tmp_path: Path) -> None:
    assert house_panel(tmp_path, "").texts_days is None
    assert house_panel(tmp_path, "[retention]\n").texts_days is None
    assert house_panel(tmp_path, "[retention]\ntexts_days = 90\n").texts_days == 90


@pytest.mark.parametrize(
    ("section", "fault"),
    [
        ("[retention]\ntexts_days = 0", "council.toml: retention.texts_days: "),
        ("[retention]\ndays = 3", "council.toml: retention.days: "),
        ("retention = 3", "council.toml: retention: "),
    ],
)
def test_a_wrong_retention_is_named(tmp_path: Path, section: str, fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        house_panel(tmp_path, section)


def test_a_rubric_of_ones_own_reaches_the_panel(tmp_path: Path) -> None:
    text = panel_toml(["openai/a", "openai/b"], rubric="short")
    found = house_panel(tmp_path, text + '[rubrics.short]\ncriteria = ["Shorter is better."]\n')

    rubric = found.panels["house"].rubric
    assert (rubric.name, rubric.criteria) == ("short", ("Shorter is better.",))


def test_outside_judges_and_chairmen_may_be_seats_of_their_own(tmp_path: Path) -> None:
    text = panel_toml(["openai/a", "openai/b"], outside_judges=["cold"], chairman=["cold"])
    found = house_panel(tmp_path, text + seat_toml("cold", model="openai/c", temperature=0.0))

    panel = found.panels["house"]
    assert [seat.key for seat in panel.outside_judges] == ["cold"]
    assert panel.chairmen == panel.outside_judges


def test_caps_are_read_in_dollars_and_kept_exactly(tmp_path: Path) -> None:
    text = """
    [budgets]
    day_usd = 5
    user_day_usd = 0.1
    workspace_day_usd = 2
    unknown_prices = "forbidden"
    """

    caps = house_panel(tmp_path, text).caps

    assert caps == Caps(
        day=5_000_000, user_day=100_000, workspace_day=2_000_000, unknown_prices=False
    )


def test_without_budgets_nothing_is_capped(tmp_path: Path) -> None:
    assert house_panel(tmp_path, "").caps == Caps()


def test_how_many_rounds_of_a_bake_off_go_at_once_is_set(tmp_path: Path) -> None:
    file = tmp_path / "council.toml"
    file.write_text("[bakeoffs]\nrounds_at_once = 4\n")

    assert load_panel_config(file).bakeoff_rounds == 4
    assert load_panel_config(None).bakeoff_rounds == 2


def test_a_bake_off_without_rounds_is_a_fault(tmp_path: Path) -> None:
    file = tmp_path / "council.toml"
    file.write_text("[bakeoffs]\nrounds_at_once = 0\n")

    with pytest.raises(SettingsError, match=r"council\.toml: bakeoffs\.rounds_at_once"):
        load_panel_config(file)
