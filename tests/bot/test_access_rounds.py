"""Permissions on rounds: who may read them, and who may act on them."""

from dataclasses import replace

import pytest

from bot.access import Access, NotYoursError, check_own_round, check_readable, readable_rounds
from bot.chat import Asker, IncomingMessage
from council.errors import RoundNotFoundError
from council.places import NOWHERE, Place
from council.ports import ALL_ROUNDS
from council.rounds import Question, Round
from tests.builders import a_round

ME, OTHER = Asker("web:1", "you"), Asker("web:2", "you")
PAGE, TERMINAL = Place("web", channel="web:1"), Place("terminal")


def asked_in(place: Place, by: Asker = OTHER) -> Round:
    return a_round(question=Question("Why?", by.id, place=place))


def looking(here: Place = PAGE, reader: Asker = ME, *, is_shared: bool = False) -> IncomingMessage:
    return IncomingMessage("", reader, here, "", is_shared=is_shared)


def may_read(round_: Round, said: IncomingMessage) -> bool:
    try:
        check_readable(round_, said)
    except RoundNotFoundError:
        return False
    return True


@pytest.mark.parametrize(
    ("place", "by", "allowed"),
    [
        pytest.param(Place("web"), OTHER, True, id="page"),
        pytest.param(TERMINAL, OTHER, True, id="terminal"),
        pytest.param(NOWHERE, OTHER, True, id="before-places"),
        pytest.param(Place("web", private=True), OTHER, False, id="private"),
        pytest.param(Place("web", private=True), ME, True, id="own-private"),
        pytest.param(Place("slack", "T1", "C1"), OTHER, False, id="chat"),
        pytest.param(Place("slack", "T1", "C1"), ME, False, id="own-in-a-chat"),
        pytest.param(Place("discord", private=True), ME, False, id="own-private-in-a-chat"),
    ],
)
def test_the_page_reads_rounds_of_this_machine(place: Place, by: Asker, *, allowed: bool) -> None:
    round_ = asked_in(place, by)

    assert may_read(round_, looking()) is allowed
    # Lists and single rounds go by one rule.
    assert readable_rounds(looking()).covers(place, by.id) is allowed


@pytest.mark.parametrize(
    "place", [PAGE, replace(PAGE, private=True), Place("slack", "T1", "C1"), NOWHERE]
)
def test_the_operator_in_the_terminal_reads_everything(place: Place) -> None:
    assert readable_rounds(looking(TERMINAL)) == ALL_ROUNDS
    assert may_read(asked_in(place), looking(TERMINAL))


def test_a_round_one_may_not_read_is_as_if_there_were_none() -> None:
    with pytest.raises(RoundNotFoundError, match=r"^There is no round 'r1'\.$"):
        check_readable(asked_in(replace(PAGE, private=True)), looking())


HERE = Place("slack", "T1", "C1", "1.2")
GUEST = Asker("U3", "Gil", is_guest=True)
PLACES = {
    "here": replace(HERE, thread=None),
    "here-private": replace(HERE, private=True),
    "beside": replace(HERE, channel="C2"),
    "beside-private": replace(HERE, channel="D2", private=True),
    "elsewhere": replace(HERE, workspace="T2"),
    "discord": replace(HERE, chat="discord"),
    "page": PAGE,
}


@pytest.mark.parametrize(
    ("said", "names"),
    [
        pytest.param(looking(HERE), {"here", "here-private", "beside"}, id="workspace"),
        pytest.param(looking(HERE, GUEST), {"here", "here-private"}, id="guest"),
        pytest.param(looking(HERE, is_shared=True), {"here", "here-private"}, id="shared"),
        (looking(replace(HERE, channel="D2", private=True)), {"here", "beside", "beside-private"}),
    ],
)
def test_a_chat_reads_rounds_of_its_workspace_and_private_ones_only_in_their_place(
    said: IncomingMessage, names: set[str]
) -> None:
    rounds = {name: asked_in(place) for name, place in PLACES.items()}

    assert {name for name, round_ in rounds.items() if may_read(round_, said)} == names


def test_an_admin_may_do_what_the_asker_may() -> None:
    round_, access = asked_in(HERE), Access(admins=("U9",))

    check_own_round(access, round_, OTHER, "stop a round")
    check_own_round(access, round_, Asker("U9", "Ann"), "stop a round")

    with pytest.raises(
        NotYoursError, match=r"^Only the person who asked, or an admin, can stop a r"
    ):
        check_own_round(access, round_, ME, "stop a round")


def test_what_nobody_asked_belongs_to_nobody() -> None:
    with pytest.raises(NotYoursError, match=r"^Only the person who asked can stop a round\.$"):
        check_own_round(Access(), asked_in(HERE, Asker("", "")), ME, "stop a round")
