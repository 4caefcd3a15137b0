"""Moments in Discord: shown in the reader's own time zone."""

from datetime import UTC, datetime

import pytest

from bot.chat import Caution, Line, Note, Post
from bot.discord.components import fits_discord, render_components
from bot.render.formatting import local_time
from bot.render.lists import list_post

MOMENT = datetime(2026, 11, 27, 13, 40, 30, tzinfo=UTC)
STAMP = "1795786830"


@pytest.mark.parametrize("kind", [Line, Note, Caution])
def test_a_moment_is_a_timestamp_of_discord(kind: type[Line | Note | Caution]) -> None:
    post = Post((kind(f"**sql** · `x_y` · {local_time(MOMENT)}"),), "sql")

    shown = str(render_components(post).items[0].to_component_dict())

    assert f"<t:{STAMP}:f>" in shown
    assert "\uffff" not in shown


def test_nobody_else_can_write_a_timestamp() -> None:
    assert "<t:" not in str(render_components(Post((Line(f"<t:{STAMP}:f>"),))).items[0])


def test_a_long_list_fits_one_message() -> None:
    lines = [(f"Question {n} · {local_time(MOMENT)}", f"show beef{n}") for n in range(100)]

    assert fits_discord(list_post("Newest questions", lines))
