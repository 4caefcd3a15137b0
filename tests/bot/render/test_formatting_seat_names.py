"""Display names of seats."""

from dataclasses import replace

import pytest

from bot.render.formatting import seat_names
from bot.settings.council_toml import display_name
from tests.builders import CLAUDE, GPT, a_panel


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


def test_seats_that_share_a_name_are_told_apart_by_their_keys() -> None:
    panel = a_panel(3, chairmen=["xai/grok-4"])
    twin = replace(panel.members[1], display=panel.members[0].display)
    panel = replace(panel, members=(panel.members[0], twin, panel.members[2]))

    names = seat_names(panel)

    assert names[CLAUDE] == f"Claude Sonnet 4.6 ({CLAUDE})"
    assert names[GPT] == f"Claude Sonnet 4.6 ({GPT})"
    assert names[panel.members[2].key] == "Gemini 3 Pro"
    assert names["xai/grok-4"] == "Grok 4"
