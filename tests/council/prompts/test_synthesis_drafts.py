"""A synthesis is shown while it is written, without the JSON object after it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from council.prompts.synthesis import parse_chair_reply, visible_draft
from tests.builders import labels

ANSWER = "# Use Postgres\n\nIt is **enough** for a queue.\n\n- One, `two`\n- three."
TRAILER = '{"drawn_on": ["K", "M"], "departs": true, "why": "Q is wrong."}'
WAYS = {
    "last-line": f"\n{TRAILER}",
    "blank-lines": f"\n\n{TRAILER}\n\n",
    "same-line": f" {TRAILER}",
    "code-fence": f"\n```json\n{TRAILER}\n```",
    "bare-code-fence": f"\n```\n{TRAILER}\n```\n",
    "fence-in-the-line": f" ```json {TRAILER} ```",
    "many-lines": "\n" + TRAILER.replace(", ", ",\n  ").replace("{", "{\n  "),
    "many-fenced-lines": "\n```json\n" + TRAILER.replace(", ", ",\n").replace("{", "{\n") + "\n```",
}
PLAIN = st.text(st.characters(exclude_characters="`{", exclude_categories=["Cs"]), max_size=60)


def prefixes(text: str) -> list[str]:
    return [text[:end] for end in range(len(text) + 1)]


@pytest.mark.parametrize("after", WAYS.values(), ids=WAYS)
def test_a_partial_trailer_is_never_shown(after: str) -> None:
    shown = [visible_draft(text) for text in prefixes(ANSWER + after)]

    # Of two spaces or lines before the object one may be there already.
    assert all(ANSWER.startswith(draft.rstrip()) for draft in shown)
    assert shown[-1] == ANSWER


@given(answer=PLAIN, after=st.sampled_from(sorted(WAYS.values())))
@example(answer="", after=WAYS["last-line"])
def test_a_draft_is_a_prefix_of_the_answer(answer: str, after: str) -> None:
    for text in prefixes(answer + after):
        assert answer.startswith(visible_draft(text).rstrip())

    assert visible_draft(answer + after) == answer.rstrip()


@given(answer=PLAIN)
def test_an_answer_without_a_trailer_is_shown_whole(answer: str) -> None:
    assert visible_draft(answer).rstrip() == answer.rstrip()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param('Send {"drawn_on": []} and wait.', id="object-in-the-middle"),
        pytest.param("Write `x`, then `y`.", id="code"),
        pytest.param("if (x) { y(); }", id="braces"),
        pytest.param('It is {"no": 1}', id="another-object"),
        pytest.param("```python\nx = {1: 2}\n```\n\nDone.", id="code-block"),
    ],
)
def test_complete_code_in_a_draft_is_shown(answer: str) -> None:
    assert visible_draft(answer) == answer


@given(answer=PLAIN, after=st.sampled_from(sorted(WAYS.values())))
def test_the_last_draft_equals_the_parsed_answer(answer: str, after: str) -> None:
    reply = "Use Postgres. " + answer + after

    read = parse_chair_reply(reply, labels("K M Q"))

    assert visible_draft(reply).strip() == read.text
