"""council.toml: what it says of panels and seats is what is seated."""

from pathlib import Path

from bot.settings import PanelConfig, load_panel_config
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


def test_an_empty_file_has_the_defaults(tmp_path: Path) -> None:
    found = house_panel(tmp_path, "[retention]\n")

    assert found == load_panel_config(None) == PanelConfig()
    assert (found.texts_days, found.caps, found.sections) == (None, Caps(), {})


def test_a_panel_has_the_terms_rubric_judges_and_chairmen_of_its_section(tmp_path: Path) -> None:
    terms = {"quorum": 1, "answer_seconds": 5, "ballot_temperature": 0.7, "audit_share": 0}
    text = panel_toml(
        ["openai/a", "openai/b"], rubric="short", outside_judges=["c"], chairman=["c"], **terms
    )
    text += seat_toml("c", model="openai/c", temperature=0.0)
    found = house_panel(tmp_path, text + '[rubrics.short]\ncriteria = ["Shorter is better."]\n')

    panel = found.panels["house"]
    assert found.default == "house"
    assert panel.terms == Terms(quorum=1, answer_seconds=5, ballot_temperature=0.7, audit_share=0)
    assert (panel.rubric.name, panel.rubric.criteria) == ("short", ("Shorter is better.",))
    assert [seat.key for seat in panel.outside_judges] == ["c"]
    assert panel.chairmen == panel.outside_judges


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
    assert seat.member.receiver == "models.example:8000"
    assert seat.section.api_base == "http://models.example:8000/v1"
    assert seat.section.api_key_env == "MY_KEY"


def test_a_model_sits_as_often_as_it_has_drafts(tmp_path: Path) -> None:
    text = (
        panel_toml(["openai/a", "openai/b"]) + '[models."openai/a"]\ndrafts = 3\nrole = "Doubter"\n'
    )

    found = house_panel(tmp_path, text)

    members = found.panels["house"].members
    assert [seat.key for seat in members] == ["openai/a", "openai/a #2", "openai/a #3", "openai/b"]
    assert len({seat.display for seat in members}) == 4
    assert {seat.family for seat in members[:3]} == {members[0].family}
    assert [seat.role for seat in members] == ["Doubter"] * 3 + [None]
    assert {seat.key for seat in members} <= found.seats.keys()


def test_a_member_has_the_fallback_of_its_section(tmp_path: Path) -> None:
    text = panel_toml(["openai/a", "openai/b"]) + (
        '[models."openai/a"]\nfallback = "mistral/c"\n'
        '[models."mistral/c"]\ndisplay = "C"\nfallback = "openai/d"\n'
    )

    found = house_panel(tmp_path, text)

    stand_in = found.panels["house"].members[0].fallback
    assert stand_in is not None
    assert (stand_in.key, stand_in.display, stand_in.fallback) == ("mistral/c", "C", None)
    assert "mistral/c" in found.seats


def test_a_seat_without_a_section_is_named_after_its_model(tmp_path: Path) -> None:
    found = house_panel(tmp_path, panel_toml(["anthropic/claude-sonnet-4-6", "openai/gpt-5.1"]))

    member = found.seats["anthropic/claude-sonnet-4-6"].member
    assert (member.display, member.family) == ("Claude Sonnet 4.6", "anthropic")


def test_caps_and_days_are_read(tmp_path: Path) -> None:
    text = """
    [retention]
    texts_days = 90
    [budgets]
    day_usd = 5
    user_day_usd = 0.1
    workspace_day_usd = 2
    unknown_prices = "forbidden"
    """

    found = house_panel(tmp_path, text)

    assert found.texts_days == 90
    assert found.caps == Caps(
        day=5_000_000, user_day=100_000, workspace_day=2_000_000, unknown_prices=False
    )
