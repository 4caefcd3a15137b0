"""The library: five lines to a ranking, and to a council's answer."""

import re
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import pytest

import council
from council import Member, ask, open_models, rank
from council.errors import GatewayError, PanelError, QuestionError, QuorumError
from council.integrity.verification import verify
from council.labels import voter_name
from council.methods import Method
from council.money import FREE
from council.plugin import Plugin
from council.rounds import Stage
from council.tally.borda import pair_matrix
from council.tally.bradley_terry import fit_pools
from tests.builders import CLAUDE, GEMINI, GPT, a_member
from tests.fakes.gateway import FakeGateway, rank_by_slot
from tests.registries import address_of

SCRIPTED = ["scripted/random-1", "scripted/random-2", "scripted/random-3"]
TEXTS = {"a": "Alpha.", "b": "Beta.", "c": "Gamma."}


async def test_five_lines_rank_texts() -> None:
    ranked = await rank("Which is best?", TEXTS, judges=SCRIPTED, seed="s")

    assert ranked.first in TEXTS
    assert {line.name for line in ranked.standings} == {*TEXTS}
    assert [ballot.voter for ballot in ranked.ballots] == [
        voter_name(judge, number) for judge in SCRIPTED for number in (1, 2)
    ]
    assert ranked.cost_usd == 0


async def test_the_same_seed_and_gateway_give_the_same_ranking() -> None:
    gateway = await open_models(SCRIPTED)

    one = await rank("Which is best?", TEXTS, judges=SCRIPTED, seed="s", gateway=gateway)
    other = await rank("Which is best?", TEXTS, judges=SCRIPTED, seed="s", gateway=gateway)

    assert one.standings == other.standings


def test_a_script_ranks_without_an_event_loop() -> None:
    ranked = council.rank_sync("Which is best?", TEXTS, judges=SCRIPTED, seed="s")

    assert ranked.first in TEXTS


async def test_a_notebook_ranks_under_its_running_loop() -> None:
    ranked = council.rank_sync("Which is best?", TEXTS, judges=SCRIPTED, seed="s")

    assert (
        ranked.standings
        == (await rank("Which is best?", TEXTS, judges=SCRIPTED, seed="s")).standings
    )


async def test_equal_texts_are_named() -> None:
    ranked = await rank("Which?", {"a": "Yes.", "b": "No.", "c": "Yes. "}, judges=SCRIPTED)

    assert "the text 'c' is the same as 'a'" in [*map(str, ranked.verdict.flags)]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["Yes.", "No."], "The texts are list, not a mapping. Give each text a name"),
        (None, "The texts are NoneType, not a mapping."),
        ({"a": "Yes.", "b": None}, "The text 'b' is NoneType, not str."),
        ({1: "Yes.", "b": "No."}, "The name 1 is int, not str."),
    ],
)
async def test_what_is_no_text_with_a_name_is_refused(texts: Any, told: str) -> None:  # noqa: ANN401
    with pytest.raises(QuestionError, match=re.escape(told)):
        await rank("Which?", texts, judges=SCRIPTED)


async def test_a_question_that_is_no_text_is_refused() -> None:
    nothing: Any = None

    with pytest.raises(QuestionError, match="question is empty"):
        await rank(nothing, TEXTS, judges=SCRIPTED)
    with pytest.raises(QuestionError, match="question is empty"):
        await ask(nothing, members=SCRIPTED)


@pytest.mark.parametrize("judges", ["openai/gpt-5.1", None])
async def test_judges_are_a_list(judges: Any) -> None:  # noqa: ANN401
    with pytest.raises(PanelError, match="Models are a list of model ids"):
        await rank("Which?", TEXTS, judges=judges)


@pytest.mark.parametrize("model", [None, 5])
async def test_a_model_is_an_id(model: Any) -> None:  # noqa: ANN401
    with pytest.raises(PanelError, match=f"A model is an id, .* not {model}"):
        await rank("Which?", TEXTS, judges=[model])


async def test_a_seed_is_a_text() -> None:
    number: Any = 7

    with pytest.raises(QuestionError, match='seed is int, not str. Write it as "7"'):
        await rank("Which?", TEXTS, judges=SCRIPTED, seed=number)
    with pytest.raises(QuestionError, match="seed is int"):
        await ask("Which?", members=SCRIPTED, seed=number)


@pytest.mark.parametrize("pools", [None, [{}], "abc"])
def test_pools_are_a_list_of_rankings(pools: Any) -> None:  # noqa: ANN401
    with pytest.raises(QuestionError, match="Pools are a list of what `rank` returned"):
        council.fit(pools)


async def test_one_ranking_is_no_list_of_pools() -> None:
    one: Any = await rank("Which?", TEXTS, judges=SCRIPTED)

    with pytest.raises(QuestionError, match="Pools are a list"):
        council.fit(one)


def test_the_version_is_that_of_the_package() -> None:
    assert council.__version__ == version("council-bot")


async def test_one_strength_is_fitted_over_many_pools() -> None:
    gateway = FakeGateway(vote=rank_by_slot)
    pools = [
        await rank("Which is best?", texts, judges=[CLAUDE, GPT], seed=str(seed), gateway=gateway)
        for seed, texts in enumerate([TEXTS, {"a": "Alpha.", "d": "Delta."}] * 3)
    ]

    found = council.fit(pools)

    assert [(line.name, line.pools) for line in found if line.name in "ad"] == [("a", 6), ("d", 3)]
    assert found == fit_pools(pair_matrix(pool.ballots) for pool in pools)
    assert isinstance(found[0], council.FittedStrength)


async def test_any_gateway_serves() -> None:
    gateway = FakeGateway()

    ranked = await rank("Which is best?", TEXTS, judges=[CLAUDE, a_member(GPT)], gateway=gateway)

    assert ranked.first == "a"
    assert {call.member.key for call in gateway.asked} == {CLAUDE, GPT}


async def test_models_of_providers_are_reached_through_litellm() -> None:
    gateway = await open_models(["openai/gpt-4o", *SCRIPTED])

    price = await gateway.price(a_member("openai/gpt-4o"))

    assert price
    assert price.usd_out > 0
    assert await gateway.price(a_member(SCRIPTED[0])) == FREE


async def test_a_judge_named_twice_is_refused() -> None:
    with pytest.raises(PanelError):
        await rank("Which is best?", TEXTS, judges=[CLAUDE, CLAUDE], gateway=FakeGateway())


async def test_members_answer_and_rank_and_a_chairman_writes() -> None:
    gateway = FakeGateway(vote=rank_by_slot)

    round_ = await ask("Is it?", members=[CLAUDE, GPT], chairman=[GEMINI], gateway=gateway)

    assert round_.stage is Stage.CLOSED
    assert round_.synthesis
    assert round_.synthesis.chairman == GEMINI


async def test_scripted_members_need_no_gateway_and_no_chairman() -> None:
    round_ = await ask("Is it?", members=SCRIPTED, seed="s")

    assert round_.synthesis
    assert round_.synthesis.chairman == SCRIPTED[0]


async def test_an_empty_question_is_refused() -> None:
    with pytest.raises(QuestionError):
        await ask(" ", members=SCRIPTED)


async def test_a_council_without_a_quorum_raises() -> None:
    gateway = FakeGateway(answers=dict.fromkeys((CLAUDE, GPT), GatewayError("hung up")))

    with pytest.raises(QuorumError, match="hung up"):
        await ask("Is it?", members=[CLAUDE, GPT], gateway=gateway)


def test_a_model_may_hold_two_seats_as_members() -> None:
    assert Member is type(a_member())


def test_other_names_are_not_offered() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        council.nothing_like_it  # noqa: B018


def test_importing_the_library_imports_nothing_heavy() -> None:
    program = "import sys; from council import ask, rank; print(*sys.modules)"

    modules = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()

    assert not {"litellm", "numpy", "pydantic", "sqlalchemy"} & {*modules}


HAIKU = Plugin(
    name="haiku", methods={"haiku-first": address_of(Method("haiku-first", "Haiku come first."))}
)


async def test_methods_of_plug_ins_rank_and_answer() -> None:
    round_ = await ask("Why?", members=SCRIPTED, method="haiku-first", plugins=[HAIKU])
    ranked = await rank("Why?", TEXTS, judges=SCRIPTED, method="haiku-first", plugins=[HAIKU])

    assert round_.panel.terms.method == "haiku-first"
    assert dict(round_.versions)["method"] == "1"
    assert verify(round_) == ()
    assert ranked.first in TEXTS


async def test_a_method_that_no_plug_in_has_is_refused() -> None:
    for asked in (
        ask("Why?", members=SCRIPTED, method="haiku-first"),
        rank("Why?", TEXTS, judges=SCRIPTED, method="haiku-first"),
    ):
        with pytest.raises(PanelError, match="no method 'haiku-first'"):
            await asked
    with pytest.raises(PanelError, match="needs 1 outside judge"):
        await ask("Why?", members=SCRIPTED, method="panel-of-judges")
