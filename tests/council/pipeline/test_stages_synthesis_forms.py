"""An answer that must be JSON: it is checked, asked for again once with the fault, else missing."""

from dataclasses import replace

from council.answers import Absence, Reply, Role
from council.errors import GatewayError
from council.pipeline.synthesis import DOES_NOT_FIT
from council.rounds import Fallback, Round
from tests.builders import CLAUDE, GPT, a_member, a_panel, a_round
from tests.council.pipeline.helpers import run_with_fakes
from tests.fakes.gateway import FakeGateway, ScriptEntry

SCHEMA = '{"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}'
TRAILER = '{"drawn_on": [], "departs": false, "why": ""}'
RIGHT = f'```json\n{{"age": 7}}\n```\n{TRAILER}'
WRONG = f'{{"age": "seven"}}\n{TRAILER}'
FAULT = "at $.age: 'seven' is not of type 'integer'"


def a_round_with_schema(panel: object = None) -> Round:
    round_ = a_round(panel) if panel else a_round()  # type: ignore[arg-type]
    return replace(round_, question=replace(round_.question, answer_schema=SCHEMA))


async def ask(*says: ScriptEntry) -> tuple[Round, FakeGateway]:
    gateway = FakeGateway(chairmen={CLAUDE: says, GPT: WRONG})
    return await run_with_fakes(a_round_with_schema(), gateway), gateway


async def test_the_chairman_reads_the_schema_and_its_answer_is_the_bare_json() -> None:
    round_, gateway = await ask(RIGHT)

    assert round_.synthesis is not None
    assert round_.synthesis.text == '{"age": 7}'
    assert [SCHEMA in call.prompt.system for call in gateway.of(Role.SYNTHESIS)] == [True]
    assert not any(SCHEMA in call.prompt.system for call in gateway.of(Role.ANSWER))


async def test_an_answer_that_does_not_fit_is_asked_for_once_more_with_its_fault() -> None:
    first = Reply(WRONG, tokens_in=10, tokens_out=5, cost_usd=0.1, seconds=1.0)
    second = Reply(RIGHT, tokens_in=20, tokens_out=7, cost_usd=0.2, seconds=2.0)

    round_, gateway = await ask(first, second)

    assert round_.synthesis is not None
    assert round_.synthesis.text == '{"age": 7}'
    reply = round_.synthesis.reply
    assert reply is not None
    assert (reply.text, reply.tokens_in, reply.tokens_out) == (RIGHT, 30, 12)
    assert (reply.seconds, reply.attempts) == (3.0, 2)
    assert reply.cost_usd is not None
    assert round(reply.cost_usd, 9) == 0.3
    again = gateway.of(Role.SYNTHESIS)[1].prompt
    assert again.user.endswith(f"An earlier answer could not be used because {FAULT}.")


async def test_unknown_counts_of_either_reply_stay_unknown() -> None:
    round_, _ = await ask(Reply(WRONG, tokens_in=10), Reply(RIGHT, tokens_in=20, tokens_out=7))

    assert round_.synthesis is not None
    assert round_.synthesis.reply is not None
    assert round_.synthesis.reply.tokens_in == 30
    assert round_.synthesis.reply.tokens_out is None


async def test_a_chairman_who_fails_twice_is_absent_and_what_it_wrote_is_kept() -> None:
    round_, gateway = await ask(WRONG, WRONG)

    absent = [
        Absence(key, Role.SYNTHESIS, DOES_NOT_FIT.format(fault=FAULT)) for key in (CLAUDE, GPT)
    ]
    assert round_.absences[:2] == tuple(absent)
    assert [(late.member, late.reply.text) for late in round_.late][:2] == [
        (CLAUDE, WRONG),
        (GPT, WRONG),
    ]
    assert len(gateway.of(Role.SYNTHESIS)) == 6
    assert round_.synthesis is not None
    assert round_.synthesis.fallback is Fallback.ANSWER


async def test_the_next_chairman_is_asked_where_the_second_call_fails() -> None:
    gateway = FakeGateway(chairmen={CLAUDE: (WRONG, GatewayError("is gone")), GPT: RIGHT})

    round_ = await run_with_fakes(a_round_with_schema(), gateway)

    assert round_.absences == (Absence(CLAUDE, Role.SYNTHESIS, "is gone"),)
    assert round_.synthesis is not None
    assert (round_.synthesis.chairman, round_.synthesis.text) == (GPT, '{"age": 7}')


async def test_demo_models_write_the_json_since_no_answer_of_theirs_fits() -> None:
    members = tuple(a_member(key, demonstration=True) for key in (CLAUDE, GPT))
    panel = replace(a_panel(), members=members)

    round_ = await run_with_fakes(a_round_with_schema(panel), FakeGateway(chairmen={CLAUDE: RIGHT}))

    assert round_.synthesis is not None
    assert (round_.synthesis.chairman, round_.synthesis.text) == (CLAUDE, '{"age": 7}')
