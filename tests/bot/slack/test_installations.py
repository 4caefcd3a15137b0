"""Several workspaces of one app: installed, revoked, uninstalled and rotated each by itself."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.slack.middleware import NOT_INSTALLED
from council.ports import RoundQuery
from storage.installations import SqlInstallationStore
from tests.bot.slack.distributed import Distributed, distributed_fake, run_distributed
from tests.bot.slack.in_process import make_fake_slack, run_slack
from tests.wire.slack.driver import Site

THREE = (("Home", ""), ("Away", "B"), ("Third", "C"))


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Distributed]:
    """Yield a distributed app that no workspace has installed."""
    async with distributed_fake() as slack, run_distributed(tmp_path, slack) as bot:
        yield bot


async def install_three(bot: Distributed) -> list[Site]:
    sites = [bot.slack, bot.slack.add_workspace("Away", "B"), bot.slack.add_workspace("Third", "C")]
    for site in sites:
        await bot.install(site)
    return sites


async def rounds_of(bot: Distributed, site: Site) -> int:
    wanted = RoundQuery(chats=("slack",), workspace=site.workspace.team)
    return len(await bot.app.store.list_summaries(wanted=wanted))


async def test_each_workspace_is_answered_with_its_own_token(bot: Distributed) -> None:
    bot.gateway.goes_on.set()
    sites = await install_three(bot)

    roots = [await bot.ask(sites[0], "C1", "U1"), await bot.ask(sites[1], "C1B", "U1B")]
    roots.append(await bot.ask(sites[2], "C1C", "U1C"))

    for root in roots:
        await bot.wait_until_answered(root)
    outcomes = {call.outcome for call in bot.slack.calls if call.method.startswith("chat.")}
    assert outcomes == {"ok"}
    assert len({call.token for call in bot.slack.called("chat.postMessage")}) == 3


async def test_a_workspace_without_the_app_is_refused_and_nothing_is_stored(
    bot: Distributed,
) -> None:
    await bot.install()
    away = bot.slack.add_workspace("Away", "B")
    calls = len(bot.slack.calls)

    await away.command("U1B", "C1B", "/council", "Which queue?")

    (told,) = await bot.whispers(away, "U1B")
    assert NOT_INSTALLED in told
    assert "https://council.example.com/slack/install" in told
    assert {call.method for call in bot.slack.calls[calls:]} == {"response_url"}
    assert await bot.app.store.list_summaries() == ()


async def test_a_single_token_answers_no_other_workspace() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        away = slack.add_workspace("Away", "B")

        await away.command("U1B", "C1B", "/council", "Which queue?")
        await away.uninstalls()

        await slack.until(lambda: away.ephemerals("U1B"))
        assert NOT_INSTALLED in away.ephemerals("U1B")[0].text
        assert "slack/install" not in away.ephemerals("U1B")[0].text
        assert await bot.app.store.list_summaries() == ()
        assert not bot.running.done()


async def test_one_revoked_token_of_three_stops_one_workspace_and_loses_no_answer(
    bot: Distributed,
) -> None:
    home, away, third = await install_three(bot)
    asked = [await bot.ask(away, "C1B", "U1B"), await bot.ask(third, "C1C", "U1C")]

    await away.revokes()
    await bot.slack.until(lambda: any("Away was revoked" in line for line in bot.reports))
    bot.gateway.goes_on.set()

    await bot.wait_until_answered(asked[1])
    await bot.wait_until_answered(await bot.ask(home, "C1", "U1"))
    assert "council:answers" not in str(asked[0].blocks)
    await away.command("U1B", "C1B", "/council", "And now?")
    assert NOT_INSTALLED in (await bot.whispers(away, "U1B"))[-1]

    await bot.install(away)
    await bot.wait_until_answered(asked[0])
    assert bot.posts(away, "C1B") == [asked[0]]


async def test_an_uninstall_mid_round_deletes_what_is_of_that_workspace_alone(
    bot: Distributed,
) -> None:
    _, away, third = await install_three(bot)
    kept = await bot.ask(third, "C1C", "U1C")
    await bot.ask(away, "C1B", "U1B")

    await away.uninstalls()
    await bot.slack.until(lambda: any("uninstalled from Away" in line for line in bot.reports))
    bot.gateway.goes_on.set()

    await bot.wait_until_answered(kept)
    assert (await rounds_of(bot, away), await rounds_of(bot, third)) == (0, 1)
    assert "T0B" not in await bot.app.parts.get(SqlInstallationStore).list_team_ids()
    await bot.install(away)
    await bot.wait_until_answered(await bot.ask(away, "C1B", "U1B"))


async def test_what_an_earlier_process_installed_is_there_after_a_restart(tmp_path: Path) -> None:
    async with distributed_fake() as slack:
        async with run_distributed(tmp_path, slack) as bot:
            await bot.install()

        async with run_distributed(tmp_path, slack) as bot:
            bot.gateway.goes_on.set()
            await bot.wait_until_answered(await bot.ask(slack, "C1", "U1"))


async def test_a_changed_client_secret_is_reported_in_a_sentence(tmp_path: Path) -> None:
    async with distributed_fake() as slack:
        async with run_distributed(tmp_path, slack) as bot:
            await bot.install()
        slack.state.app = replace(slack.state.app, client_secret="another")

        async with run_distributed(tmp_path, slack) as bot:
            assert any("SLACK_CLIENT_SECRET has changed" in line for line in bot.reports)
            await slack.command("U1", "C1", "/council", "Which queue?")
            assert NOT_INSTALLED in (await bot.whispers(slack, "U1"))[-1]
            await bot.install()
            await bot.ask(slack, "C1", "U1")


async def test_an_organisation_installs_once_for_all_of_its_workspaces(tmp_path: Path) -> None:
    async with distributed_fake() as slack:
        one, two = (slack.add_workspace(name, name, "E1") for name in ("A", "B"))
        async with run_distributed(tmp_path, slack) as bot:
            await bot.install(one, two)
            bot.gateway.goes_on.set()

            roots = [await bot.ask(one, "C1A", "U1A"), await bot.ask(two, "C1B", "U1B")]

            for root in roots:
                await bot.wait_until_answered(root)
            assert (await rounds_of(bot, one), await rounds_of(bot, two)) == (1, 1)
            await one.click(roots[0], "council:answers", "U1A")
            await slack.until(lambda: one.views("U1A"))
            assert len(slack.called("oauth.v2.access")) == 1

            await one.uninstalls()
            await slack.until(lambda: len([r for r in bot.reports if "uninstalled" in r]) == 2)
            assert (await rounds_of(bot, one), await rounds_of(bot, two)) == (0, 0)
            assert await bot.app.parts.get(SqlInstallationStore).list_team_ids() == []


async def test_a_token_is_replaced_before_it_expires_and_a_delivery_uses_the_new_one(
    tmp_path: Path,
) -> None:
    two_hours = 2 * 3600
    async with (
        distributed_fake(token_seconds=two_hours + 1) as slack,
        run_distributed(tmp_path, slack) as bot,
    ):
        await bot.install()
        root = await bot.ask(slack, "C1", "U1")
        old = next(name for name, token in slack.state.tokens.items() if token.kind == "bot")
        await asyncio.sleep(1.1)  # the round is running, and no request comes
        bot.gateway.goes_on.set()

        await bot.wait_until_answered(root)

        slack.state.tokens[old].expires_at = 0.0
        await bot.wait_until_answered(await bot.ask(slack, "C1", "U1"))
        refreshed = [c for c in slack.called("oauth.v2.access") if c.text("grant_type")]
        assert {call.outcome for call in refreshed} == {"ok"}
        assert "token_expired" not in {call.outcome for call in slack.calls}
