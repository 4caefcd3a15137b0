"""Tools that the conformance suite of MCP calls by name, brought by a plug-in as any tool is."""

from mcp.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from pydantic import Field

from bot.mcp import Arguments, McpTool, ToolCall, reply
from council.errors import CouncilError
from council.plugin import Plugin

GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
TEXT = TextContent(text="A text.")
IMAGE = ImageContent(data=GIF, mime_type="image/gif")
AUDIO = AudioContent(data=WAV, mime_type="audio/wav")
RESOURCE = EmbeddedResource(
    resource=TextResourceContents(uri="test://text", mime_type="text/plain", text="A text.")
)


class Nothing(Arguments):
    """Take no arguments."""


class Routed(Arguments):
    """Take an argument that a client repeats in a header."""

    region: str = Field("", json_schema_extra={"x-mcp-header": "Region"})


def _returning(name: str, *content: ContentBlock) -> McpTool:
    async def run(_: ToolCall, __: Arguments) -> CallToolResult:
        return CallToolResult(content=[*content])

    return McpTool(name, Nothing, run)


async def _fail(_: ToolCall, __: Arguments) -> CallToolResult:
    raise CouncilError("It fails.")


async def _report(call: ToolCall, _: Arguments) -> CallToolResult:
    for done in (0, 50, 100):
        await call.report(done, 100, "Working")
    return reply("It is done.", {})


async def _route(_: ToolCall, given: Routed) -> CallToolResult:
    return reply(given.region, {})


SIMPLE_TEXT = _returning("test_simple_text", TEXT)
IMAGES = _returning("test_image_content", IMAGE)
SOUNDS = _returning("test_audio_content", AUDIO)
RESOURCES = _returning("test_embedded_resource", RESOURCE)
MIXED = _returning("test_multiple_content_types", TEXT, IMAGE, RESOURCE)
FAILING = McpTool("test_error_handling", Nothing, _fail)
REPORTING = McpTool("test_tool_with_progress", Nothing, _report)
ROUTED = McpTool("test_routed", Routed, _route)

_NAMES = ("SIMPLE_TEXT", "IMAGES", "SOUNDS", "RESOURCES", "MIXED", "FAILING", "REPORTING", "ROUTED")
PLUGIN = Plugin(name="conformance", tools=tuple(f"{__name__}:{name}" for name in _NAMES))
