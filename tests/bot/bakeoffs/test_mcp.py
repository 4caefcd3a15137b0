"""The MCP tool `leaderboard`."""

from tests.bot.app_fakes import an_app
from tests.bot.test_mcp import client_of
from tests.builders import CLAUDE, GEMINI, GPT


async def test_the_leaderboard_is_the_last_tool() -> None:
    async with client_of(an_app()) as client:
        listed = (await client.list_tools()).tools

    assert [tool.name for tool in listed] == [
        "ask_council",
        "rank_answers",
        "get_round",
        "decide",
        "list_rounds",
        "leaderboard",
    ]
    assert [*listed[-1].input_schema["properties"]] == ["suite"]
    assert listed[-1].description


async def test_the_leaderboard_counts_rounds() -> None:
    async with client_of(an_app()) as client:
        before = await client.call_tool("leaderboard", {"suite": None})
        await client.call_tool("ask_council", {"question": "Is it?"})
        after = await client.call_tool("leaderboard")

    assert (before.structured_content or {})["rows"] == []
    assert {row["member"] for row in (after.structured_content or {})["rows"]} == {
        CLAUDE,
        GPT,
        GEMINI,
    }
