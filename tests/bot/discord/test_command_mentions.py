"""Hints of commands become mentions that one can click."""

import pytest

from bot.discord.command_mentions import CommandMentions
from bot.discord.slash_commands import ADMIN, COUNCIL
from tests.bot.app_fakes import COMMANDS

IDS = {COUNCIL: "11", ADMIN: "22"}


def rendered(text: str, ids: dict[str, str] = IDS) -> str:
    return CommandMentions(COMMANDS.commands, ids, (COUNCIL, ADMIN)).render(text)


@pytest.mark.parametrize(
    ("hint", "mention"),
    [
        ("`/council rounds`", "</council rounds:11>"),
        ("Open one with `/council show ROUND`", "Open one with </council show:11> `round:…`"),
        ("`/council show [ROUND]`", "</council show:11>"),
        ("`/council show beef1`", "</council show:11> `round:beef1`"),
        ("`/council vote beef1 K M L`", "</council vote:11> `round:beef1 answer:K M L`"),
        ("`/council QUESTION`", "</council ask:11> `question:…`"),
        ("`/council [panel:PANEL] [seed:SEED] QUESTION`", "</council ask:11> `question:…`"),
        ("`/council`, or /council rounds", "`/council`, or /council rounds"),
        ("`/council nonsense`", "`/council nonsense`"),
    ],
)
def test_a_hint_is_a_mention_of_its_command_with_the_arguments_behind(
    hint: str, mention: str
) -> None:
    assert rendered(hint) == mention


def test_without_the_ids_a_hint_is_text_in_discords_syntax() -> None:
    assert rendered("`/council rounds`", {}) == "`/council rounds`"
    assert rendered("`/council QUESTION`", {}) == "`/council ask question:…`"
    assert rendered("`/council suite add NAME`", {}) == "`/council-admin suite add name:…`"
