"""Which chairman writes the synthesis, and what replaces it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from council.answers import Absence, Reply, Role
from council.errors import ContextOverflowError, GatewayError
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.pipeline.stages import TOO_LONG
from council.pipeline.synthesis import WROTE_NOTHING
from council.prompts.shared import SHORTENED_MARK
from council.rounds import Fallback, Synthesis
from tests.builders import CLAUDE, DEEPSEEK, GEMINI, GPT, TERMS, a_member, a_panel, a_round
from tests.council.pipeline.helpers import SHORT_DEADLINES, run_with_fakes
from tests.fakes.gateway import (
    FakeGateway,
    Hangs,
    ReadPrompt,
    ScriptEntry,
    rank_by_slot,
    read_prompt,
)
from tests.fakes.memory_store import MemoryStore

TRAILER = '{"drawn_on": [], "departs": true, "why": "Both miss the point."}'
OVERFLOW = ContextOverflowError("takes no more")


async def test_the_chairmans_trailer_is_stored() -> None:
    gateway = FakeGateway(chairmen={CLAUDE: f"No.\n{TRAILER}"})

    round_ = await run_with_fakes(a_round(), gateway)

    synthesis = round_.synthesis
    assert synthesis is not None
    assert (synthesis.text, synthesis.departs, synthesis.why) == (
        "No.",
        True,
        "Both miss the point.",
    )
    assert synthesis.reply == Reply(f"No.\n{TRAILER}")
    assert synthesis.prompt == gateway.of(Role.SYNTHESIS)[0].prompt


async def test_a_chairman_can_name_its_sources() -> None:
    def drew_on_all(shown: object) -> str:
        return (
            'Yes.\n{"drawn_on": ["K","L","M","N","O","P","Q","R","S","T","U","V","W","X","Y","Z"]}'
        )

    round_ = await run_with_fakes(a_round(), FakeGateway(chairmen={CLAUDE: drew_on_all}))

    assert round_.draw is not None
    assert round_.synthesis is not None
    assert round_.synthesis.drawn_on == round_.draw.labels.labels


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        pytest.param(GatewayError("is out of credit"), "is out of credit", id="fails"),
        pytest.param(Hangs(), "did not finish the council's answer in 0.01 s", id="hangs"),
        pytest.param(TRAILER, WROTE_NOTHING, id="writes-nothing"),
        pytest.param(OVERFLOW, TOO_LONG, id="overflows"),
    ],
)
async def test_the_next_chairman_replaces_a_failed_one(says: ScriptEntry, reason: str) -> None:
    gateway = FakeGateway(chairmen={CLAUDE: says})

    round_ = await run_with_fakes(a_round(a_panel(terms=SHORT_DEADLINES)), gateway)

    assert round_.absences == (Absence(CLAUDE, Role.SYNTHESIS, reason),)
    assert round_.synthesis is not None
    assert (round_.synthesis.chairman, round_.synthesis.fallback) == (GPT, Fallback.CHAIRMAN)


async def test_demo_models_write_no_synthesis_and_the_winning_answer_stands() -> None:
    members = tuple(a_member(key, demonstration=True) for key in (CLAUDE, GPT, GEMINI))
    gateway = FakeGateway(answers={CLAUDE: "a", GPT: "b", GEMINI: "c"})

    round_ = await run_with_fakes(a_round(replace(a_panel(), members=members)), gateway)

    assert round_.draw is not None
    label = round_.draw.labels.label_of(CLAUDE)
    assert label is not None
    assert round_.synthesis == Synthesis("a", None, Fallback.DEMONSTRATION, (label,))
    assert not gateway.of(Role.SYNTHESIS)


@pytest.mark.parametrize(
    ("votes", "written"),
    [
        pytest.param(rank_by_slot, "b", id="no ranking is better than another"),
        pytest.param(lambda shown: shown.ballot(first_of(shown, "c")), "c", id="one is ahead"),
    ],
)
async def test_where_demo_models_tie_the_largest_of_them_answers(
    votes: Callable[[ReadPrompt], str], written: str
) -> None:
    members = tuple(a_member(key, demonstration=True) for key in (CLAUDE, GPT, GEMINI))
    panel = replace(a_panel(), members=members, chairmen=(members[1],))
    gateway = FakeGateway(answers={CLAUDE: "a", GPT: "b", GEMINI: "c"}, vote=votes)

    round_ = await run_with_fakes(a_round(panel), gateway)

    assert round_.synthesis
    assert round_.synthesis.text == written


def first_of(shown: ReadPrompt, text: str) -> str:
    """Return the letters in the order shown, but first the one of a text."""
    return " ".join(sorted(shown.texts, key=lambda letter: shown.texts[letter] != text))


async def test_if_all_chairmen_fail_the_winning_answer_is_the_synthesis() -> None:
    text = "As Claude, I say: a."
    gateway = FakeGateway(
        answers={CLAUDE: text, GPT: "b", GEMINI: "c"},
        chairmen=_for_all(GatewayError("is silent")),
    )

    round_ = await run_with_fakes(a_round(), gateway)

    assert round_.draw is not None
    label = round_.draw.labels.label_of(CLAUDE)
    assert label is not None
    assert round_.synthesis == Synthesis(text, None, Fallback.ANSWER, (label,))
    assert [absence.member for absence in round_.absences] == [CLAUDE, GPT, GEMINI]


@pytest.mark.parametrize(
    ("replies", "stands"),
    [
        pytest.param([(0.2, 1), (0.1, 9), (0.3, 1)], GPT, id="the-cheapest"),
        pytest.param([(0.1, 9), (0.1, 5), (0.1, 7)], GPT, id="then-the-quickest"),
        pytest.param([(None, 1), (9.0, 9), (None, 1)], GPT, id="an-unknown-cost-is-last"),
        pytest.param([(None, 2), (None, 1), (None, 3)], GPT, id="all-unknown"),
        pytest.param([(0.0, 3), (0.1, 1), (None, 1)], CLAUDE, id="free-is-cheapest"),
    ],
)
async def test_a_tie_goes_to_the_cheapest_then_quickest_answer(
    replies: list[tuple[float | None, float]], stands: str
) -> None:
    said = [Reply(f"Answer {i}", cost_usd=c, seconds=s) for i, (c, s) in enumerate(replies)]
    gateway = FakeGateway(
        answers=dict(zip([CLAUDE, GPT, GEMINI], said, strict=True)),
        chairmen=_for_all(GatewayError("is silent")),
        vote=rank_by_slot,
    )

    round_ = await run_with_fakes(a_round(), gateway)

    assert round_.draw is not None
    assert round_.synthesis is not None
    (label,) = round_.synthesis.drawn_on
    assert round_.draw.labels.author_of(label) == stands


async def test_without_standings_the_cheapest_answer_replaces_the_synthesis() -> None:
    gateway = FakeGateway(
        answers={CLAUDE: Reply("a", cost_usd=0.2), GPT: Reply("b", cost_usd=0.1)},
        chairmen=_for_all(GatewayError("is silent")),
    )

    round_ = await run_with_fakes(a_round(a_panel(2)), gateway)

    assert round_.synthesis is not None
    assert (round_.synthesis.text, round_.synthesis.fallback) == ("b", Fallback.ANSWER)


async def test_answers_too_long_for_the_chairman_are_shortened_equally() -> None:
    gateway = FakeGateway(
        answers={CLAUDE: "a" * 900, GPT: "b" * 900, GEMINI: "c" * 900},
        chairmen={CLAUDE: [OVERFLOW, "Yes."]},
    )

    round_ = await run_with_fakes(a_round(), gateway)

    shown = read_prompt(gateway.of(Role.SYNTHESIS)[1].prompt).texts
    assert all(text.endswith(SHORTENED_MARK) for text in shown.values())
    assert round_.synthesis is not None
    assert (round_.synthesis.chairman, round_.synthesis.text) == (CLAUDE, "Yes.")


async def test_a_chairman_without_room_for_answers_is_not_asked() -> None:
    gateway = FakeGateway(contexts={CLAUDE: 1_100})

    round_ = await run_with_fakes(a_round(), gateway)

    assert round_.absences == (Absence(CLAUDE, Role.SYNTHESIS, TOO_LONG),)
    assert not gateway.of(Role.SYNTHESIS, CLAUDE)


def _for_all(says: ScriptEntry) -> dict[str, ScriptEntry]:
    return dict.fromkeys([CLAUDE, GPT, GEMINI], says)


async def test_after_the_round_deadline_the_winning_answer_replaces_the_synthesis() -> None:
    ticks = iter([0.0, *[1.0] * 2, *[9.0] * 99])
    terms = replace(TERMS, round_seconds=5)
    store, gateway = MemoryStore(), FakeGateway()
    round_ = a_round(replace(a_panel(), terms=terms))
    await store.open(round_)

    closed = await run_round(round_.id, RoundServices(gateway, store, clock=lambda: next(ticks)))

    assert closed.synthesis is not None
    assert closed.synthesis.fallback is Fallback.ANSWER
    assert gateway.of(Role.SYNTHESIS) == []
    reasons = {absence.reason for absence in closed.absences}
    assert reasons == {"was not asked: the round ran out of time"}


async def test_the_round_deadline_limits_a_stage() -> None:
    terms = replace(TERMS, round_seconds=0.04)
    gateway = FakeGateway(chairmen=dict.fromkeys([CLAUDE, GPT, GEMINI, DEEPSEEK], Hangs()))
    store = MemoryStore()
    round_ = a_round(replace(a_panel(), terms=terms))
    await store.open(round_)

    closed = await run_round(round_.id, RoundServices(gateway, store))

    assert closed.synthesis is not None
    assert closed.synthesis.fallback is Fallback.ANSWER
