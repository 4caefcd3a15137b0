"""Leaderboards and bias reports in Discord: within every limit, and readable on a phone."""

from dataclasses import replace

import pytest

from bot.bakeoffs.render.bakeoffs import QUESTIONS, RESULTS
from bot.bakeoffs.render.bias_message import bias_post, render_combined_bias_png
from bot.bakeoffs.render.bias_tables import judges_table, make_bias_view
from bot.bakeoffs.render.leaderboard import leaderboard_thread
from bot.bakeoffs.render.leaderboard_tables import Coverage
from bot.bakeoffs.render.leaderboard_text import changes_post
from bot.chat import File, Post, Thread
from bot.discord.actions import page_post
from bot.discord.components import fits_discord, render_components
from bot.render.pagination import paginate
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
from tests.bot.bakeoffs.render.posts import SCHEDULE_ID, long_posts, without_moments
from tests.bot.discord.limits import components_of, find_pings, message_faults, payload_of, texts

EVIL = "<@123456789012345678> @everyone **b** [x](https://discord.gg/y)"
MANY = tuple(a_judge(f"openai/model-{number}") for number in range(12))
BOARD, PNG = a_leaderboard(), b"\x89PNG"
HOSTILE = replace(BOARD, board=a_board(10), names={CLAUDE: EVIL})
THREADS = {
    "leaderboard": leaderboard_thread(BOARD, PNG),
    "hostile leaderboard": leaderboard_thread(HOSTILE, PNG),
    "hostile judges": leaderboard_thread(HOSTILE, PNG, as_judge=True),
    "empty leaderboard": leaderboard_thread(EMPTY, PNG),
    "bias": Thread(bias_post(a_bias(majority="qwen"), PNG), ()),
    "bias of many": Thread(bias_post(a_bias(judges=MANY), PNG), ()),
    "hostile bias": Thread(
        bias_post(make_bias_view(a_report(), Coverage(64), {QWEN: EVIL}), PNG), ()
    ),
    "bias of nothing": Thread(bias_post(make_bias_view(NOTHING, Coverage(), {}), PNG), ()),
}


def read(post: Post) -> str:
    made = [render_components(page) for page in paginate(post, fits_discord)]
    return "\n".join(text for m in made for text in texts(components_of(m))).replace("\u00a0", " ")


def files(thread: Thread) -> list[Post]:
    return [post for post in thread.replies if isinstance(post.parts[0], File)]


@pytest.mark.parametrize("name", THREADS)
def test_every_post_is_accepted_and_mentions_nobody(name: str) -> None:
    for post in (THREADS[name].root, *THREADS[name].replies):
        for message in map(render_components, paginate(post, fits_discord)):
            assert message_faults(message) == []
            assert find_pings(payload_of(message)) == []


@pytest.mark.parametrize("name", ["Nightly SQL", EVIL, "Mistral Large 3 (Europe) " * 6])
def test_posts_of_twenty_models_are_accepted_and_the_result_is_one_message(name: str) -> None:
    first, *_ = every = long_posts(name)

    for post in map(without_moments, every):
        for message in map(render_components, paginate(post, fits_discord)):
            assert message_faults(message) == []
            assert find_pings(payload_of(message)) == []
    assert len(paginate(first, fits_discord)) == 1


@pytest.mark.parametrize("action", [QUESTIONS, RESULTS])
def test_pages_of_a_scheduled_run_keep_their_buttons(action: str) -> None:
    id_ = f"sched:{SCHEDULE_ID}@now-0123456789ab"

    pages = [page_post([*long_posts("Qwen 3")[-4:]], action, id_, number) for number in (1, 2)]

    for message in map(render_components, pages):
        assert message_faults(message) == []
        assert f"council:{action}_page:{id_}:" in str(payload_of(message))


def test_a_member_is_a_line_with_all_of_its_numbers() -> None:
    thread = leaderboard_thread(BOARD)
    replies = thread.replies

    numbers = "**Claude Sonnet 4.6** points 71 % · 95 % interval 65–77 % · "
    assert f"{numbers}19 of 24 right · price $0.012" in read(thread.root)
    assert (
        f"{numbers}19 of 24 right · 36 rounds · 20 first votes · price $0.012 · 4.1 s · "
        in read(replies[0])
    )
    assert "6 % invalid" in read(leaderboard_thread(BOARD, as_judge=True).root)


def test_a_judge_is_a_line_with_named_numbers() -> None:
    table = judges_table(a_bias())
    assert table

    said = read(Post((table,)))

    assert "**Claude Sonnet 4.6** own answer +.02 · " in said


def test_a_chart_is_an_image_with_a_description_and_a_table_a_file() -> None:
    whole = bias_post(a_bias(), render_combined_bias_png(a_bias()))
    figures = Post(tuple(part for part in whole.parts if isinstance(part, File)))
    picture, table = files(THREADS["leaderboard"])

    for post in (picture, figures):
        (gallery,) = components_of(render_components(post))
        (item,) = gallery["items"]
        assert item["media"]["url"].startswith("attachment://")
        assert 0 < len(item["description"]) <= 1_024
    (component,) = components_of(render_components(table))
    assert component["file"] == {"url": "attachment://leaderboard.csv"}


def test_a_change_notifies_only_its_subscribers() -> None:
    ada = "123456789012345678"
    post = changes_post(some_changes(), NAMES | {CLAUDE: EVIL}, "weekly", (ada,))

    message = render_components(post)

    assert message.mentioned == (ada,)
    assert find_pings(payload_of(message) | {"allowed_mentions": {"parse": []}}) == ["<@1"]
