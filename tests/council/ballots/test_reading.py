"""A reply is read strictly, and each fault is told apart."""

import json

import pytest

from council.ballots import Fault, Reading, read_ballot

NONCE = "4f9c"
LETTERS = ("A", "B", "C")


def _reply(ranking: object, **more: object) -> str:
    return json.dumps({"nonce": NONCE, "reason": "Fine.", "ranking": ranking, **more})


GOOD = _reply([["A"], ["B"], ["C"]])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("", Fault.NO_OBJECT, id="empty"),
        pytest.param("A, B, C", Fault.NO_OBJECT, id="prose"),
        pytest.param(f"<think>{GOOD}</think>", Fault.NO_OBJECT, id="only-thought"),
        pytest.param(GOOD[:-2], Fault.BROKEN, id="cut"),
        pytest.param('{"nonce": NaN}', Fault.BROKEN, id="not-json"),
        pytest.param('{"a": ' * 50_000, Fault.BROKEN, id="bottomless"),
        pytest.param(f'{{"nonce": {"9" * 5_000}}}', Fault.BROKEN, id="endless-number"),
        pytest.param(GOOD + _reply([["B"]]), Fault.TWO_OBJECTS, id="two"),
        pytest.param(f"I think B is weak. {GOOD}", Fault.PROSE, id="prose-before"),
        pytest.param(f"{GOOD} Done.", Fault.PROSE, id="prose-after"),
        pytest.param(f"{GOOD} and {GOOD}", Fault.PROSE, id="prose-between"),
        pytest.param('{"nonce": "4f9c", "nonce": "4f9c"}', Fault.REPEATED_KEY, id="key-twice"),
        pytest.param(GOOD.replace("4f9c", "4f9d"), Fault.NONCE, id="wrong-nonce"),
        pytest.param('{"ranking": [["A"]]}', Fault.NONCE, id="no-nonce"),
        pytest.param('{"nonce": "4f9c"}', Fault.SHAPE, id="no-ranking"),
        pytest.param(_reply("ABC"), Fault.SHAPE, id="ranking-is-text"),
        pytest.param(_reply([[1]]), Fault.SHAPE, id="letter-is-a-number"),
        pytest.param(_reply([["A"]], unranked="B"), Fault.SHAPE, id="unranked-is-text"),
        pytest.param(_reply([]), Fault.EMPTY, id="nothing-ranked"),
        pytest.param(_reply([["A"], []]), Fault.EMPTY, id="an-empty-place"),
        pytest.param(_reply([], unranked=["A", "B", "C"]), Fault.EMPTY, id="all-unranked"),
        pytest.param(_reply([["D"]]), Fault.UNKNOWN_LETTER, id="off-the-slate"),
        pytest.param(_reply([["the best"]]), Fault.UNKNOWN_LETTER, id="no-letter"),
        pytest.param(_reply([["A"], ["A"]]), Fault.REPEATED_LETTER, id="letter-twice"),
        pytest.param(_reply([["A", "A"]]), Fault.REPEATED_LETTER, id="tied-with-itself"),
        pytest.param(_reply([["A"]], unranked=["A"]), Fault.REPEATED_LETTER, id="also-unranked"),
        pytest.param(_reply([["A"]], final_order=["B"]), Fault.TWO_RANKINGS, id="second-ranking"),
    ],
)
def test_a_fault_is_named(text: str, fault: Fault) -> None:
    assert read_ballot(text, NONCE, LETTERS) is fault


@pytest.mark.parametrize("fault", Fault)
def test_a_fault_reads_on_after_because(fault: Fault) -> None:
    assert fault.value.startswith(("it ", "its "))
    assert not fault.value.endswith(".")


@pytest.mark.parametrize(
    ("text", "ranking"),
    [
        pytest.param(GOOD, (("A",), ("B",), ("C",)), id="plain"),
        pytest.param(_reply(["A", "B", "C"]), (("A",), ("B",), ("C",)), id="bare-letters"),
        pytest.param(_reply([["C"], ["A", "B"]]), (("C",), ("A", "B")), id="tie"),
        pytest.param(_reply([["B"]]), (("B",), ("A", "C")), id="rest-unranked"),
        pytest.param(
            _reply([["B"]], unranked=["A", "C"]), (("B",), ("A", "C")), id="rest-said-unranked"
        ),
        pytest.param(_reply([["response b"], [" C "]]), (("B",), ("C",), ("A",)), id="worded"),
        pytest.param(f"```json\n{GOOD}\n```", (("A",), ("B",), ("C",)), id="code-fence"),
        pytest.param(f"Here is my ballot:\n{GOOD}", (("A",), ("B",), ("C",)), id="lead-in"),
        pytest.param(f"<think>Hm {{}}</think>{GOOD}", (("A",), ("B",), ("C",)), id="thought"),
        pytest.param(f"\ufeff{GOOD}\n{GOOD}", (("A",), ("B",), ("C",)), id="said-twice"),
    ],
)
def test_a_ballot_is_read(text: str, ranking: tuple[tuple[str, ...], ...]) -> None:
    assert read_ballot(text, NONCE, LETTERS) == Reading(ranking, "Fine.")


def test_a_reason_that_is_no_text_is_empty() -> None:
    assert read_ballot(_reply([["A"]], reason=["x"]), NONCE, LETTERS) == Reading(
        (("A",), ("B", "C")), ""
    )
