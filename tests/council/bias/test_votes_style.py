"""The style of an answer is counted in its Markdown."""

import pytest

from council.bias.votes import STYLE, count_style


def _found(text: str) -> dict[str, int]:
    return {name: count for name, count in zip(STYLE, count_style(text), strict=True) if count}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", {}, id="nothing"),
        pytest.param("Two * three is six; C# is no heading, 3. neither.", {}, id="prose"),
        pytest.param("- one\n- two\n\n1. three", {"lists": 3}, id="lists"),
        pytest.param("# One\n\ntext\n\n### Two", {"headings": 2}, id="headings"),
        pytest.param("This is **bold** and __so__ is this.", {"bold": 2}, id="bold"),
        pytest.param("Use `git`:\n\n```sh\n# no heading\n- no list\n```", {"code": 2}, id="code"),
        pytest.param("- **a**: `b`", {"lists": 1, "bold": 1, "code": 1}, id="one-in-another"),
    ],
)
def test_style_elements_are_counted(text: str, found: dict[str, int]) -> None:
    assert _found(text) == found
