import json
from dataclasses import replace
from pathlib import Path

import pytest

from council.answers import Call, Prompt, Role
from council.ballots import ParsedBallot, parse_ballot
from council.errors import GatewayError
from council.gateways.scripted import ScriptedGateway
from council.methods import METHODS
from council.panel import Member, ModelId
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.registry import NO_PLUGINS, Registry
from council.rounds import Question
from council.rubric_grader import grade_prompt, grade_schema, parse_grades
from tests.builders import a_panel, a_round
from tests.fakes.memory_store import MemoryStore

FENCES = (
    '<response label="B" nonce="4f9c">\nIndex it.\n</response nonce="4f9c">\n\n'
    '<response label="A" nonce="4f9c">\nCache it.\n</response nonce="4f9c">'
)
BALLOT = f"{FENCES}\n\nNonce: 4f9c\n\nRank B, A."


def a_call(text: str, key: str = "scripted/random", model_id: str | None = None) -> Call:
    return Call(Member(key, ModelId(model_id or key), key, "scripted"), Prompt("", text))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def said(text: str, key: str = "scripted/random") -> str:
    return (await ScriptedGateway().complete(a_call(text, key, "scripted/random"))).text


async def test_replies_depend_on_prompt_and_seat() -> None:
    first = await said("Why is it slow?")

    assert await said("Why is it slow?") == first
    assert len({await said("Why is it slow?", f"seat-{n}") for n in range(9)}) > 1


async def test_a_random_ballot_is_valid() -> None:
    reading = parse_ballot(await said(BALLOT), "4f9c", "AB")

    assert isinstance(reading, ParsedBallot)
    assert sorted(reading.ranking) == [("A",), ("B",)]


async def test_a_random_grade_is_valid() -> None:
    asked = f"{FENCES}\n\nNonce: 4f9c\n\nGrade Response A from 1 to 5, where 1 is the worst."

    grades = [json.loads(await said(f"{asked} {n}")) for n in range(60)]

    assert {grade["nonce"] for grade in grades} == {"4f9c"}
    assert {grade["grade"] for grade in grades} == {1, 2, 3, 4, 5}


async def test_random_grades_by_a_rubric_are_valid() -> None:
    prompt = grade_prompt(Question("Why?", rubric="Says why."), ["Index it.", "Cache it."], "4f9c")

    schema = grade_schema(2, "4f9c")
    calls = [replace(a_call(prompt.user, f"scripted/random-{n}"), schema=schema) for n in range(9)]
    replies = [(await ScriptedGateway().complete(call)).text for call in calls]

    assert len({parse_grades(reply, "4f9c", ["K", "L"]) for reply in replies}) > 1


@pytest.mark.parametrize("method", METHODS)
async def test_random_models_follow_the_form_of_every_method(method: str) -> None:
    await run_by_random_models(method)


async def run_by_random_models(method: str, registry: Registry = NO_PLUGINS) -> None:
    """Run a round of random models, and check that each reply has the form that was asked for."""
    seats = [replace(seat, model_id=ModelId("scripted/random")) for seat in a_panel(5).members]
    terms = replace(a_panel().terms, method=method)
    judge = replace(seats[0], key="judge")
    panel = replace(a_panel(), members=tuple(seats), outside_judges=(judge,), terms=terms)
    store = MemoryStore()
    await store.open(a_round(panel, registry=registry))

    round_ = await run_round("r1", RoundServices(ScriptedGateway(), store))

    assert round_.spoiled == ()
    assert [one for one in round_.exchanges if one.fault or "drawn_on" in one.reply.text] == []
    drafts = {answer.member: answer.text for answer in round_.answers}
    assert all(
        answer.text == drafts[answer.member] or answer.text.startswith(f"{drafts[answer.member]} ")
        for answer in round_.revised
    )


async def test_a_random_review_names_each_colleague() -> None:
    fence = FENCES.partition("\n\n")[0]
    asked = f"Ann, skeptic answered:\n\n{fence}\n\nBob answered:\n\n{fence}"
    call = replace(a_call(asked, "scripted/random"), role=Role.STEP)

    lines = (await ScriptedGateway().complete(call)).text.splitlines()

    assert [line.partition(":")[0] for line in lines] == ["Ann", "Bob"]


async def test_random_ballots_prefer_no_place_on_the_slate() -> None:
    ballots = [json.loads(await said(f"{BALLOT} {n}")) for n in range(200)]

    shown_first = sum(ballot["ranking"][0] == ["B"] for ballot in ballots)

    assert 70 <= shown_first <= 130  # 200 fair coins leave this range once in 30,000


async def test_a_random_chairman_ends_with_the_trailer() -> None:
    text, _, trailer = (await said(FENCES)).rpartition("\n")

    ending = json.loads(trailer)
    assert ending["departs"] is False
    assert text == {"A": "Cache it.", "B": "Index it."}[ending["drawn_on"][0]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param(
            "s.json",
            '{"answers": ["One", "Two"], "ballots": [[["A", "B"]], "{nonce}?"], '
            '"syntheses": ["Both."]}',
            id="json",
        ),
        pytest.param(
            "s.toml",
            'answers = ["One", "Two"]\nballots = [[["A", "B"]], "{nonce}?"]\nsyntheses = ["Both."]',
            id="toml",
        ),
    ],
)
async def test_a_script_is_followed_in_order(folder: Path, name: str, content: str) -> None:
    folder.joinpath(name).write_text(content)
    gateway = ScriptedGateway()
    prompts = ("Why?", "How?", BALLOT, BALLOT, FENCES)

    one, two, ballot, raw, synthesis = [
        (await gateway.complete(a_call(prompt, f"scripted/{name}"))).text for prompt in prompts
    ]

    assert (one, two, raw, synthesis) == ("One", "Two", "4f9c?", "Both.")
    assert json.loads(ballot)["ranking"] == [["A", "B"]]
    assert json.loads(ballot)["nonce"] == "4f9c"


async def test_each_seat_reads_a_shared_script_from_its_start(folder: Path) -> None:
    folder.joinpath("s.json").write_text('{"answers": ["One"]}')
    gateway = ScriptedGateway()

    replies = [await gateway.complete(a_call("Why?", key, "scripted/s.json")) for key in "ab"]

    assert [reply.text for reply in replies] == ["One", "One"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(
            None, "has a script, 's.json', that does not exist or can't be opened", id="missing"
        ),
        pytest.param("{", "has a script, 's.json', that can't be read", id="broken"),
        pytest.param("[]", "has a script, 's.json', without named lists", id="a-list"),
        pytest.param("{}", "has no answers left in its script", id="nothing-left"),
        pytest.param('{"answers": [3]}', "has a script whose answers are not all text", id="3"),
        pytest.param('{"answers": [" "]}', "gave an empty answer", id="empty"),
    ],
)
async def test_an_unusable_script_is_one_sentence(
    folder: Path, content: str | None, reason: str
) -> None:
    if content is not None:
        folder.joinpath("s.json").write_text(content)

    with pytest.raises(GatewayError) as failed:
        await ScriptedGateway().complete(a_call("Why?", "scripted/s.json"))

    assert str(failed.value) == reason


async def test_the_text_is_reported_once_and_is_free() -> None:
    texts: list[str] = []
    member = a_call("Why?").member

    reply = await ScriptedGateway().complete(Call(member, Prompt("", "Why?"), on_text=texts.append))

    assert texts == [reply.text]
    assert reply.cost_usd == 0.0
