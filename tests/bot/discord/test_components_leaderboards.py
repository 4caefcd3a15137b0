"""Leaderboards in Discord: within every limit, and readable on a phone."""

from dataclasses import replace

from bot.chat import File, Post
from bot.discord.components import fits_discord, render_components
from bot.render.leaderboard import leaderboard_thread
from bot.render.leaderboard_text import changes_post
from bot.render.pagination import paginate
from tests.bot.discord.limits import find_pings, message_faults, payload_of, texts
from tests.bot.render.boards.builders import (
    CLAUDE,
    EMPTY,
    NAMES,
    a_board,
    a_leaderboard,
    some_changes,
)

EVIL = "<@123456789012345678> @everyone **b** [x](https://discord.gg/y)"


def read(post: Post) -> str:
    made = [render_components(page) for page in paginate(post, fits_discord)]
    return "\n".join(text for message in made for text in texts(message.components)).replace(
        "\u00a0", " "
    )


def test_every_post_of_a_leaderboard_is_accepted() -> None:
    boards = [
        a_leaderboard(),
        replace(a_leaderboard(), board=a_board(10), names={CLAUDE: EVIL}),
        EMPTY,
    ]
    for board in boards:
        for as_judge in (False, True):
            thread = leaderboard_thread(board, b"\x89PNG", as_judge=as_judge)
            for post in (thread.root, *thread.replies):
                for page in paginate(post, fits_discord):
                    payload = payload_of(render_components(page))
                    assert message_faults(payload) == []
                    assert find_pings(payload) == []


def test_a_member_is_a_line_with_named_numbers() -> None:
    said = read(leaderboard_thread(a_leaderboard()).root)

    assert "**Claude Sonnet 4.6** 71 % · 65–77 % · 36 rounds" in said
    assert said.index("beyond noise") < said.index("71 %") < said.index("Places are shared")


def test_a_members_line_has_all_of_its_numbers() -> None:
    said = read(leaderboard_thread(a_leaderboard()).replies[0])

    assert (
        "**Claude Sonnet 4.6** 71 % · 65–77 % · 36 rounds · 20 first votes · 80 % right · $0.012 "
        "· 4.1 s · 512 tokens · 0 absences" in said
    )


def test_a_judges_numbers_have_titles() -> None:
    said = read(leaderboard_thread(a_leaderboard()).replies[1])

    assert "**Gemini 3 Pro**" in said
    assert "6 % spoiled" in said


def test_the_chart_is_an_image_and_the_table_a_file() -> None:
    replies = leaderboard_thread(a_leaderboard(), b"\x89PNG").replies
    files = [post for post in replies if isinstance(post.parts[0], File)]

    picture, table = (render_components(post).components[0] for post in files)

    assert picture["items"][0]["media"] == {"url": "attachment://leaderboard.png"}
    assert len(picture["items"][0]["description"]) <= 256
    assert table == {"type": 13, "file": {"url": "attachment://leaderboard.csv"}}


def test_a_delta_notifies_only_its_subscribers() -> None:
    ada = "123456789012345678"
    post = changes_post(some_changes(), NAMES | {CLAUDE: EVIL}, "weekly", (ada,))

    message = render_components(post)

    assert message.mentioned == (ada,)
    assert find_pings(payload_of(message) | {"allowed_mentions": {"parse": []}}) == ["<@1"]
