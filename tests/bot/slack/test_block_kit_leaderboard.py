"""Leaderboards are within every limit of Slack, in every form, and fit a phone."""

from dataclasses import replace

from bot.chat import File, Post
from bot.render.leaderboard import leaderboard_thread
from bot.render.leaderboard_text import changes_post
from bot.render.pagination import paginate
from bot.slack.block_kit import fits_slack, render_message
from tests.bot.render.boards.builders import (
    CLAUDE,
    EMPTY,
    NAMES,
    a_board,
    a_leaderboard,
    some_changes,
)
from tests.bot.slack.block_kit_checks import find_post_faults, shown_text

EVIL = "<!channel> <@U0BEN> *bold* `code`"


def posts() -> list[Post]:
    thread = leaderboard_thread(a_leaderboard())
    many = leaderboard_thread(replace(a_leaderboard(), board=a_board(10)), as_judge=True)
    return [
        *(post for t in (thread, many) for post in (t.root, *t.replies)),
        leaderboard_thread(EMPTY).root,
        changes_post(some_changes(), NAMES, "weekly-sql"),
    ]


def test_every_post_of_a_leaderboard_is_valid() -> None:
    for post in posts():
        assert find_post_faults(post) == []


def test_the_first_post_is_one_message_with_a_table_that_sorts() -> None:
    root = leaderboard_thread(a_leaderboard()).root

    (page,) = paginate(root, fits_slack)
    blocks = render_message(page)["blocks"]
    assert [block["type"] for block in blocks] == ["header", "rich_text", "data_table", "context"]
    share = blocks[2]["rows"][1][2]
    assert share == {"type": "raw_number", "value": 71, "text": "71 %"}


def test_the_table_of_authors_is_whole() -> None:
    (page,) = paginate(leaderboard_thread(a_leaderboard()).replies[0], fits_slack)

    read = shown_text(render_message(page)["blocks"])
    assert all(name in read for name in NAMES.values())
    assert all(words in read for words in ("80 % right", "$0.012", "4.1 s", "First votes"))


def test_a_name_mentions_nobody() -> None:
    board = replace(a_leaderboard(), names={CLAUDE: EVIL})
    thread = leaderboard_thread(board)

    for post in (thread.root, *thread.replies, changes_post(some_changes(), {CLAUDE: EVIL}, EVIL)):
        if not isinstance(post.parts[0], File):
            assert find_post_faults(post) == []
