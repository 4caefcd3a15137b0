"""The installation store of Slack's OAuth: one bot of each workspace, its tokens encrypted."""

from time import time

import pytest
from slack_sdk.oauth.installation_store import Bot
from sqlalchemy import text

from council.errors import CouncilError
from storage.installations import SqlInstallationStore
from tests.storage.conftest import engine_of

SECRET = "the client secret"


@pytest.fixture
def installations(request: pytest.FixtureRequest) -> SqlInstallationStore:
    return SqlInstallationStore(engine_of(request), SECRET)


def a_bot(team: str | None = "T1", enterprise: str | None = None, number: int = 1) -> Bot:
    token = f"xoxb-{number}"
    return Bot(
        enterprise_id=enterprise,
        enterprise_name=enterprise and f"Org {enterprise}",
        team_id=team,
        team_name=team and f"Team {team}",
        bot_token=token,
        bot_id="B1",
        bot_user_id="U1",
        bot_scopes=["chat:write", "commands"],
        bot_refresh_token=f"{token}-refresh",
        bot_token_expires_at=int(time()) + 3600,
        is_enterprise_install=team is None,
        installed_at=1_000_000.0,
    )


async def test_a_bot_is_found_as_it_was_saved_last(installations: SqlInstallationStore) -> None:
    await installations.async_save_bot(a_bot(number=9))
    saved = a_bot()
    await installations.async_save_bot(saved)

    found = await installations.async_find_bot(enterprise_id=None, team_id="T1")

    assert found
    assert found.to_dict() == saved.to_dict()
    assert await installations.async_find_bot(enterprise_id=None, team_id="T2") is None
    assert await installations.list_team_ids() == ["T1"]


async def test_no_row_has_a_token_in_the_clear(installations: SqlInstallationStore) -> None:
    await installations.async_save_bot(a_bot())

    async with installations.engine.connect() as connection:
        rows = (await connection.execute(text("SELECT * FROM slack_installation"))).all()
    assert len(rows) == 1
    assert "xoxb-1" not in str(rows)


async def test_another_client_secret_says_what_to_do(installations: SqlInstallationStore) -> None:
    await installations.async_save_bot(a_bot())
    other = SqlInstallationStore(installations.engine, "another secret")

    with pytest.raises(CouncilError, match="SLACK_CLIENT_SECRET has changed"):
        await other.async_find_bot(enterprise_id=None, team_id="T1")
    await other.async_save_bot(a_bot(number=2))

    found = await other.async_find_bot(enterprise_id=None, team_id="T1")
    assert found
    assert found.bot_token == "xoxb-2"


async def test_the_bot_of_an_organisation_serves_its_workspaces(
    installations: SqlInstallationStore,
) -> None:
    await installations.async_save_bot(a_bot(None, "E1"))
    first = await installations.async_find_bot(enterprise_id="E1", team_id="T7")
    await installations.save_team_of_enterprise("T7", "E1")

    later = await installations.async_find_bot(enterprise_id=None, team_id="T7")

    assert first
    assert later
    assert first.bot_token == later.bot_token == "xoxb-1"
    assert later.is_enterprise_install
    assert await installations.list_team_ids() == ["T7"]
    assert await installations.list_team_ids("E1") == ["T7"]
    assert await installations.async_find_bot(enterprise_id="E2", team_id="T8") is None


async def test_a_revoked_workspace_is_remembered_without_a_token_until_it_is_deleted(
    installations: SqlInstallationStore,
) -> None:
    for team in ("T1", "T2"):
        await installations.async_save_bot(a_bot(team))

    await installations.revoke("T1")
    assert await installations.async_find_bot(enterprise_id=None, team_id="T1") is None
    assert await installations.list_team_ids() == ["T1", "T2"]
    await installations.delete_revoked("T1")
    await installations.delete_revoked("T2")  # it has a token

    assert await installations.list_team_ids() == ["T2"]
