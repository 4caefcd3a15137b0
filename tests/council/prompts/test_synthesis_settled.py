"""The part of a draft that may be sent on: no further text takes any of it back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from council.prompts.synthesis import (
    JudgesReport,
    chair_prompt,
    parse_chair_reply,
    settled_draft,
    visible_draft,
)
from tests.builders import a_question, labels

LABELS = labels("K M Q")
PIECES = (
    "Use Postgres",
    " as Response K",
    " says",
    "(Response K and M)",
    "answers K, M or Q",
    " (",
    "Answer",
    " K",
    "and",
    " or",
    "resp",
    ". ",
    "\n\n",
    "```",
    "{",
    '{"a": 1}',
    " K)",
    ",",
    "a",
)
TRAILERS = (
    "",
    '\n```\n{"drawn_on": ["K"]}\n```\n',
    '{"drawn_on": []}\n```',
    ' ~~~json {"drawn_on": []} ~~~',
    "\n`",
    '\n{"drawn_on": ["K"], "departs": false}',
    '\n```json\n{"drawn_on" : ["K"]}\n```',
)


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=8), trailer=st.sampled_from(TRAILERS))
@example(pieces=["(Response K and M)"], trailer=TRAILERS[1])
def test_what_is_settled_stays_in_the_answer(pieces: list[str], trailer: str) -> None:
    reply = "".join(pieces) + trailer
    answer = parse_chair_reply(reply, LABELS).text

    for end in range(len(reply) + 1):
        assert answer.startswith(settled_draft(visible_draft(reply[:end])))


@pytest.mark.parametrize(
    ("draft", "settled"),
    [
        ("Use Postgres", "Use Postgres"),
        ("Use Postgres. ", "Use Postgres."),
        ("As Resp", "As"),
        ("As Response K", "As"),
        ("As Response K and", "As"),
        ("As Response K says", "As one answer says"),
        ("It is (Response K, M", "It is"),
        ("It is (Response K, M) so", "It is  so"),
        ("Response K says", "One of the answers says"),
        ("a\0b\ud800", "ab?"),
    ],
)
def test_a_label_is_sent_once_it_is_complete(draft: str, settled: str) -> None:
    assert settled_draft(draft) == settled


def test_a_chairman_is_told_the_length_that_was_asked_for() -> None:
    texts = {LABELS[0]: "Yes."}
    prompts = [
        chair_prompt(a_question(), texts, JudgesReport(), "n", max_tokens=tokens).system
        for tokens in (None, 1, 300)
    ]

    assert "Keep the answer" not in prompts[0]
    assert "\nKeep the answer within 1 words." in prompts[1]
    assert "\nKeep the answer within 150 words." in prompts[2]
