"""The parser of a chairman's reply: the answer, and the JSON object on its last line."""

from dataclasses import replace

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from council.labels import Label
from council.prompts.synthesis import parse_chair_reply, split_reply, visible_draft
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


def test_an_answer_in_json_is_not_the_trailer() -> None:
    answer = '{"why": "It commits together.", "open": []}'

    assert parse_chair_reply(answer, LABELS) == _read(answer)
    assert parse_chair_reply(f"{answer}\n{TRAILER}", LABELS) == replace(READ, text=answer)


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


# --- The answer stays as it was written

LINES = TRAILER.replace(", ", ",\n  ").replace("{", "{\n  ")
FORMS = [
    f"\n{TRAILER}",
    f"\n\n{TRAILER}\n\n",
    f" {TRAILER}",
    f"\n{LINES}",
    f"\n`{TRAILER}`",
    *(f"\n{mark}{info}\n{TRAILER}\n{mark}\n" for mark in ("```", "~~~") for info in ("", "json")),
    f"\n```JSON\n{LINES}\n```",
    f" ```json {TRAILER} ```",
    f"\n\n```json\n{TRAILER}",
    *(f"\n```{info}\n{TRAILER}\n```" for info in (" json", "jsonc", "json5", "JSON5", " ")),
    f"\n{TRAILER}.",
    f"\n```json\n{TRAILER};\n```",
]
CODE = "Run this:\n\n```python\nprint(1)\n```"
WRITTEN = st.lists(
    st.sampled_from(
        [
            "Use",
            " it.",
            "\n",
            "\n\n",
            "`x`",
            "`",
            "```",
            "```py\n",
            "\n```",
            "~~~",
            "````",
            "{",
            "}",
            '{"open": ',
            '{"a": 1}',
            "\n{",
            '"',
            "[",
            "json",
            TRAILER,
            "\n- ",
            "    y",
        ]
    ),
    max_size=9,
).map("".join)


@given(answer=WRITTEN | st.text(max_size=40), form=st.sampled_from(FORMS))
@example(answer=CODE, form=FORMS[0])
@example(answer=CODE + "\n\n~~~\nx\n~~~", form=FORMS[1])
@example(answer=f"Send this:\n```json\n{TRAILER}\n```", form=FORMS[0])
@example(answer='Write:\n{"drawn_on": [K]}\nand wait.', form=FORMS[0])
def test_an_answer_comes_back_unchanged_from_any_form_of_the_object(answer: str, form: str) -> None:
    # An open block for JSON at the very end can only be that of the object.
    assume(not answer.rstrip().lower().endswith("json"))

    text, trailer = split_reply(answer + form)

    assert text.rstrip() == answer.rstrip()
    assert trailer["drawn_on"] == ["K", "M"]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        pytest.param(f'{CODE}\n{{"drawn_on": ["K"', CODE, id="cut-off-after-a-block"),
        pytest.param(f'{CODE}\n```json\n{{"drawn_on": ["K"', CODE, id="cut-off-in-its-block"),
        pytest.param(f"```python\nx = 1\n{TRAILER}\n```", "```python\nx = 1\n```", id="in-a-block"),
        pytest.param(f"```md\n```py\nx\n{TRAILER}\n```", "```md\n```py\nx\n```", id="in-a-wrapper"),
        pytest.param(f"{CODE}\n\nDone.\n{TRAILER}\n```", f"{CODE}\n\nDone.", id="a-stray-fence"),
    ],
)
def test_every_block_of_the_answer_keeps_its_end(reply: str, text: str) -> None:
    assert parse_chair_reply(reply, LABELS).text == text


def test_an_object_that_the_answer_ends_with_is_not_ours() -> None:
    reply = 'Reply with this:\n```json\n{"open": true, "close": false}\n```'

    assert split_reply(reply) == (reply, {})
