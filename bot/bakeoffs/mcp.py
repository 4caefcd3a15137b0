"""The MCP tool `leaderboard`."""

from mcp.types import CallToolResult
from pydantic import Field

from bot.bakeoffs.leaderboard import load_leaderboard, parse_query
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.records import update_records
from bot.bakeoffs.render.leaderboard import leaderboard_thread
from bot.bakeoffs.render.leaderboard_export import leaderboard_document
from bot.chat import Thread
from bot.mcp import Arguments, McpTool, ToolCall, reply
from bot.render.formatting import panel_seat_names
from bot.render.markdown import thread_markdown


class GetLeaderboard(Arguments):
    """Rank models over all stored rounds, or over those of one suite of questions."""

    suite: str | None = Field(None, description="A suite, by name.")


async def _show_leaderboard(call: ToolCall, given: GetLeaderboard) -> CallToolResult:
    app = call.app
    query = parse_query({"suite": given.suite or ""}, app.now())
    await update_records(app)
    names = panel_seat_names(app.panels.values())
    board = await load_leaderboard(bakeoff_stores(app), query, names)
    text = thread_markdown(Thread(leaderboard_thread(board).root))
    return reply(text, leaderboard_document(board))


LEADERBOARD = McpTool("leaderboard", GetLeaderboard, _show_leaderboard)
