"""The ballot parser is strict and distinguishes every fault."""

import json

import pytest

from council.ballots import (
    FIRST_VERSION,
    SECOND_VERSION,
    Ballot,
    BallotFault,
    ParsedBallot,
    parse_ballot,
)

NONCE = "4f9c"
LETTERS = ("A", "B", "C")


def _reply(ranking: object, **more: object) -> str:
    return json.dumps({"nonce": NONCE, "reason": "Fine.", "ranking": ranking, **more})


GOOD = _reply([["A"], ["B"], ["C"]])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("", BallotFault.NO_OBJECT, id="empty"),
        pytest.param("A, B, C", BallotFault.NO_OBJECT, id="prose"),
        pytest.param(f"<think>{GOOD}</think>", BallotFault.NO_OBJECT, id="only-thought"),
        pytest.param(GOOD[:-2], BallotFault.BROKEN, id="cut"),
        pytest.param('{"nonce": NaN}', BallotFault.BROKEN, id="not-json"),
        pytest.param('{"a": ' * 2_500, BallotFault.BROKEN, id="bottomless"),
        pytest.param(f'{{"nonce": {"9" * 5_000}}}', BallotFault.BROKEN, id="endless-number"),
        pytest.param(GOOD + _reply([["B"]]), BallotFault.TWO_OBJECTS, id="two"),
        pytest.param(f"I think B is weak. {GOOD}", BallotFault.PROSE, id="prose-before"),
        pytest.param(f"{GOOD} Done.", BallotFault.PROSE, id="prose-after"),
        pytest.param(f"{GOOD} and {GOOD}", BallotFault.PROSE, id="prose-between"),
        pytest.param(
            '{"nonce": "4f9c", "nonce": "4f9c"}', BallotFault.REPEATED_KEY, id="key-twice"
        ),
        pytest.param(GOOD.replace("4f9c", "4f9d"), BallotFault.NONCE, id="wrong-nonce"),
        pytest.param('{"ranking": [["A"]]}', BallotFault.NONCE, id="no-nonce"),
        pytest.param('{"nonce": "4f9c"}', BallotFault.SHAPE, id="no-ranking"),
        pytest.param(_reply("ABC"), BallotFault.SHAPE, id="ranking-is-text"),
        pytest.param(_reply([[1]]), BallotFault.SHAPE, id="letter-is-a-number"),
        pytest.param(_reply([["A"]], unranked="B"), BallotFault.SHAPE, id="unranked-is-text"),
        pytest.param(_reply([]), BallotFault.EMPTY, id="nothing-ranked"),
        pytest.param(_reply([["A"], []]), BallotFault.EMPTY, id="an-empty-place"),
        pytest.param(_reply([], unranked=["A", "B", "C"]), BallotFault.EMPTY, id="all-unranked"),
        pytest.param(_reply([["D"]]), BallotFault.UNKNOWN_LETTER, id="off-the-slate"),
        pytest.param(_reply([["the best"]]), BallotFault.UNKNOWN_LETTER, id="no-letter"),
        pytest.param(_reply([["A"], ["A"]]), BallotFault.REPEATED_LETTER, id="letter-twice"),
        pytest.param(_reply([["A", "A"]]), BallotFault.REPEATED_LETTER, id="tied-with-itself"),
        pytest.param(
            _reply([["A"]], unranked=["A"]), BallotFault.REPEATED_LETTER, id="also-unranked"
        ),
        pytest.param(_reply([["A"]], winner="B"), BallotFault.UNDECLARED_KEY, id="undeclared"),
        pytest.param(_reply([["A"]], reason=["x"]), BallotFault.REASON, id="reason-is-a-list"),
        pytest.param(
            _reply([["A"]], final_order=["B"]), BallotFault.TWO_RANKINGS, id="second-ranking"
        ),
    ],
)
def test_a_fault_is_named(text: str, fault: BallotFault) -> None:
    assert parse_ballot(text, NONCE, LETTERS) is fault


@pytest.mark.parametrize("fault", BallotFault)
def test_a_fault_continues_a_sentence(fault: BallotFault) -> None:
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
def test_a_ballot_is_parsed(text: str, ranking: tuple[tuple[str, ...], ...]) -> None:
    assert parse_ballot(text, NONCE, LETTERS) == ParsedBallot(ranking, "Fine.")


def test_a_long_reason_is_cut() -> None:
    reply = _reply([["A"]], reason="é" * 2_000)

    parsed = parse_ballot(reply, NONCE, LETTERS)

    assert isinstance(parsed, ParsedBallot)
    assert parsed.reason == "é" * 1_022 + "…"
    assert Ballot("x", (), (), parsed.reason).has_cut_reason
    assert not Ballot("x", (), (), "And so on…").has_cut_reason


def test_a_reply_is_limited_with_and_without_its_thinking() -> None:
    thinking = f"<think>{'x' * 60_000}</think>{GOOD}"

    assert isinstance(parse_ballot(thinking, NONCE, LETTERS), ParsedBallot)
    for long in (" " * 65_537, thinking + " " * 16_384, GOOD + " " * 16_384):
        assert parse_ballot(long, NONCE, LETTERS) is BallotFault.TOO_LONG


def test_a_missing_reason_is_empty() -> None:
    assert parse_ballot(_reply([["A"]], reason=None), NONCE, LETTERS) == ParsedBallot(
        (("A",), ("B", "C")), ""
    )


@pytest.mark.parametrize(
    ("text", "first"),
    [
        pytest.param(_reply([["A"]], winner="B"), "Fine.", id="undeclared-key"),
        pytest.param(_reply([["A"]], reason=["x"]), "", id="reason-is-a-list"),
        pytest.param(_reply([["A"]]) + " " * 70_000, "Fine.", id="long"),
        pytest.param(_reply([["A"]], reason="x" * 3_000), "x" * 3_000, id="long-reason"),
        pytest.param(_reply([["A"]])[:-1] + ",}", BallotFault.BROKEN, id="trailing-comma"),
        pytest.param(_reply([["**A**"]]), BallotFault.UNKNOWN_LETTER, id="bold"),
        pytest.param(GOOD + "</s>", BallotFault.PROSE, id="end-token"),
        pytest.param(GOOD.replace("n", "N"), BallotFault.NONCE, id="capitals"),
    ],
)
def test_ballots_of_the_first_version_are_read_as_they_were(
    text: str, first: str | BallotFault
) -> None:
    parsed = parse_ballot(text, NONCE, LETTERS, FIRST_VERSION)

    assert (parsed.reason if isinstance(parsed, ParsedBallot) else parsed) == first
    assert parsed != parse_ballot(text, NONCE, LETTERS)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"Final answer:\n{GOOD}", id="lead-in"),
        pytest.param(f"<answer>{GOOD}</answer>", id="tags"),
        pytest.param(f"{GOOD}\nI hope this helps!", id="remark"),
        pytest.param(f"[THINK]Hm.[/THINK]{GOOD}", id="thought"),
        pytest.param(f"<|channel|>final<|message|>{GOOD}", id="chat-token"),
        pytest.param(GOOD.replace(" ", "\u00a0", 1), id="space"),
        pytest.param(GOOD.replace('"A"', '"response_A"'), id="label"),
    ],
)
def test_ballots_of_the_second_version_are_read_as_they_were(text: str) -> None:
    assert isinstance(parse_ballot(text, NONCE, LETTERS, SECOND_VERSION), BallotFault)
    assert isinstance(parse_ballot(text, NONCE, LETTERS), ParsedBallot)


@pytest.mark.parametrize(
    "text", ["I weigh both.</think>{}", "<think>Hm.</think>{}</s>", "Here is my ballot: {}", "{}"]
)
def test_the_second_version_reads_thinking_and_lead_ins(text: str) -> None:
    parsed = parse_ballot(text.format(GOOD), NONCE, LETTERS, SECOND_VERSION)

    assert parsed == ParsedBallot((("A",), ("B",), ("C",)), "Fine.")


def _ballot(first: str, second: str) -> str:
    return f'{{"nonce": "n", "reason": "x", "ranking": [["{first}"], ["{second}"]]}}'


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{_ballot('B', 'A')}\n```\n</think>\n{_ballot('A', 'B')}",
        f"Here is my ballot: {_ballot('B', 'A')} </think> {_ballot('A', 'B')}",
        f"{_ballot('A', 'B')}\n``` void ``` do ``` not ``` count",
        "my " * 5_400 + "! " + _ballot("A", "B"),
    ],
    ids=["fenced before", "said before", "words after fences", "long before"],
)
def test_a_ballot_that_something_contradicts_is_spoiled(text: str) -> None:
    assert isinstance(parse_ballot(text, "n", ("A", "B")), BallotFault)


@pytest.mark.parametrize(
    ("escaped", "stored"), [("a\\ud800b", "a?b"), ("a\\u0000b", "ab"), ("a\\uffffb", "ab")]
)
def test_what_no_store_accepts_is_taken_out_of_a_reason(escaped: str, stored: str) -> None:
    parsed = parse_ballot(_ballot("A", "B").replace('"x"', f'"{escaped}"'), "n", ("A", "B"))

    assert isinstance(parsed, ParsedBallot)
    assert parsed.reason == stored


def test_a_long_lead_in_of_an_older_round_is_read_as_it_was() -> None:
    text = "here is the final ballot: ".replace("the ", "the " * 60) + _ballot("A", "B")

    assert isinstance(parse_ballot(text, "n", ("A", "B"), FIRST_VERSION), ParsedBallot)
    assert isinstance(parse_ballot(text, "n", ("A", "B")), BallotFault)
