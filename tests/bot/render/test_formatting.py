"""Numbers, durations, money, lists, seat names and plain-text tables."""

from dataclasses import replace

import pytest

from bot.chat import Table
from bot.render.formatting import (
    count_noun,
    duration,
    join_words,
    money,
    monospace_table,
    number_word,
    points,
    seat_names,
    spending_text,
)
from bot.settings.council_toml import display_name
from council.money import Spending, sum_or_none
from tests.builders import CLAUDE, GPT, a_panel


@pytest.mark.parametrize(
    ("usd", "reads"),
    [
        pytest.param(None, "cost unknown", id="unknown"),
        pytest.param(0.0, "$0", id="free"),
        pytest.param(0.043, "$0.043", id="cents"),
        pytest.param(0.01, "$0.010", id="one-cent"),
        pytest.param(0.00042, "$0.00042", id="less-than-a-cent"),
        pytest.param(0.0000042, "$0.0000042", id="no-powers-of-ten"),
        pytest.param(1.2, "$1.20", id="dollars"),
        pytest.param(12.345, "$12.35", id="many-dollars"),
    ],
)
def test_money_has_significant_digits(usd: float | None, reads: str) -> None:
    assert money(usd) == reads


@pytest.mark.parametrize(
    ("seconds", "reads"),
    [
        pytest.param(0.04, "0.0 s", id="at-once"),
        pytest.param(4.12, "4.1 s", id="some"),
        pytest.param(21.4, "21 s", id="tens"),
        pytest.param(9.97, "10 s", id="rounded-before-the-unit"),
        pytest.param(59.7, "1 min", id="rounded-to-a-minute"),
        pytest.param(125, "2 min 5 s", id="minutes"),
    ],
)
def test_a_duration_has_a_fitting_unit(seconds: float, reads: str) -> None:
    assert duration(seconds) == reads


def test_numbers_and_lists_read_as_in_a_sentence() -> None:
    assert (points(3.5, 6), points(5.0, 6), points(0.0, 0)) == ("3.5 of 6", "5 of 6", "0 of 0")
    assert points(25 / 3, 16) == "8.33 of 16"
    assert [count_noun(n, "ballot") for n in (0, 1, 2)] == ["0 ballots", "1 ballot", "2 ballots"]
    assert [number_word(number) for number in (0, 3, 10, 11)] == ["no", "three", "ten", "11"]
    assert [join_words(x.split()) for x in ("A", "A B", "A B C")] == ["A", "A and B", "A, B and C"]


def test_one_unknown_amount_makes_the_sum_unknown() -> None:
    assert sum_or_none([0.01, None, 0.02]) is None
    assert sum_or_none([0.25, 0.5]) == 0.75
    assert sum_or_none([]) is None


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("anthropic/claude-sonnet-4-6", "Claude Sonnet 4.6"),
        ("anthropic/claude-opus-4-1", "Claude Opus 4.1"),
        ("claude-haiku", "Claude Haiku"),
        ("openai/gpt-5.1", "GPT-5.1"),
        ("openai/gpt-4o-mini", "GPT-4o Mini"),
        ("openai/gpt-4o", "GPT-4o"),
        ("gemini/gemini-3-pro", "Gemini 3 Pro"),
        ("gemini/gemini-3-pro-preview", "Gemini 3 Pro Preview"),
        ("gemini/gemini-2.5-flash", "Gemini 2.5 Flash"),
        ("deepseek/deepseek-chat", "DeepSeek Chat"),
        ("xai/grok-4", "Grok 4"),
        ("mistral/mistral-large-latest", "Mistral Large Latest"),
        ("ollama/qwen3:8b", "Qwen3"),
        ("ollama/smollm2:135m", "SmolLM2"),
        ("zai/glm-4.6", "GLM 4.6"),
        ("openrouter/meta-llama/llama-3-70b", "Llama 3 70B"),
        ("groq/qwq-32b", "QwQ 32B"),
        ("cohere/command-r", "Command R"),
        ("some_local_model", "Some Local Model"),
        ("scripted/random", "Random"),
    ],
)
def test_a_model_id_reads_as_a_name(model: str, name: str) -> None:
    assert display_name(model) == name


def test_seats_that_share_a_name_show_their_keys() -> None:
    panel = a_panel(3, chairmen=["xai/grok-4"])
    twin = replace(panel.members[1], display=panel.members[0].display)
    panel = replace(panel, members=(panel.members[0], twin, panel.members[2]))

    names = seat_names(panel)

    assert names[CLAUDE] == f"Claude Sonnet 4.6 ({CLAUDE})"
    assert names[GPT] == f"Claude Sonnet 4.6 ({GPT})"
    assert names[panel.members[2].key] == "Gemini 3 Pro"
    assert names["xai/grok-4"] == "Grok 4"


def test_columns_line_up_where_characters_are_wide() -> None:
    table = Table(("名前", "n"), (("a", "1"), ("漢字", "22")), frozenset({1}))

    assert monospace_table(table) == "名前   n\na      1\n漢字  22"


def test_a_long_cell_stays_complete_on_one_line() -> None:
    assert monospace_table(Table(("a", "b"), (("x\n" * 30, "y"),))).endswith("x x  y")


@pytest.mark.parametrize(
    ("spending", "cap", "text"),
    [
        (Spending(), None, "$0 spent"),
        (Spending(13_400), None, "$0.01 spent"),
        (Spending(5_000), None, "$0.0050 spent"),
        (Spending(120_000), 1_500_000, "$0.12 of $1.50 spent"),
        (Spending(193_968), None, "$0.19 spent"),
        (Spending(12_345_678), 20_000_000, "$12.35 of $20.00 spent"),
        (Spending(5_730), None, "$0.0057 spent"),
        (Spending(unknown_calls=34), 2_000_000, "cost unknown for 34 calls"),
        (Spending(120_000, 1), None, "$0.12 spent, cost unknown for 1 call"),
    ],
)
def test_unknown_costs_are_named_and_not_summed(
    spending: Spending, cap: int | None, text: str
) -> None:
    assert spending_text(spending, cap) == text
