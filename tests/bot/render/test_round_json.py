"""The JSON of a round has a fixed set of keys and shows unknown values as null."""

import json

from bot.render.round_json import round_document
from council.answers import LateReply, Prompt, Reply, Role
from council.errors import GatewayError
from council.rounds import Closing, Round
from tests.bot.rounds import answers, held
from tests.builders import CLAUDE, GEMINI, GPT, NAMES, a_panel, a_round
from tests.fakes.gateway import FakeGateway

ROUND = (
    "id question asked_by asked_at panel method seed stage answers absences ballots spoiled "
    "standings verdict synthesis cost_usd tokens_in tokens_out seconds"
)
LISTS = {
    "answers": "member label text tokens_in tokens_out cost_usd seconds scrubbed",
    "absences": "member role reason",
    "ballots": "judge shown ranking reason nonce attempts counted audit",
    "spoiled": "judge fault text audit",
    "standings": "member label place share points max_points first_votes",
}
VERDICT = "strength p first_on too_few_judges kendall_w n_eff flags"
SYNTHESIS = "text chairman fallback drawn_on departs why tokens_in tokens_out cost_usd seconds"
GONE = GatewayError("could not be reached")


async def eventful() -> Round:
    """Return a round in which every kind of event happened."""
    gateway = FakeGateway(
        answers={**answers("1", "2", "3", "4", "5"), GEMINI: GONE},
        judges={GPT: "?", GEMINI: GONE},
        chairmen={CLAUDE: 'Yes.\n{"drawn_on": [], "departs": false, "why": ""}'},
    )
    return await held(gateway, a_panel(5))


async def test_a_round_and_its_parts_have_every_fixed_key() -> None:
    said = round_document(await eventful())

    assert set(ROUND.split()) <= said.keys()
    for part, keys in LISTS.items():
        assert said[part]
        assert all(set(keys.split()) <= entry.keys() for entry in said[part])
    assert set(VERDICT.split()) <= said["verdict"].keys()
    assert set(SYNTHESIS.split()) <= said["synthesis"].keys()
    assert json.loads(json.dumps(said)) == said


async def test_seats_are_identified_by_key_and_answers_by_public_label() -> None:
    said = round_document(await eventful())

    seats = {
        entry["member"] for part in ("answers", "absences", "standings") for entry in said[part]
    }
    seats |= {entry["judge"] for part in ("ballots", "spoiled") for entry in said[part]}
    labels = {answer["label"] for answer in said["answers"]}
    assert {*seats, said["synthesis"]["chairman"]} <= NAMES.keys()
    assert {label for ballot in said["ballots"] for label in ballot["shown"]} <= labels
    assert labels <= set("KLMNOPQRSTUVWXYZ")


def test_late_replies_are_listed_apart_from_answers_and_their_cost_counts() -> None:
    reply = Reply("At last.", tokens_in=3, tokens_out=4, cost_usd=0.5, seconds=9.0)
    late = LateReply(CLAUDE, Role.ANSWER, Prompt("", ""), reply)

    said = round_document(a_round().with_(late).with_(Closing(9.0)))

    assert said["answers"] == []
    assert said["late"] == [
        {
            "member": CLAUDE,
            "role": "answer",
            "text": "At last.",
            "tokens_in": 3,
            "tokens_out": 4,
            "cost_usd": 0.5,
            "seconds": 9.0,
        }
    ]
    assert said["cost_usd"] == 0.5


async def test_an_unknown_cost_is_null_and_makes_the_sum_null() -> None:
    priced = {key: Reply("1", cost_usd=0.01, tokens_in=3) for key in list(NAMES)[:3]}
    said = round_document(await held(FakeGateway(answers=priced)))

    assert [answer["cost_usd"] for answer in said["answers"]] == [0.01, 0.01, 0.01, None]
    assert said["cost_usd"] is None
    assert said["tokens_in"] is None


async def test_a_fallback_has_its_enum_value() -> None:
    whole = round_document(await held())
    second = round_document(await held(FakeGateway(chairmen={CLAUDE: GONE})))
    none = round_document(await held(FakeGateway(chairmen=dict.fromkeys(NAMES, GONE))))

    assert [said["synthesis"]["fallback"] for said in (whole, second, none)] == [
        None,
        "chairman",
        "answer",
    ]
    assert none["synthesis"]["chairman"] is None


async def test_a_new_round_is_a_valid_document() -> None:
    said = round_document(a_round())

    assert (said["stage"], said["answers"], said["verdict"], said["synthesis"]) == (
        "open",
        [],
        None,
        None,
    )
    assert said["seconds"] is None
