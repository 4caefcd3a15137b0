"""Access in chats: who may ask where, and with which providers."""

from dataclasses import replace

import pytest

from bot.access import (
    Access,
    AccessDeniedError,
    ChannelRules,
    allows_panel,
    check_admitted,
    check_panel,
)
from bot.chat import Asker, IncomingMessage
from council.places import Place
from tests.builders import CLAUDE, a_panel

ANA, GUEST = Asker("U1", "Ana"), Asker("U2", "Gil", is_guest=True)
HERE = Place("slack", "T1", "C1")
IN_CHANNEL = IncomingMessage("Why?", ANA, HERE, "k")
SHARED = replace(IN_CHANNEL, is_shared=True)
DIRECT = replace(IN_CHANNEL, place=Place("slack", "T1", "D1", private=True), is_direct=True)
BY_GUEST = replace(IN_CHANNEL, asker=GUEST)
MESSAGES = {"channel": IN_CHANNEL, "shared": SHARED, "direct": DIRECT, "guest": BY_GUEST}
EVERYBODY = Access(shared_channels=True, guests=True)


def open_to(access: Access) -> set[str]:
    """Return the names of the messages that are admitted."""
    found = set()
    for name, message in MESSAGES.items():
        try:
            check_admitted(access, message)
        except AccessDeniedError:
            continue
        found.add(name)
    return found


@pytest.mark.parametrize(
    ("access", "names"),
    [
        pytest.param(Access(), {"channel", "direct"}, id="as-it-comes"),
        pytest.param(EVERYBODY, {*MESSAGES}, id="everybody"),
        pytest.param(Access(direct_messages=False), {"channel"}, id="no-direct-messages"),
        pytest.param(Access(channels=("C2",)), {"direct"}, id="another-channel"),
        pytest.param(Access(channels=()), {"direct"}, id="no-channel"),
        pytest.param(Access(channels=("C1",)), {"channel", "direct"}, id="this-channel"),
        (Access(channels=("D1",), direct_messages=False), {"direct"}),
        pytest.param(replace(EVERYBODY, channels=("C2",)), {"direct"}, id="list-goes-for-all"),
    ],
)
def test_the_council_answers_only_where_access_allows(access: Access, names: set[str]) -> None:
    assert open_to(access) == names


@pytest.mark.parametrize(
    ("roles", "is_direct", "sentence"),
    [
        pytest.param(("R1", "R2"), False, "", id="one-of-them"),
        pytest.param(None, False, "", id="a-chat-without-roles"),
        pytest.param(("R3",), False, "and you have none of them", id="another"),
        pytest.param((), True, "direct messages have no roles", id="direct-message"),
        pytest.param(("R1",), True, "", id="told-in-a-direct-message"),
    ],
)
def test_with_roles_only_their_members_may_ask(
    roles: tuple[str, ...] | None, is_direct: bool, sentence: str
) -> None:
    message = replace(IN_CHANNEL, asker=Asker("U1", "Ana", roles=roles), is_direct=is_direct)
    access = Access(roles=("R1", "R9"))

    if not sentence:
        check_admitted(access, message)
        return
    with pytest.raises(AccessDeniedError, match=sentence):
        check_admitted(access, message)


def test_an_admin_is_named_by_an_id_or_by_a_role() -> None:
    access = Access(admins=("U1", "R1"))

    assert access.is_admin(Asker("U1", "Ana"))
    assert access.is_admin(Asker("U2", "Ben", roles=("R0", "R1")))
    assert not access.is_admin(Asker("U3", "Cy", roles=("U9",)))


def test_a_private_thread_follows_the_rules_of_its_channel() -> None:
    place = Place("discord", "G1", "C1:T1", "T1", private=True)
    access = Access(channels=("C1",), rules={"C1": ChannelRules("cheap")})

    check_admitted(access, replace(IN_CHANNEL, place=place))
    assert access.rules_in(place).panel == "cheap"
    with pytest.raises(AccessDeniedError):
        check_admitted(Access(channels=("C2",)), replace(IN_CHANNEL, place=place))


@pytest.mark.parametrize("chat", ["web", "terminal"])
def test_the_page_and_the_terminal_are_never_refused(chat: str) -> None:
    shut = Access(channels=(), direct_messages=False)

    check_admitted(shut, replace(BY_GUEST, place=Place(chat), is_shared=True))


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (BY_GUEST, "Ask a member to ask for you, or contact one of its admins."),
        (SHARED, "Use a channel of your own, or contact one of its admins."),
        (DIRECT, "Ask in a channel, or contact one of its admins."),
        (IN_CHANNEL, "Ask in a channel where it is on, or contact one of its admins."),
    ],
    ids=["guest", "shared", "direct", "channel"],
)
def test_a_refusal_says_whom_to_ask(message: IncomingMessage, sentence: str) -> None:
    shut = Access(channels=(), admins=("U8", "U9"), direct_messages=False)

    with pytest.raises(AccessDeniedError) as refused:
        check_admitted(shut, message)

    assert str(refused.value).endswith(sentence)


def test_without_admins_the_operator_decides() -> None:
    with pytest.raises(AccessDeniedError, match=r"or contact the person who runs it\.$"):
        check_admitted(Access(), BY_GUEST)


def in_channel(*vendors: str) -> Access:
    return Access(rules={"C1": ChannelRules(vendors=vendors)})


@pytest.mark.parametrize(
    ("vendors", "allowed"),
    [
        pytest.param((), True, id="any"),
        pytest.param(("anthropic", "openai", "gemini"), True, id="all-of-them"),
        pytest.param(("anthropic", "openai"), False, id="not-the-third"),
    ],
)
def test_a_panel_is_allowed_where_every_seat_is_allowed(
    vendors: tuple[str, ...], allowed: bool
) -> None:
    access = in_channel(*vendors)

    assert allows_panel(access, HERE, a_panel()) is allowed
    assert allows_panel(access, replace(HERE, channel="C2"), a_panel())
    for panel in (a_panel(3, outside=1), a_panel(3, chairmen=["deepseek/deepseek-chat"])):
        assert allows_panel(access, HERE, panel) is (vendors == ())  # judges and chairmen are seats


def test_whose_models_may_not_be_used_is_named() -> None:
    with pytest.raises(AccessDeniedError) as refused:
        check_panel(in_channel(CLAUDE.partition("/")[0]), HERE, a_panel())

    assert str(refused.value) == (
        "Only models from anthropic may be used in this channel, but panel 'house' also "
        "includes openai, gemini. Pick another panel; `/council panel` lists them."
    )
