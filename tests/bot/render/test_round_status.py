"""A round before and while it runs: accepted, then how far each seat is."""

from dataclasses import replace

import pytest

from bot.chat import Buttons, Steps, StepState
from bot.render.round_status import (
    accepted_post,
    progress_post,
    running_post,
    sent_text,
    stopped_post,
    without_heading,
)
from bot.settings.council_toml import ModelSection
from bot.settings.panels import make_seat
from council.budget import Estimate
from council.errors import GatewayError
from council.panel import THIS_MACHINE, Member, Panel, Terms
from council.rounds import Round, Stage
from tests.bot.rounds import answers, held, stages_of, words_of
from tests.builders import CLAUDE, GEMINI, GPT, TERMS, a_member, a_panel, a_round
from tests.fakes.gateway import FakeGateway

TIMES = Terms(answer_seconds=30, ballot_seconds=20, synthesis_seconds=50)


@pytest.mark.parametrize(
    ("estimate", "told"),
    [
        pytest.param(Estimate(0), "It costs nothing.", id="free"),
        pytest.param(Estimate(38_000), "Never more than $0.04.", id="known"),
        pytest.param(Estimate(0, 0, (GPT,)), "Cost unknown for GPT-5.1.", id="unknown"),
        pytest.param(
            Estimate(38_000, 0, (GPT, CLAUDE)),
            "Never more than $0.04; cost unknown for GPT-5.1 and Claude Sonnet 4.6.",
            id="both",
        ),
        pytest.param(Estimate(700_000), "Never more than $0.50.", id="capped"),
    ],
)
def test_an_accepted_round_shows_its_cost(estimate: Estimate, told: str) -> None:
    round_ = a_round(a_panel(terms=Terms(max_round_usd=0.5)))

    assert f". {told} It " in accepted_post(round_, estimate, None).summary


@pytest.mark.parametrize(
    ("model", "api_base", "told"),
    [
        ("openai/m", None, "only to OpenAI"),
        ("ollama/m", "http://127.0.0.1:11434", "only to models on the Council server"),
        ("ollama_chat/m", "http://localhost:11434", "only to models on the Council server"),
        ("ollama/m:480b-cloud", "http://127.0.0.1:11434", "to 127.0.0.1:11434"),
        ("ollama/m", "http://gpu-1:11434", "to gpu-1:11434"),
        ("ollama/m", None, "only to Ollama"),
        ("openai/m", "http://127.0.0.1:4000", "to 127.0.0.1:4000"),
        ("openai/m", "http://[::1]:4000/v1", "to [::1]:4000"),
        ("openai/m", "http://me:secret@models.example/v1", "to models.example"),
        ("openai/m", "http://openai/v1", "to openai"),
    ],
)
def test_texts_stay_on_the_server_only_with_our_own_models(
    model: str, api_base: str | None, told: str
) -> None:
    member = make_seat(model, ModelSection(api_base=api_base)).member

    assert sent_text(panel_of(member)) == f"Sent {told}"


@pytest.mark.parametrize(
    ("member", "told"),
    [
        (a_member(demonstration=True), "only to models on the Council server"),
        (a_member("ollama/m"), "only to models on the Council server"),
        (a_member("openai/m"), "to localhost"),
    ],
)
def test_a_stored_receiver_of_an_earlier_version_claims_no_more(member: Member, told: str) -> None:
    stored = replace(member, receiver=THIS_MACHINE)

    assert sent_text(panel_of(stored)) == f"Sent {told}"


def panel_of(member: Member) -> Panel:
    return replace(a_panel(), members=(member, replace(member, key="other")))


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        pytest.param(0.02, "1 s", id="no-time"),
        pytest.param(6.7, "7 s", id="seconds"),
        pytest.param(9.8, "10 s", id="ten"),
        pytest.param(38.2, "40 s", id="steps-of-five"),
        pytest.param(58.9, "1 min", id="a-minute"),
        pytest.param(101, "1 min 30 s", id="half-minutes"),
        pytest.param(1270, "21 min", id="minutes"),
    ],
)
def test_the_usual_time_is_rounded(seconds: float, told: str) -> None:
    summary = accepted_post(a_round(), Estimate(0), seconds).summary

    assert summary.endswith(f" It usually takes about {told}.")


@pytest.mark.parametrize(
    ("panel", "told"),
    [
        # 30 s of answers, 20 s of ballots, 50 s for each of three chairmen.
        pytest.param(a_panel(terms=TIMES), "3 min 20 s", id="members-as-chairmen"),
        pytest.param(a_panel(chairmen=[CLAUDE], terms=TIMES), "1 min 40 s", id="a-chairman"),
        pytest.param(a_panel(terms=replace(TIMES, round_seconds=90)), "1 min 30 s", id="whole"),
        pytest.param(a_panel(terms=replace(TIMES, round_seconds=900)), "3 min 20 s", id="larger"),
    ],
)
def test_without_history_the_time_is_the_sum_of_deadlines(panel: Panel, told: str) -> None:
    summary = accepted_post(a_round(panel), Estimate(0), None).summary

    assert summary.endswith(f" It takes {told} at most.")


MARKED = answers("first text", "second text", "third text", "fourth text")


async def running(gateway: FakeGateway | None = None) -> list[Round]:
    """Return the round after each change, before it is closed."""
    seen = await stages_of(gateway or FakeGateway(answers=MARKED), a_panel(4))
    return [round_ for round_ in seen if round_.stage is not Stage.CLOSED]


def steps_of(round_: Round) -> dict[str, StepState]:
    steps = next(p for p in progress_post(round_, 3).parts if isinstance(p, Steps))
    return {step.title: step.state for step in steps.steps}


async def test_progress_never_shows_answers_or_labels() -> None:
    for round_ in await running():
        words = words_of(progress_post(round_, 3))

        labels = round_.draw.labels.labels if round_.draw else ()
        assert not any(text in words for text in ("first text", "second text", "third text"))
        assert not any(f" {label} " in f" {words} ".replace("\n", " ") for label in labels)


async def test_an_open_round_waits_for_everybody() -> None:
    steps = steps_of(a_round(a_panel(3)))

    assert steps["Claude Sonnet 4.6 answers"] is StepState.RUNNING
    assert steps["Ranking without names"] is StepState.WAITING
    assert steps["Writing the answer"] is StepState.WAITING


async def test_summaries_count_answers_then_ballots_then_say_what_is_left() -> None:
    summaries = [progress_post(round_, 3).summary for round_ in await running()]

    assert summaries[:4] == [f"{n} of 4 models answered" for n in (1, 2, 3, 4)]
    assert "0 of 4 judges voted" in summaries
    assert "4 of 4 judges voted" in summaries
    assert summaries[-1] == "Writing the answer"


async def test_rankings_are_counted_where_a_judge_gives_several() -> None:
    panel = a_panel(3, terms=replace(TERMS, method="both-orders"))
    rounds = await stages_of(FakeGateway(), panel)

    assert "6 of 6 rankings are in" in [progress_post(round_, 3).summary for round_ in rounds]


async def test_a_missing_member_a_retried_judge_and_a_spoiled_one_are_shown() -> None:
    gateway = FakeGateway(
        answers={GEMINI: GatewayError("could not be reached")},
        judges={GPT: ["?", lambda shown: shown.ballot("")], CLAUDE: "?"},
    )
    rounds = await running(gateway)
    shown = [words_of(progress_post(round_, 65)) for round_ in rounds]

    assert "Gemini 3 Pro missing could not be reached" in shown[-1]
    assert any("asked again: it held no JSON object" in words for words in shown)
    assert steps_of(rounds[-1])["Claude Sonnet 4.6 ranks"] is StepState.MISSING
    assert shown[-1].endswith("1 min 5 s")


def test_a_stopped_round_can_be_resumed_run_again_or_forgotten() -> None:
    *_, buttons = stopped_post(a_round(), "Cancelled.").parts
    assert isinstance(buttons, Buttons)

    assert [button.action for button in buttons.buttons] == ["resume", "again", "forget"]


async def test_while_judges_vote_everybody_who_sees_the_progress_can_vote() -> None:
    closed = await held()
    voting = replace(closed, ballots=(), tally=None, synthesis=None, closing=None)
    asked = replace(voting, answers=(), draw=None)

    assert "[Read and vote] [Cancel]" in words_of(running_post(voting, 3.0))
    assert "vote" not in words_of(running_post(asked, 3.0)).lower()


def test_progress_says_who_receives_the_question_and_repeats_none_that_stands_above_it() -> None:
    post = running_post(a_round(), 3.0, terms="Sent only to OpenAI. Never more than $0.04.")

    assert "Sent only to OpenAI. Never more than $0.04." in words_of(post)
    assert a_round().question.text in words_of(post)
    assert a_round().question.text not in words_of(without_heading(post))
