"""Deciding in Slack: a button under the answer, a modal, the new answer in the old one's place."""

import pytest

from bot.render.round_report.decisions import BEFORE, DECIDE
from bot.slack.block_kit import action_id
from tests.bot.slack.in_process import RunningSlack, make_fake_slack, run_slack, text_of
from tests.disputes import BROKER, NO, OLD_TEXT, YES, take_positions
from tests.wire.slack import View
from tests.wire.slack.fields import elements_in

POINT_AND_OPEN = 3  # the positions, and "Leave open"


async def open_modal(running: RunningSlack, user: str) -> View:
    (root,) = running.bot_messages()
    await running.slack.click(root, action_id(DECIDE), user)
    await running.slack.until(lambda: running.slack.state.modals.get(user))
    return running.slack.state.modals[user][-1]


@pytest.mark.parametrize("user", ["U1", "U2"], ids=["asker", "somebody-else"])
async def test_a_decision_is_made_in_a_modal_and_posted_once(user: str) -> None:
    async with make_fake_slack() as slack, run_slack(slack) as running:
        take_positions(running.gateway)
        running.release_models()
        await running.ask()
        await running.wait_until_delivered()

        view = await open_modal(running, user)
        ((field, element),) = [
            (one["action_id"], one) for _, one in elements_in(view.payload["blocks"])
        ]
        yes = element["options"][0]
        await running.slack.submit(view, {field: yes["value"]}, user)
        (root,) = running.bot_messages()
        await running.slack.until(
            lambda: (
                len(running.slack.thread("C1", root.ts)) == 2
                and YES
                in text_of(root)
                + str([text_of(one) for one in running.slack.thread("C1", root.ts)])
            )
        )
        await running.wait_until_delivered()

        assert yes["text"]["text"] == YES
        assert element["type"] == "radio_buttons"
        assert len(element["options"]) == POINT_AND_OPEN
        assert "more than" in str(view.payload) or "costs nothing" in str(view.payload)
        assert BROKER in str(view.payload)
        (root,) = running.bot_messages()
        thread = [text_of(one) for one in running.slack.thread("C1", root.ts)]
        if user == "U1":
            assert f"Settled: {YES}." in text_of(root)
            assert OLD_TEXT not in text_of(root)
            assert BEFORE in thread[-1]
            assert OLD_TEXT in thread[-1]
        else:
            assert OLD_TEXT in text_of(root)
            assert "decided:" in thread[-1]
            assert f"Settled: {YES}." in thread[-1]
        assert len(thread) == 2
        assert NO not in text_of(root)


async def test_an_answer_without_disputes_has_no_such_button() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as running:
        running.release_models()
        await running.ask()
        await running.wait_until_delivered()

        (root,) = running.bot_messages()

        assert action_id("answers") in str(root.blocks)
        assert action_id(DECIDE) not in str(root.blocks)
