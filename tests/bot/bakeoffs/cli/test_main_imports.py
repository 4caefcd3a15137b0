"""Start-up: commands of bake-offs import slow libraries only if they need them."""

import pytest

from tests.bot.cli.test_main_imports import loaded_by
from tests.bot.homes import Home


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("leaderboard", "--json"), id="leaderboard"),
        pytest.param(("bias", "--rounds", "--json"), id="bias"),
    ],
)
def test_no_command_imports_a_library_that_it_does_not_need(
    home: Home, arguments: tuple[str, ...]
) -> None:
    assert not loaded_by(home, *arguments) & {"litellm", "openai", "matplotlib"}
