"""`council ask` within budgets, on models behind a server with prices, and `council budget`."""

import asyncio

import pytest

from tests.bot.homes import Home, Result, panel_toml, seat_toml
from tests.wire.models import ModelServer

NAMES = ("openai/good", "openai/fair", "openai/sound")
PRICED = {"input_usd_per_million": 10, "output_usd_per_million": 10, "max_tokens": 500}


def priced(api_base: str, budgets: str = "", **terms: object) -> str:
    """Return a council.toml whose members are served and have prices."""
    seats = "".join(seat_toml(key, api_base=api_base, **PRICED) for key in NAMES)
    return f"{panel_toml(NAMES, **terms)}{seats}[budgets]\n{budgets}\n"


async def asked(home: Home, budgets: str = "", **terms: object) -> Result:
    async with ModelServer() as server:
        return await home.with_config(priced(server.api_base, budgets, **terms)).invoke_in_thread(
            "ask", "Why?"
        )


@pytest.fixture(scope="module")
def paid(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Result]:
    home = Home(tmp_path_factory.mktemp("paid")).with_tables()
    return home, asyncio.run(asked(home, "day_usd = 1"))


def test_the_cost_is_spent_and_nothing_stays_reserved(
    paid: tuple[Home, Result],
) -> None:
    home, _ = paid
    (round_,) = home.invoke("rounds", "--json").json
    cost = home.invoke("show", round_["id"], "--json").json["cost_usd"]

    day = {line["scope"]: line for line in home.invoke("budget", "--json").json["budgets"]}["day"]
    table = home.invoke("budget").out

    assert ("Everybody, today" in table, "$1.00" in table) == (True, True)
    assert cost > 0
    assert day["spent_usd"] == pytest.approx(cost, abs=7e-6)  # seven calls, each rounded up
    assert (day["reserved_usd"], day["cap_usd"], day["unknown_calls"]) == (0, 1, 0)
    assert day["left_usd"] == pytest.approx(1 - day["spent_usd"])


async def test_a_round_beyond_the_budget_is_not_opened(home: Home) -> None:
    result = await asked(home, "day_usd = 0.01")

    assert (result.code, result.out) == (1, "")
    (line,) = result.lines
    assert (
        "but only $0.01 is left of the budget of $0.01 a day. Ask again after midnight UTC." in line
    )
    assert home.sql("SELECT count(*) FROM round") == [(0,)]
    assert home.sql("SELECT count(*) FROM spending") == [(0,)]


async def test_a_call_beyond_the_rounds_cap_is_an_absence(home: Home) -> None:
    result = await asked(home, max_round_usd=0.02)

    text = " ".join(result.out.split())
    assert result.code == 0
    assert "was not asked: the round's budget of $0.02 is used up" in text


def test_unknown_prices_can_be_forbidden(home: Home) -> None:
    text = panel_toml(["openai/a", "openai/b"]) + "".join(
        seat_toml(key, api_base="http://127.0.0.1:9") for key in ("openai/a", "openai/b")
    )
    home = home.with_config(f'{text}[budgets]\nunknown_prices = "forbidden"\n')

    result = home.invoke("ask", "Why?")

    assert result.code == 1
    assert result.lines[0].startswith(
        "The price of A is unknown, and unknown prices are not allowed"
    )
