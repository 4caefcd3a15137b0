"""Grades are parsed strictly from replies."""

import json

import pytest

from council.ballots import BallotFault
from council.research.experiment_runner import NO_GRADE, NO_OBJECT, TWO_GRADES, parse_grade

NONCE = "4f9c4f9c4f9c4f9c"


def reply(grade: object = 4, **others: object) -> str:
    return json.dumps({"nonce": NONCE, "reason": "It is right.", "grade": grade, **others})


@pytest.mark.parametrize(
    ("text", "read"),
    [
        pytest.param(reply(), 4, id="plain"),
        pytest.param(reply("4"), 4, id="as-text"),
        pytest.param(f"<think>5? 4.</think>\n```json\n{reply()}\n```", 4, id="thought-and-fenced"),
        pytest.param(reply(0), NO_GRADE, id="below"),
        pytest.param(reply(6), NO_GRADE, id="above"),
        pytest.param(reply(4.5), NO_GRADE, id="half"),
        pytest.param(reply("4-5"), NO_GRADE, id="range"),
        pytest.param(reply(None), NO_GRADE, id="null"),
        pytest.param(reply(True), NO_GRADE, id="truth"),
        pytest.param(reply([4]), NO_GRADE, id="list"),
        pytest.param(reply(score=3), TWO_GRADES, id="another-grade"),
        pytest.param("I would give it a 4.", NO_OBJECT, id="prose"),
        pytest.param(f"{reply()} Or perhaps 3.", BallotFault.PROSE.value, id="second-thoughts"),
        pytest.param(f"{reply(4)}{reply(3)}", BallotFault.TWO_OBJECTS.value, id="two"),
        pytest.param(reply().replace("4f9c", "beef"), BallotFault.NONCE.value, id="nonce"),
        pytest.param(reply()[:-5], BallotFault.BROKEN.value, id="cut"),
    ],
)
def test_a_reply_is_one_grade_or_names_its_fault(text: str, read: int | str) -> None:
    assert parse_grade(text, NONCE) == read
