"""A round holds its artefacts, and derived values follow from them."""

import pytest

from council.answers import LateReply, Prompt, Reply, Role
from council.pipeline.session import RoundServices, RoundSession, identifying_names
from council.pipeline.stages import blind_answers
from council.round_rules import compute_draw
from council.rounds import (
    Artefact,
    Closing,
    Fallback,
    Round,
    Stage,
    Synthesis,
    sort_by_panel,
)
from tests.builders import (
    CLAUDE,
    DEEPSEEK,
    GEMINI,
    GPT,
    a_ballot,
    a_member,
    a_panel,
    a_round,
    a_spoiled_ballot,
    an_absence,
    an_answer,
    with_answers,
    with_ballots,
)
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

RANKED = with_ballots(with_answers(a_round()))


@pytest.mark.parametrize(
    ("round_", "stage"),
    [
        pytest.param(a_round(), Stage.OPEN, id="asked"),
        pytest.param(with_answers(a_round()), Stage.OPEN, id="answers-in"),
        pytest.param(a_round().with_(compute_draw(a_round())), Stage.ANSWERED, id="drawn"),
        pytest.param(RANKED, Stage.RANKED, id="counted"),
        pytest.param(RANKED.with_(Synthesis("Yes.", CLAUDE)), Stage.RANKED, id="written"),
        pytest.param(RANKED.with_(Closing(1.0)), Stage.CLOSED, id="closed"),
        pytest.param(a_round().with_(Closing(1.0, "Nobody came.")), Stage.CLOSED, id="failed"),
    ],
)
def test_the_stage_follows_from_the_artefacts(round_: Round, stage: Stage) -> None:
    assert round_.stage is stage


def test_every_artefact_has_a_field() -> None:
    artefacts: list[Artefact] = [
        an_answer(),
        an_absence(GPT),
        a_ballot("K M"),
        a_spoiled_ballot(),
        Closing(1.0),
    ]

    round_ = a_round()
    for artefact in artefacts:
        round_ = round_.with_(artefact)

    parts = [*round_.answers, *round_.absences, *round_.ballots, *round_.spoiled, round_.closing]
    assert parts == artefacts


def test_an_absence_applies_to_one_role() -> None:
    round_ = a_round().with_(an_absence(GPT, Role.BALLOT))

    assert round_.absence(GPT, Role.BALLOT) == an_absence(GPT, Role.BALLOT)
    assert round_.absence(GPT, Role.ANSWER) is None
    assert round_.absence(CLAUDE, Role.BALLOT) is None


def test_artefacts_are_sorted_in_panel_order() -> None:
    round_ = a_round(a_panel(2, outside=1, chairmen=[DEEPSEEK]))
    for seat in (DEEPSEEK, GEMINI, GPT, CLAUDE):
        round_ = round_.with_(an_answer(seat)).with_(an_absence(seat)).with_(a_ballot("K M", seat))
    round_ = round_.with_(a_spoiled_ballot(GPT, 2)).with_(a_spoiled_ballot(GPT, 1))

    sorted_ = sort_by_panel(round_)

    order = [CLAUDE, GPT, GEMINI, DEEPSEEK]
    assert [answer.member for answer in sorted_.answers] == order
    assert [absence.member for absence in sorted_.absences] == order
    assert [ballot.judge for ballot in sorted_.ballots] == order
    assert [spoiled.paper.attempt for spoiled in sorted_.spoiled] == [1, 2]


def test_every_reply_is_counted_once() -> None:
    reply = Reply("Yes.", cost_usd=0.01)
    round_ = RANKED.with_(a_spoiled_ballot()).with_(a_ballot("K M"))

    assert len(round_.replies) == 3 + 3 + 1
    assert len(round_.with_(Synthesis("Yes.", None, Fallback.ANSWER)).replies) == 7
    assert round_.with_(Synthesis("Yes.", CLAUDE, reply=reply)).replies[-1] == reply


async def test_an_answer_without_a_label_is_not_a_candidate() -> None:
    # It came in after its seat had been found absent.
    round_ = with_answers(a_round()).with_(an_absence(GPT))
    session = RoundSession(RoundServices(FakeGateway(), MemoryStore()), round_)

    found = await blind_answers(session, compute_draw(round_))

    assert sorted(found.values()) == ["Answer 0.", "Answer 2."]


@pytest.mark.parametrize(
    ("key", "names"),
    [
        (CLAUDE, {CLAUDE, "Claude Sonnet 4.6", "claude-sonnet-4-6"}),
        ("warm", set()),
        ("a1", set()),
        ("acme/house", {"acme/house"}),
    ],
)
def test_only_unusual_names_identify_a_member(key: str, names: set[str]) -> None:
    assert set(identifying_names(a_member(key))) == names


def test_the_cost_of_a_round_without_replies_is_unknown() -> None:
    late = LateReply(CLAUDE, Role.ANSWER, Prompt("", ""), Reply("At last.", cost_usd=0.5))

    assert a_round().cost_usd is None
    assert a_round().with_(late).cost_usd == 0.5
