"""Messages of users are parsed to plain text."""

import pytest

from bot.slack.events import strip_mention, to_plain_text


async def _named(user: str) -> str:
    return {"U1": "ada"}.get(user, user)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        pytest.param("Ask <@U1> or <@U2|ben>", "Ask @ada or @ben", id="people"),
        pytest.param("In <#C1|general>, <!here>", "In #general, @here", id="places"),
        pytest.param("<https://a.example|here>", "here (https://a.example)", id="link"),
        pytest.param("1 &lt; 2 &amp;&amp; &lt;!channel&gt;", "1 < 2 && <!channel>", id="escaped"),
        pytest.param(
            "Is Map<String, List<int>> slow?", "Is Map<String, List<int>> slow?", id="code"
        ),
    ],
)
async def test_markup_is_parsed_and_typed_angle_brackets_stay(written: str, read: str) -> None:
    assert await to_plain_text(written, _named) == read


def test_only_the_mention_of_the_bot_is_stripped() -> None:
    assert strip_mention("<@U0BOT>: ask <@U1>", "U0BOT") == "ask <@U1>"
