"""Slack's own opinion of blocks, which it gives to anybody who asks, without a token."""

from functools import partial

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.calls import RefusedError, called
from bot.slack.samples import Sample

PATIENCE_SECONDS = 120.0


async def faults_of(client: AsyncWebClient, sample: Sample) -> list[str]:
    """Give what Slack would refuse in a sample, and where; UnsureError where it cannot be asked."""
    try:
        reply = await called(partial(_asked, client, sample), PATIENCE_SECONDS)
    except RefusedError as error:
        return [error.code]
    found = reply.get("errors") or ()
    return [f"{fault.get('pointer') or '/'}: {fault.get('message')}" for fault in found]


async def _asked(client: AsyncWebClient, sample: Sample) -> AsyncSlackResponse:
    """Ask; a refusal that says what is wrong is an answer too."""
    try:
        return await client.api_call("blocks.validate", json={sample.kind: sample.payload})
    except SlackApiError as error:
        told = error.response
        if isinstance(told, AsyncSlackResponse) and told.get("errors"):
            return told
        raise
