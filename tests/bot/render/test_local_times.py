"""Moments in lines: every chat shows them in the reader's own time zone."""

from datetime import UTC, datetime
from io import StringIO

from rich.console import Console

from bot.chat import Buttons, Line, Post, clean_text
from bot.render.formatting import local_time, plain_line
from bot.render.lists import MAX_LISTED, list_post
from bot.terminal import render_post
from tests.bot.rounds import words_of

MOMENT = datetime(2026, 11, 27, 13, 40, 30, tzinfo=UTC)
STAMP = "1795786830"


def test_elsewhere_the_time_is_in_utc_or_as_its_writer_says() -> None:
    assert plain_line(f"**At** {local_time(MOMENT)}") == "At 2026-11-27 13:40 UTC"
    assert plain_line(local_time(MOMENT, "Mon 09:00 (Asia/Tokyo)")) == "Mon 09:00 (Asia/Tokyo)"
    with (console := Console(file=StringIO())).capture() as shown:
        console.print(render_post(Post((Line(local_time(MOMENT)),))))
    assert shown.get() == "2026-11-27 13:40 UTC\n"


def test_nobody_else_can_write_a_moment() -> None:
    assert "\uffff" not in clean_text(local_time(MOMENT))


def test_a_list_has_a_button_for_each_line_and_fits_one_message() -> None:
    lines = [(f"Question {n} · {local_time(MOMENT)}", f"show beef{n}") for n in range(100)]

    post = list_post("Newest questions", lines)

    [row] = [part for part in post.parts if isinstance(part, Buttons)]
    assert [button.value for button in row.buttons][:2] == ["show beef0", "show beef1"]
    assert [button.label for button in row.buttons][:2] == ["Open 1", "Open 2"]
    assert len(row.buttons) == MAX_LISTED
    assert "80 older ones are not shown." in words_of(post)
