"""Leaderboards and bias reports are within every limit of Slack, in every form."""

from dataclasses import replace

import pytest

from bot.bakeoffs.render.bias_message import bias_post
from bot.bakeoffs.render.bias_tables import make_bias_view
from bot.bakeoffs.render.leaderboard import leaderboard_thread
from bot.bakeoffs.render.leaderboard_tables import Coverage
from bot.bakeoffs.render.leaderboard_text import changes_post
from bot.chat import File, Post, Thread
from bot.render.pagination import paginate
from bot.slack.block_kit import fits_slack, render_message
from tests.bot.bakeoffs.render.bias.builders import NOTHING, a_bias, a_judge, a_report
from tests.bot.bakeoffs.render.boards.builders import (
    CLAUDE,
    EMPTY,
    NAMES,
    QWEN,
    a_board,
    a_leaderboard,
    some_changes,
)
from tests.bot.bakeoffs.render.posts import long_posts, without_moments
from tests.bot.slack.block_kit_checks import find_post_faults

EVIL = "<!channel> <@U0BEN> *bold* `code`"
MANY = tuple(a_judge(f"openai/model-{number}") for number in range(12))
THREADS = {
    "leaderboard": leaderboard_thread(a_leaderboard()),
    "judges": leaderboard_thread(replace(a_leaderboard(), board=a_board(10)), as_judge=True),
    "empty leaderboard": leaderboard_thread(EMPTY),
    "leaderboard of a hostile name": leaderboard_thread(
        replace(a_leaderboard(), names={CLAUDE: EVIL})
    ),
    "changes": Thread(changes_post(some_changes(), NAMES, "weekly-sql")),
    "hostile changes": Thread(changes_post(some_changes(), {CLAUDE: EVIL}, EVIL)),
    "bias": Thread(bias_post(a_bias(majority="qwen")), ()),
    "bias of many": Thread(bias_post(a_bias(judges=MANY)), ()),
    "bias of nothing": Thread(bias_post(make_bias_view(NOTHING, Coverage(), {})), ()),
    "hostile bias": Thread(bias_post(make_bias_view(a_report(), Coverage(64), {QWEN: EVIL})), ()),
}


def posts(thread: Thread) -> list[Post]:
    both = (thread.root, *thread.replies)
    return [post for post in both if not isinstance(post.parts[0], File)]


@pytest.mark.parametrize("name", THREADS)
def test_every_post_is_valid_and_mentions_nobody(name: str) -> None:
    assert [find_post_faults(post) for post in posts(THREADS[name]) if find_post_faults(post)] == []


@pytest.mark.parametrize("name", ["Nightly SQL", EVIL, "Mistral Large 3 (Europe) " * 6])
def test_posts_of_twenty_models_are_valid_and_the_result_is_one_message(name: str) -> None:
    first, *_ = every = long_posts(name)

    plain = map(without_moments, every)
    assert [faults for post in plain if (faults := find_post_faults(post))] == []
    (page,) = paginate(first, fits_slack)
    (actions,) = [one for one in render_message(page)["blocks"] if one["type"] == "actions"]
    assert len(actions["elements"]) == 5


def test_the_first_post_of_a_leaderboard_is_one_message_with_a_table_that_sorts() -> None:
    (page,) = paginate(THREADS["leaderboard"].root, fits_slack)

    blocks = render_message(page)["blocks"]
    assert [block["type"] for block in blocks] == ["header", "rich_text", "data_table", "context"]
    assert blocks[2]["rows"][1][2] == {"type": "raw_number", "value": 71, "text": "71 %"}


@pytest.mark.parametrize("name", ["leaderboard", "bias"])
def test_the_first_posts_are_one_message_each(name: str) -> None:
    thread = THREADS[name]
    for post in (thread.root, *thread.replies[:1]):
        assert len(paginate(post, fits_slack)) == 1
