"""The parser of a chairman's reply: the answer, and the JSON object on its last line."""

import pytest

from council.labels import Label
from council.prompts.synthesis import parse_chair_reply, visible_draft
from council.rounds import Synthesis
from tests.builders import labels

LABELS = labels("K M Q")
TRAILER = '{"drawn_on": ["K", "M"], "departs": true, "why": "Q is wrong."}'


def _read(
    text: str, drawn_on: tuple[Label, ...] = (), *, departs: bool = False, why: str | None = None
) -> Synthesis:
    return Synthesis(text, None, drawn_on=drawn_on, departs=departs, why=why)


READ = _read("Use Postgres.", labels("K M"), departs=True, why="Q is wrong.")


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(f"Use Postgres.\n{TRAILER}", id="last-line"),
        pytest.param(f"Use Postgres.\n\n{TRAILER}\n\n", id="blank-lines"),
        pytest.param(f"Use Postgres. {TRAILER}", id="same-line"),
        pytest.param(f"Use Postgres.\n```json\n{TRAILER}\n```", id="code-fence"),
        pytest.param(f"Use Postgres.\n```\n{TRAILER}\n```\n", id="bare-code-fence"),
        pytest.param(
            "Use Postgres.\n" + TRAILER.replace(", ", ",\n  ").replace("{", "{\n  "),
            id="many-lines",
        ),
        pytest.param(f"Use Postgres.\n{TRAILER.replace('K', 'Response K')}", id="worded-labels"),
        pytest.param(f"Use Postgres.\n{TRAILER.replace('K', ' k ')}", id="lower-case-labels"),
    ],
)
def test_the_trailer_is_parsed_and_removed(reply: str) -> None:
    assert parse_chair_reply(reply, LABELS) == READ


@pytest.mark.parametrize(
    ("trailer", "text"),
    [
        pytest.param("", "Use Postgres.", id="missing"),
        pytest.param('{"drawn_on": ["K"', "Use Postgres.", id="ends-early"),
        pytest.param('{"drawn_on": [K]}', "Use Postgres.", id="not-json"),
        pytest.param('{"drawn_on": "K"}', "Use Postgres.", id="not-a-list"),
        pytest.param(
            '{"drawn_on": [], "departs": "yes", "why": 3}', "Use Postgres.", id="mistyped"
        ),
        pytest.param('{"drawn_on": ["A", "Z"]}', "Use Postgres.", id="unknown-labels"),
        pytest.param('{"drawn_on": [["K"]]}', "Use Postgres.", id="nested"),
    ],
)
def test_missing_trailer_fields_are_empty(trailer: str, text: str) -> None:
    assert parse_chair_reply(f"Use Postgres.\n{trailer}", LABELS) == _read(text)


def test_json_inside_the_answer_stays() -> None:
    reply = f"Send this:\n{TRAILER}\nand wait."

    assert parse_chair_reply(reply, LABELS) == _read(reply)


def test_an_empty_reason_is_none() -> None:
    reply = 'Yes.\n{"drawn_on": ["Q"], "departs": false, "why": "  "}'

    assert parse_chair_reply(reply, LABELS) == _read("Yes.", labels("Q"))


def test_labels_are_returned_in_the_order_of_the_round() -> None:
    reply = 'Yes.\n{"drawn_on": ["Q", "K", "Q"]}'

    assert parse_chair_reply(reply, LABELS).drawn_on == labels("K Q")


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("Response K is right.", "One of the answers is right."),
        ("As Response K says, yes.", "As one answer says, yes."),
        ("As answers K, M and Q say, yes.", "As one answer say, yes."),
        ("It scales (Response K).", "It scales ."),
        ("It scales ( Responses K and M ) well.", "It scales  well."),
        ("Vitamin K and plan M stay.", "Vitamin K and plan M stay."),
        ("The answer is 42.", "The answer is 42."),
        ("Response Kafka stays.", "Response Kafka stays."),
    ],
)
def test_labels_are_removed_from_the_text(reply: str, read: str) -> None:
    assert parse_chair_reply(reply, LABELS).text == read


def test_no_parenthesis_is_lost_with_a_label() -> None:
    text = parse_chair_reply("It scales (Response K says so).", LABELS).text

    assert text.count("(") == text.count(")") == 1


def test_a_reply_of_only_a_trailer_is_empty() -> None:
    assert parse_chair_reply(TRAILER, LABELS).text == ""


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        pytest.param("Use Post", "Use Post", id="one-line"),
        pytest.param("Use Postgres.\nIt is", "Use Postgres.\nIt is", id="prose-goes-on"),
        pytest.param('Use Postgres.\n{"drawn', "Use Postgres.", id="the-object-begins"),
        pytest.param("Use Postgres.\n\n```js", "Use Postgres.", id="its-fence-begins"),
    ],
)
def test_a_draft_hides_the_trailer(written: str, seen: str) -> None:
    assert visible_draft(written) == seen


def test_what_no_store_accepts_is_taken_out_of_the_reason_to_depart() -> None:
    read = parse_chair_reply('Use Postgres.\n{"drawn_on": [], "why": "a\\u0000b\\ud800"}', LABELS)

    assert read.why == "ab?"
