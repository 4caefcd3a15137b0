"""Moments in Slack: shown in the reader's own time zone."""

from datetime import UTC, datetime

import pytest

from bot.chat import Caution, Line, Note, Post
from bot.render.formatting import local_time
from bot.render.lists import list_post
from bot.slack.block_kit import fits_slack, render_ephemeral, render_message, render_text

MOMENT = datetime(2026, 11, 27, 13, 40, 30, tzinfo=UTC)
STAMP = "1795786830"


@pytest.mark.parametrize("kind", [Line, Note, Caution])
def test_a_moment_is_a_date_of_slack(kind: type[Line | Note | Caution]) -> None:
    post = Post((kind(f"**sql** · `x_y` · {local_time(MOMENT)}"),), "sql")

    blocks, text = str(render_message(post)["blocks"]), str(render_text(post))

    assert f"<!date^{STAMP}^{{date_short_pretty}} at {{time}}|2026-11-27 13:40 UTC>" in blocks
    assert blocks == str(render_ephemeral(post)["blocks"])
    assert "\uffff" not in blocks + text
    assert "2026-11-27 13:40 UTC" in text


def test_a_long_list_fits_one_message() -> None:
    lines = [(f"Question {n} · {local_time(MOMENT)}", f"show beef{n}") for n in range(100)]

    assert fits_slack(list_post("Newest questions", lines))
