"""`council criteria` says what is missing before anything is asked."""

from tests.bot.homes import Home


def test_without_votes_it_says_how_many_are_needed(stored_round: tuple[Home, str]) -> None:
    home, _ = stored_round

    result = home.invoke("criteria", "--yes")

    assert result.code == 1
    assert (
        "Criteria need 40 blind votes of people on at least 20 rounds; there are 0 on 0."
        in result.err
    )


def test_a_cap_that_is_no_amount_is_refused(stored_round: tuple[Home, str]) -> None:
    home, _ = stored_round

    assert home.invoke("criteria", "--usd", "much").code == 2
