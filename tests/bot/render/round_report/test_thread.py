"""A finished round: the answer first, then who wrote what in the thread."""

import re

from bot.chat import Buttons, Caution, Heading, Line, Note, Prose
from bot.render.round_report.thread import DISCLAIMER, round_post, whole_round
from council.errors import GatewayError
from tests.bot.rounds import held, names_of, root_of, round_thread, thread_of
from tests.builders import NAMES, a_panel
from tests.fakes.gateway import FakeGateway

UNREACHED = GatewayError("could not be reached")


async def test_the_answer_follows_the_question_and_has_one_line_under_it() -> None:
    root = round_thread(await held()).root

    assert [type(part) for part in root.parts] == [Heading, Prose, Note, Note, Buttons]
    assert root.parts[1] == Prose("The council says yes.")
    assert root.parts[3] == Note(DISCLAIMER)
    assert root.summary == "The council says yes."


async def test_without_a_thread_a_line_for_each_model_follows_the_answer() -> None:
    round_ = await held()

    parts = round_post(round_, with_results=True).parts

    lines = [part.text for part in parts if isinstance(part, Line)]
    assert [line.split("**")[1].split(". ")[0] for line in lines] == ["1", "2", "3", "4"]
    assert lines[0].endswith("** · 6 of 6 points · 3 first votes · 0.0 s")


async def test_a_closed_round_speaks_of_models_and_of_no_label() -> None:
    round_ = await held()
    assert round_.draw

    whole = f"{root_of(round_)}\n{thread_of(round_)}"

    for author, label in round_.draw.labels.pairs:
        assert not re.search(rf"\b{label}\b", whole)
        assert NAMES[author] in thread_of(round_)


async def test_the_thread_holds_results_and_rankings_and_the_whole_every_answer_best_first() -> (
    None
):
    round_ = await held()
    assert round_.tally

    posted, whole = round_thread(round_).replies, whole_round(round_).replies

    assert [reply.summary for reply in posted] == ["Results", "Rankings"]
    assert [reply.summary for reply in whole[:2]] == ["Results", "Rankings"]
    assert round_.draw
    names = names_of(round_)
    assert [reply.summary for reply in whole[2:]] == [
        names[line.label] for line in round_.tally.standings
    ]


async def test_a_round_that_could_not_be_ranked_says_why_and_shows_no_answer() -> None:
    gone = dict.fromkeys(list(NAMES)[:3], UNREACHED)
    round_ = await held(FakeGateway(answers=gone))

    thread = round_thread(round_)

    assert [type(part) for part in thread.root.parts] == [Heading, Caution, Buttons]
    assert "[Run again] [Forget]" in root_of(round_)
    assert "Only 1 of 4 models answered (2 are needed)" in root_of(round_)
    assert "GPT-5.1 could not be reached" in root_of(round_)
    assert thread.replies == ()


async def test_two_answers_leave_no_judges() -> None:
    round_ = await held(panel=a_panel(2))

    assert "Two answers, no judges left" in root_of(round_)
    assert "Rankings" not in [reply.summary for reply in round_thread(round_).replies]
    assert "Model | Time | Cost\n" in thread_of(round_)
