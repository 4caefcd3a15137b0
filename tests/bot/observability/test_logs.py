"""Logs tell what failed and where, never what was asked or with which key."""

import json
from collections.abc import Iterator

import pytest
import structlog

from bot.chat import Asker, IncomingMessage
from bot.commands.dispatch import handle_message
from bot.observability import logs
from council.answers import Call, Reply
from council.places import Place
from tests.bot.app_fakes import FakeChat, an_app
from tests.fakes.gateway import FakeGateway

SECRETS = ("Is this my question?", "sk-secret-key", "a quiet answer")


class FaultyGateway(FakeGateway):
    """Fails in a way nobody foresaw, with secrets in its local variables."""

    async def complete(self, call: Call) -> Reply:
        api_key, answer = SECRETS[1:]
        return Reply(f"{api_key}{answer}"[1 // 0])


@pytest.fixture
def _own_logs() -> Iterator[None]:
    """Forget the stream that a test's logs went to."""
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("_own_logs")
async def test_a_failed_command_is_logged_without_anybodys_data(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure_logging(verbose=True)
    app = an_app(FaultyGateway())
    chat = FakeChat()

    await handle_message(
        app, chat, IncomingMessage(SECRETS[0], Asker("U1", "you"), Place("terminal"), "e1")
    )

    err = capsys.readouterr().err
    lines = [json.loads(line) for line in err.splitlines()]
    assert {line["event"] for line in lines} == {"round_failed", "command_failed"}
    assert "ZeroDivisionError" in err
    assert not [secret for secret in SECRETS if secret in err]
    assert not [secret for secret in SECRETS[1:] if secret in "\n".join(chat.said)]
    assert f"(ref {lines[-1]['ref']})" in chat.said[-1]
