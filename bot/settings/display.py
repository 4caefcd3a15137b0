"""How a model is called towards people, where nobody says it."""

import re

_CAPITALS = {"gpt": "GPT", "glm": "GLM", "qwq": "QwQ", "smollm2": "SmolLM2", "deepseek": "DeepSeek"}


def display_name(key: str) -> str:
    """Give a readable name: "Claude Sonnet 4.6" for "anthropic/claude-sonnet-4-6"."""
    words = re.split(r"[-_ ]+", key.rsplit("/", 1)[-1].rsplit(":", 1)[0])
    merged: list[str] = []
    for word in words:
        if merged and re.fullmatch(r"\d", word) and re.fullmatch(r"\d", merged[-1]):
            merged[-1] += f".{word}"
        else:
            merged.append(_CAPITALS.get(word, _capital(word)))
    return " ".join(merged).replace("GPT ", "GPT-")


def _capital(word: str) -> str:
    return word.upper() if re.fullmatch(r"\d+b", word) else word[:1].upper() + word[1:]
