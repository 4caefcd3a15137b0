"""Hints of commands of bake-offs become mentions that one can click."""

import pytest

from tests.bot.discord.test_command_mentions import rendered


@pytest.mark.parametrize(
    ("hint", "mention"),
    [
        ("`/council suite list`", "</council suite list:11>"),
        ("`/council suite add NAME`", "</council-admin suite add:22> `name:…`"),
        ("`/council bakeoff`", "</council bakeoff list:11>"),
        ("`/council bakeoff sql cap:$1`", "</council-admin bakeoff run:22> `suite:sql cap:$1`"),
        (
            "`/council schedule add NAME suite:NAME every monday 09:00`",
            "</council-admin schedule add:22> `name:… suite:… when:every monday 09:00`",
        ),
    ],
)
def test_a_hint_is_a_mention_of_its_command_with_the_arguments_behind(
    hint: str, mention: str
) -> None:
    assert rendered(hint) == mention
