"""Changes of a run as a post: what moved, by how much, and who is mentioned."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.bakeoffs.render.leaderboard_text import changes_post, no_change_line
from bot.chat import Caution, Heading, Line, Mentions, Note
from council.bakeoffs.changes import Changes, Measure, SwapHint, SwapSign
from tests.bot.bakeoffs.render.boards.builders import CLAUDE, GPT, NAMES, a_move, some_changes


def lines(changes: Changes) -> list[str]:
    post = changes_post(changes, NAMES, "weekly")
    return [part.text for part in post.parts if isinstance(part, Line)]


def test_changes_are_listed_by_member_and_subscribers_are_mentioned() -> None:
    post = changes_post(some_changes(), NAMES, "weekly-sql", ("U0ADA",))

    assert post.parts[0] == Heading("weekly-sql: what changed")
    assert lines(some_changes()) == [
        "Claude Sonnet 4.6 fell from 64 % to 49 % of rivals beaten (−15 points, −22 to −8); "
        "unlikely to be chance.",
        "Gemini 3 Pro writes shorter: 210 words, 480 before.",
        "This can happen when a provider changes the model behind a name.",
        "New: Mistral Large 3 (Europe, long context).",
        "Missing: openai/gone answered in the previous run, but not in this one.",
    ]
    assert post.parts[-2:] == (
        Note(
            "2 models compared with 3 earlier runs, question by question; differences that may "
            "be chance are left out."
        ),
        Mentions(("U0ADA",)),
    )
    assert post.summary.startswith("weekly-sql: Claude Sonnet 4.6 fell")


def test_a_rise_in_right_answers_is_reported() -> None:
    rise = replace(a_move(CLAUDE, 0.2), measure=Measure.ACCURACY)

    assert lines(Changes("b", 2, (rise,)))[0] == (
        "Claude Sonnet 4.6 rose from 64 % to 84 % right (+20 points, +13 to +27); unlikely to be "
        "chance."
    )


@pytest.mark.parametrize(
    ("sign", "before", "now", "said"),
    [
        (SwapSign.LENGTH, 100, 300, "GPT-5.1 writes longer: 300 words, 100 before."),
        (SwapSign.LATENCY, 4, 21, "GPT-5.1 is slower: 21 s, 4.0 s before."),
        (SwapSign.LATENCY, 4, 2, "GPT-5.1 is faster: 2.0 s, 4.0 s before."),
        (SwapSign.REFUSALS, 0.01, 0.12, "GPT-5.1 refuses more often: 12 %, 1 % before."),
        (SwapSign.REFUSALS, 0.12, 0.01, "GPT-5.1 refuses less often: 1 %, 12 % before."),
    ],
)
def test_a_swap_hint_says_what_differs(
    sign: SwapSign, before: float, now: float, said: str
) -> None:
    assert lines(Changes("b", 2, hints=(SwapHint(GPT, sign, before, now, 0.001),)))[0] == said


def test_what_is_missing_stands_above_what_changed() -> None:
    post = changes_post(
        some_changes(), NAMES, "weekly", missing=["GPT-5.1 did not answer 9 of 12."]
    )

    assert post.parts[1] == Caution("GPT-5.1 did not answer 9 of 12.")
    assert isinstance(post.parts[2], Line)


def test_changes_since_a_baseline_say_so() -> None:
    since = replace(some_changes(), baseline=datetime(2026, 10, 12, tzinfo=UTC))

    assert lines(since)[-1] == "Missing: openai/gone answered in the baseline, but not in this one."
    assert no_change_line(since) == "No change beyond chance since the baseline of 12 October 2026."
