"""Installation store of Slack's OAuth in a SQL database: one bot of each workspace or organisation.

It implements the interface of Bolt. Tokens are encrypted with a key derived from the client secret.
"""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import col

from council.errors import CouncilError
from storage.engine import SqlStore
from storage.tables import SlackInstallationRow
from storage.transactions import insert_into, retried_and_shielded

UNREADABLE = (
    "The tokens of the installed Slack workspaces can't be read, because SLACK_CLIENT_SECRET "
    "has changed. Set the old one, or install the app again in each workspace."
)
_ID: Any = col(SlackInstallationRow.id)
_ENTERPRISE: Any = col(SlackInstallationRow.enterprise_id)
_TOKEN: Any = col(SlackInstallationRow.bot_token)


class SqlInstallationStore(SqlStore, AsyncInstallationStore):
    """The installation store; only bots are stored, because the app asks for no user scopes.

    A workspace of an organisation that installed the app as a whole has a row without a token.
    """

    def __init__(self, engine: AsyncEngine, client_secret: str) -> None:
        super().__init__(engine)
        key = HKDF(SHA256(), 32, salt=None, info=b"council slack tokens")
        self._cipher = Fernet(urlsafe_b64encode(key.derive(client_secret.encode())))

    async def async_save(self, installation: Installation) -> None:
        """Store the bot of an installation, replacing the one before."""
        await self.async_save_bot(installation.to_bot())

    @retried_and_shielded
    async def async_save_bot(self, bot: Bot) -> None:
        """Store a bot, replacing the one before."""
        expires_at = bot.bot_token_expires_at
        await self._put(
            id=(bot.enterprise_id if bot.is_enterprise_install else bot.team_id) or "",
            enterprise_id=bot.enterprise_id or "",
            name=(bot.enterprise_name if bot.is_enterprise_install else bot.team_name) or "",
            bot_user_id=bot.bot_user_id,
            bot_id=bot.bot_id,
            scopes=",".join(bot.bot_scopes),
            bot_token=self._encrypt(bot.bot_token),
            bot_refresh_token=self._encrypt(bot.bot_refresh_token or ""),
            bot_token_expires_at=expires_at and datetime.fromtimestamp(expires_at, UTC),
            installed_at=datetime.fromtimestamp(bot.installed_at, UTC),
        )

    @retried_and_shielded
    async def save_team_of_enterprise(self, team_id: str, enterprise_id: str) -> None:
        """Store that a workspace is served by the bot of its organisation."""
        await self._put(
            **dict.fromkeys(("name", "bot_user_id", "bot_id", "scopes", "bot_token"), ""),
            id=team_id,
            enterprise_id=enterprise_id,
            bot_refresh_token="",
            bot_token_expires_at=None,
            installed_at=datetime.now(UTC),
        )

    async def async_find_bot(
        self,
        *,
        enterprise_id: str | None,
        team_id: str | None,
        is_enterprise_install: bool | None = False,
    ) -> Bot | None:
        """Return the bot of a workspace: its own, else its organisation's; None without either.

        Raise CouncilError, which says what to do, if its token cannot be decrypted.
        """
        own = None if is_enterprise_install or not team_id else await self._find(team_id)
        if own and own["bot_token"]:
            return self._bot(own)
        enterprise = enterprise_id or (own["enterprise_id"] if own else "")
        shared = await self._find(enterprise) if enterprise else None
        return self._bot(shared) if shared and shared["bot_token"] else None

    @retried_and_shielded
    async def list_team_ids(self, enterprise_id: str = "") -> list[str]:
        """Return the ids of all workspaces, or of those that an organisation's bot serves."""
        query = select(_ID).where(_ID != _ENTERPRISE)
        if enterprise_id:
            query = query.where(enterprise_id == _ENTERPRISE, _TOKEN == "")
        return list(await self._fetch_column(query.order_by(_ID)))

    @retried_and_shielded
    async def revoke(self, id_: str) -> None:
        """Delete the tokens of a workspace or organisation, and remember that it was installed."""
        emptied: Any = update(SlackInstallationRow).where(id_ == _ID)
        await self._execute(emptied.values(bot_token="", bot_refresh_token=""))

    @retried_and_shielded
    async def delete_revoked(self, id_: str) -> None:
        """Delete a workspace or organisation, unless it has installed the app again."""
        await self._execute(delete(SlackInstallationRow).where(id_ == _ID, _TOKEN == ""))

    async def _put(self, **values: object) -> None:
        async with self._write() as connection:
            new = insert_into(SlackInstallationRow, connection.dialect.name).values(**values)
            changed = {name: new.excluded[name] for name in values}
            await connection.execute(new.on_conflict_do_update(index_elements=["id"], set_=changed))

    @retried_and_shielded
    async def _find(self, id_: str) -> dict[str, Any] | None:
        rows = await self._fetch(select(SlackInstallationRow).where(id_ == _ID))
        return rows[0] if rows else None

    def _bot(self, row: dict[str, Any]) -> Bot:
        is_enterprise = row["id"] == row["enterprise_id"]
        return Bot(
            enterprise_id=row["enterprise_id"] or None,
            enterprise_name=row["name"] if is_enterprise else None,
            team_id=None if is_enterprise else row["id"],
            team_name=None if is_enterprise else row["name"],
            bot_token=self._decrypt(row["bot_token"]),
            bot_id=row["bot_id"],
            bot_user_id=row["bot_user_id"],
            bot_scopes=row["scopes"],
            bot_refresh_token=self._decrypt(row["bot_refresh_token"]) or None,
            bot_token_expires_at=row["bot_token_expires_at"],
            is_enterprise_install=is_enterprise,
            installed_at=row["installed_at"],
        )

    def _encrypt(self, token: str) -> str:
        return self._cipher.encrypt(token.encode()).decode() if token else ""

    def _decrypt(self, encrypted: str) -> str:
        if not encrypted:
            return ""
        try:
            return self._cipher.decrypt(encrypted).decode()
        except InvalidToken:
            raise CouncilError(UNREADABLE) from None
