"""Progress shows how far each seat is, and never whose answer is whose."""

from itertools import pairwise

from bot.chat import Steps, StepState
from bot.render.round_status import progress_post
from council.errors import GatewayError
from council.rounds import Round, Stage
from tests.bot.rounds import answers, stages_of, words_of
from tests.builders import CLAUDE, GEMINI, GPT, a_panel, a_round
from tests.fakes.gateway import FakeGateway

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

    assert summaries[:4] == [f"{n} of 4 members answered" for n in (1, 2, 3, 4)]
    assert "0 of 4 judges voted" in summaries
    assert "4 of 4 judges voted" in summaries
    assert summaries[-1] == "Writing the answer"


async def test_a_finished_step_stays_finished() -> None:
    rounds = await running()

    for before, after in pairwise(rounds):
        done = {title for title, state in steps_of(before).items() if state is StepState.DONE}
        assert all(steps_of(after)[title] is StepState.DONE for title in done)


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
