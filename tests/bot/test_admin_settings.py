"""Settings that admins chose: what the policy of a place is with them, and what they never do."""

from dataclasses import replace

import pytest

from bot.access import Access, AccessDeniedError, ChannelRules, check_admitted, check_panel
from bot.chat import Asker, IncomingMessage
from council.places import Place
from tests.builders import a_panel

HERE, THERE = Place("slack", "T1", "C1"), Place("slack", "T1", "C2")
MEMBER, GUEST = Asker("U1", "Ada"), Asker("U2", "Gus", is_guest=True)
MESSAGE = IncomingMessage("Which queue?", MEMBER, HERE, "k")


def chosen(here: dict[str, str] | None = None, **workspace: str) -> Access:
    return Access().with_chosen({"slack/T1/": workspace, "slack/T1/C1": here or {}})


def refusal(access: Access, message: IncomingMessage) -> str:
    try:
        check_admitted(access, message)
    except AccessDeniedError as error:
        return str(error)
    return ""


def test_what_admins_choose_holds_in_their_workspace_alone() -> None:
    access = chosen(guests="on", rounds_per_hour="2", rounds_at_once="1")
    asked = replace(MESSAGE, asker=GUEST)

    assert refusal(access, asked) == ""
    assert "Guests" in refusal(access, replace(asked, place=Place("slack", "T2", "C1")))
    assert (access.at(HERE).rounds_per_hour, access.at(HERE).rounds_per_day) == (2, None)
    assert access.max_running_rounds(HERE) == 1
    assert access.at(Place("slack", "T2", "C1")).rounds_per_hour is None


def test_a_workspace_without_choices_has_the_policy_of_the_file() -> None:
    access = Access(rounds_per_day=5).with_chosen({"slack/T1/": {"guests": "on"}})

    assert replace(access.at(Place("slack", "T2", "C1")), rules={}) == Access(rounds_per_day=5)
    assert access.at(Place("web", "T1", "C1")).guests is False


@pytest.mark.parametrize(
    ("name", "value", "file"),
    [
        ("guests", "on", Access(guests=False)),
        ("rounds_per_day", "100", Access(rounds_per_day=5)),
        ("channels", "all", Access(channels=("C9",))),
        ("roles", "R2", Access(roles=("R1",))),
        ("admins", "U7", Access(admins=("U9",))),
    ],
)
def test_what_the_file_sets_is_never_loosened(name: str, value: str, file: Access) -> None:
    fixed = replace(file, fixed=frozenset({name}))

    found = fixed.with_chosen({"slack/T1/": {name: value}}).at(HERE)

    assert found == replace(file, rules={"C1": ChannelRules()})


def test_what_the_file_sets_for_one_workspace_is_fixed_there() -> None:
    own = Access(guests=False, fixed=frozenset({"guests"}))
    choices = {"slack/T1/": {"guests": "on"}, "slack/T2/": {"guests": "on"}}
    access = Access(workspaces={"T1": own}).with_chosen(choices)

    assert access.at(HERE).guests is False
    assert access.at(Place("slack", "T2", "C1")).guests is True


def test_a_channel_is_off_or_the_only_one_that_is_on() -> None:
    closed, alone = chosen({"open": "off"}), chosen({"open": "on"}, channels="open")

    assert "off in this channel" in refusal(closed, MESSAGE)
    assert refusal(closed, replace(MESSAGE, place=THERE)) == ""
    assert refusal(alone, MESSAGE) == ""
    assert "off in this channel" in refusal(alone, replace(MESSAGE, place=THERE))


def test_a_channel_that_is_on_is_still_closed_to_others_if_it_is_shared() -> None:
    message = replace(MESSAGE, is_shared=True)

    assert "shared with other" in refusal(chosen({"open": "on"}), message)
    assert refusal(chosen(shared_channels="on"), message) == ""


def test_channels_of_the_file_cannot_be_turned_on_or_off_in_a_chat() -> None:
    file = Access(channels=("C1",), fixed=frozenset({"channels"}))
    access = file.with_chosen({"slack/T1/C1": {"open": "off"}, "slack/T1/C2": {"open": "on"}})

    assert refusal(access, MESSAGE) == ""
    assert "off in this channel" in refusal(access, replace(MESSAGE, place=THERE))


def test_direct_messages_can_be_turned_off() -> None:
    direct = replace(MESSAGE, place=Place("slack", "T1", "D1"), is_direct=True)

    assert refusal(chosen(), direct) == ""
    assert "off in direct messages" in refusal(chosen(direct_messages="off"), direct)


def test_added_admins_are_people_and_roles() -> None:
    policy = chosen(admins="U1", admin_roles="R1").at(HERE)

    assert policy.is_admin(MEMBER)
    assert policy.is_admin(Asker("U5", "Ben", roles=("R1",)))
    assert not policy.is_admin(Asker("U5", "Ben", roles=("R2",)))


def test_allowed_providers_hold_and_those_of_the_file_come_first() -> None:
    panel = a_panel(2)  # of these two providers
    file = Access(rules={"C1": ChannelRules(vendors=("openai",))})
    both = file.with_chosen({"slack/T1/C1": {"vendors": "anthropic openai"}})

    with pytest.raises(AccessDeniedError, match="anthropic"):
        check_panel(chosen({"vendors": "openai"}), HERE, panel)
    with pytest.raises(AccessDeniedError, match="anthropic"):
        check_panel(both, HERE, panel)
    assert both.fixed_at(HERE) == {"vendors"}
    check_panel(chosen({"vendors": "anthropic openai"}), HERE, panel)


def test_a_channel_may_vote_first() -> None:
    access = chosen({"votes_first": "on"})

    assert access.rules_in(HERE).votes_first
    assert not access.rules_in(THERE).votes_first


def test_choosing_the_same_again_changes_nothing() -> None:
    access = chosen(guests="on")

    assert access.with_chosen({"slack/T1/": {"guests": "on"}, "slack/T1/C9": {}}) is access
    assert access.at(HERE).at(HERE) == access.at(HERE)
