"""The family of a model follows from its id."""

import pytest

from council.model_families import Family, all_families, family_of

MODELS = {
    "openai/gpt-5.1": "openai",
    "gpt-4o-mini": "openai",
    "openai/o3-mini": "openai",
    "o1": "openai",
    "azure/gpt-oss-120b": "openai",
    "openrouter/openai/chatgpt-4o-latest": "openai",
    "anthropic/claude-sonnet-4-6": "anthropic",
    "bedrock/anthropic.claude-v2": "anthropic",
    "vertex_ai/claude-opus-4-5": "anthropic",
    "gemini/gemini-3-pro": "google",
    "ollama/gemma3:4b": "google",
    "vertex_ai/text-bison-palm": "google",
    "groq/llama-3.3-70b-versatile": "meta",
    "together_ai/meta-llama/Llama-4-Scout-17B": "meta",
    "bedrock/us.meta.llama3-1-8b": "meta",
    "nvidia_nim/nvidia/llama-3.1-nemotron-70b": "nvidia",
    "nvidia/nemotron-3": "nvidia",
    "mistral/mistral-large-2512": "mistral",
    "mistral/open-mixtral-8x22b": "mistral",
    "mistral/codestral-latest": "mistral",
    "mistral/mistral-nemo": "mistral",
    "ollama/qwen3": "qwen",
    "dashscope/qwq-32b": "qwen",
    "deepseek/deepseek-chat": "deepseek",
    "deepseek/deepseek-r1": "deepseek",
    "ollama/deepseek-r1-distill-qwen-7b": "qwen",
    "groq/deepseek-r1-distill-llama-70b": "meta",
    "xai/grok-4": "xai",
    "groq/compound-beta": "unknown:groq",
    "cohere/command-r-plus": "cohere",
    "azure/phi-4": "microsoft",
    "ollama/phi3:mini": "microsoft",
    "ollama/dolphin-mixtral": "mistral",
    "ollama/smollm2:360m": "huggingface",
    "bedrock/amazon.nova-pro-v1:0": "amazon",
    "moonshot/kimi-k2": "moonshot",
    "zai/glm-4.6": "zhipu",
    "minimax/MiniMax-M2": "minimax",
    "01ai/yi-large": "01-ai",
    "ai21/jamba-large": "ai21",
    "watsonx/ibm/granite-4": "ibm",
    "allenai/olmo-2": "allenai",
    "perplexity/sonar-pro": "perplexity",
    "writer/palmyra-x5": "writer",
    "local/qwen2.5-0.5b": "qwen",
    "acme/house-blend": "unknown:acme",
    "house-blend": "unknown:house-blend",
}


@pytest.mark.parametrize(("model", "family"), MODELS.items(), ids=MODELS)
def test_the_family_follows_from_the_model_id(model: str, family: str) -> None:
    assert family_of(model) == family


def test_a_route_is_not_a_family() -> None:
    assert family_of("anthropic/house-blend") == "unknown:anthropic"


@pytest.mark.parametrize("family", all_families(), ids=lambda family: family.name)
def test_every_family_has_names_to_mask(family: Family) -> None:
    assert all((*family.names, *family.makers))
    assert family.names
    assert family.makers
