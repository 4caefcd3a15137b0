"""Bias reports are within every limit of Slack, in every form."""

from bot.chat import File
from bot.render.bias_message import bias_thread
from bot.render.bias_tables import make_bias_view
from bot.render.leaderboard_tables import Coverage
from bot.render.pagination import paginate
from bot.slack.block_kit import fits_slack, render_message
from tests.bot.render.bias.builders import NOTHING, a_bias, a_judge, a_report
from tests.bot.render.boards.builders import QWEN
from tests.bot.slack.block_kit_checks import find_post_faults
from tests.bot.slack.block_kit_checks import shown_text as read_of

EVIL = "<!channel> <@U0BEN> *bold* `code`"
MANY = tuple(a_judge(f"openai/model-{number}") for number in range(12))


def test_every_post_of_a_report_is_valid() -> None:
    reports = (
        a_bias(majority="qwen"),
        a_bias(judges=MANY),
        make_bias_view(NOTHING, Coverage(), {}),
    )
    for report in reports:
        thread = bias_thread(report)
        for post in (thread.root, *thread.replies):
            assert find_post_faults(post) == []


def test_the_first_post_is_one_message_with_findings_cautions_and_one_line() -> None:
    (page,) = paginate(bias_thread(a_bias(majority="qwen")).root, fits_slack)

    read = read_of(render_message(page)["blocks"])
    assert "ranks its own answer .31 higher than the others do (n 52, .18 to .44)." in read
    assert "One family, qwen, holds most of the seats" in read
    assert "Over 64 closed rounds with 256 ballots" in read


def test_a_name_mentions_nobody() -> None:
    thread = bias_thread(make_bias_view(a_report(), Coverage(64), {QWEN: EVIL}))

    for post in (thread.root, *thread.replies):
        if not isinstance(post.parts[0], File):
            assert find_post_faults(post) == []
