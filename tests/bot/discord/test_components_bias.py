"""Bias reports in Discord: within every limit, and readable on a phone."""

from bot.chat import File, Post
from bot.discord.components import fits_discord, render_components
from bot.render.bias_message import bias_thread, render_bias_pngs
from bot.render.bias_tables import make_bias_view
from bot.render.leaderboard_tables import Coverage
from bot.render.pagination import paginate
from tests.bot.discord.limits import find_pings, message_faults, payload_of, texts
from tests.bot.render.bias.builders import NOTHING, a_bias, a_judge, a_report
from tests.bot.render.boards.builders import QWEN

EVIL = "<@123456789012345678> @everyone **b** [x](https://discord.gg/y)"
MANY = tuple(a_judge(f"openai/model-{number}") for number in range(12))


def read(post: Post) -> str:
    made = [render_components(page) for page in paginate(post, fits_discord)]
    return "\n".join(text for message in made for text in texts(message.components)).replace(
        "\u00a0", " "
    )


def test_every_post_of_a_report_is_accepted_and_mentions_nobody() -> None:
    reports = (
        a_bias(majority="qwen"),
        a_bias(judges=MANY),
        make_bias_view(a_report(), Coverage(64), {QWEN: EVIL}),
        make_bias_view(NOTHING, Coverage(), {}),
    )
    for report in reports:
        thread = bias_thread(report, (b"\x89PNG",) * 3)
        for post in (thread.root, *thread.replies):
            for page in paginate(post, fits_discord):
                payload = payload_of(render_components(page))
                assert message_faults(payload) == []
                assert find_pings(payload) == []


def test_a_measure_is_a_line_with_named_numbers() -> None:
    (each,) = [post for post in bias_thread(a_bias()).replies if post.summary == "Each judge"]

    said = read(each)

    assert "**Own answer** +.05 · −.15 to +.25 · 52 audit ballots · p .400 · about 120 more" in said
    assert "**Own answer** effect too little to say · 0 audit ballots" in said


def test_the_charts_are_images_with_descriptions_within_the_limit() -> None:
    thread = bias_thread(a_bias(), render_bias_pngs(a_bias()))
    pictures = [post for post in thread.replies if isinstance(post.parts[0], File)][:3]

    for post in pictures:
        (gallery,) = render_components(post).components
        (item,) = gallery["items"]
        assert item["media"]["url"].startswith("attachment://bias-")
        assert 0 < len(item["description"]) <= 256
