"""`council bias perplexity` measures nothing where no local model judged."""

from tests.bot.homes import Home


def test_a_round_of_other_models_has_nothing_to_measure(stored_round: tuple[Home, str]) -> None:
    home, stored = stored_round

    result = home.invoke("bias", "perplexity", stored)

    assert result.code == 1
    assert f"No judge of round {stored} is a demo model." in result.err
    assert "log-probabilities" in result.err
