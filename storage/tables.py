"""Tables of rounds, feedback, spending and messages, with column types for SQLite and Postgres."""

from datetime import UTC, date, datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Index, String, false, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import Field, SQLModel


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime, stored in UTC; SQLite alone would drop the offset."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the value in UTC; raise ValueError for a naive one."""
        if value is not None and value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return value and value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the value in UTC; Postgres returns it in the session's time zone."""
        if value is None or value.tzinfo:
            return value and value.astimezone(UTC)
        return value.replace(tzinfo=UTC)


class Json(TypeDecorator[object]):
    """A JSON document; JSONB on Postgres."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type of the database at hand."""
        chosen = JSONB() if dialect.name == "postgresql" else JSON()
        return dialect.type_descriptor(chosen)


class ByLetter(FunctionElement[str]):
    """A text column that sorts and compares by code point, whatever the server's language."""

    name = "by_letter"
    type = String()
    inherit_cache = True


def by_letter(column: Any) -> Any:  # noqa: ANN401
    """Return a text column to sort or compare by code point, as SQLite always does."""
    return ByLetter(column)


def starts_with(column: Any, start: str) -> Any:  # noqa: ANN401
    """Return the condition that a text begins with `start`, in the same letter case."""
    # Not LIKE, which ignores case on SQLite only.
    return func.substr(column, 1, len(start)) == start


@compiles(ByLetter)
def _compile_plain(element: ByLetter, compiler: Any, **options: Any) -> str:  # noqa: ANN401
    return str(compiler.process(element.clauses, **options))


@compiles(ByLetter, "postgresql")
def _compile_postgres(element: ByLetter, compiler: Any, **options: Any) -> str:  # noqa: ANN401
    return f'{compiler.process(element.clauses, **options)} COLLATE "C"'


class _OfRound(SQLModel):
    round_id: str = Field(primary_key=True, foreign_key="round.id", ondelete="CASCADE")


class _WithPrompt(SQLModel):
    prompt_system: str | None = None
    prompt_user: str | None = None


class _WithReply(SQLModel):
    text: str
    cut: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    attempts: int = 1
    logprobs: list[list[Any]] = Field(
        default_factory=list, sa_type=Json, sa_column_kwargs={"server_default": "[]"}
    )


# The rounds that have records: see storage.bakeoffs.records.
_CLOSED = text("seconds IS NOT NULL AND forgotten_at IS NULL")


class RoundRow(SQLModel, table=True):
    """A round; `panel` is a copy of the whole panel, `seconds` is null until the round is closed.

    `digests` are pairs of a text's name and its digest with this `salt`; they remain when its texts
    are forgotten. `quotes` are the rounds that its question may repeat, null if nobody noted them;
    `redacted` is what was erased of it because such a round was forgotten. `bakeoff` is the id
    of its bake-off, or empty. `reading` is what it read of its thread, and the people in it.
    """

    __tablename__ = "round"
    __table_args__ = (
        Index("ix_round_bakeoff_asked_at", "bakeoff", "asked_at"),
        Index(
            "ix_round_countable", "asked_at", "id", sqlite_where=_CLOSED, postgresql_where=_CLOSED
        ),
    )
    id: str = Field(primary_key=True)
    question: str
    asked_by: str
    context: str
    reference: str = Field(default="", sa_column_kwargs={"server_default": ""})
    rubric: str = Field(default="", sa_column_kwargs={"server_default": ""})
    instructions: str = Field(default="", sa_column_kwargs={"server_default": ""})
    answer_schema: str = Field(default="", sa_column_kwargs={"server_default": ""})
    files: list[dict[str, str]] = Field(
        default_factory=list, sa_type=Json, sa_column_kwargs={"server_default": "[]"}
    )
    chat: str = Field(default="", sa_column_kwargs={"server_default": ""})
    workspace: str = Field(default="", sa_column_kwargs={"server_default": ""})
    channel: str = Field(default="", sa_column_kwargs={"server_default": ""})
    thread: str | None = None
    private: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    asked_at: datetime = Field(sa_type=UtcDateTime, index=True)
    panel_name: str = Field(index=True)
    panel: dict[str, Any] = Field(sa_type=Json)
    seed: str
    versions: dict[str, str] = Field(sa_type=Json)
    seconds: float | None = None
    failure: str | None = None
    paused: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    delivered: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    forgotten_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    salt: str = Field(default="", sa_column_kwargs={"server_default": ""})
    digests: list[list[str]] = Field(
        default_factory=list, sa_type=Json, sa_column_kwargs={"server_default": "[]"}
    )
    bakeoff: str = Field(default="", sa_column_kwargs={"server_default": ""})
    quotes: list[str] | None = Field(default=None, sa_type=Json)
    redacted: dict[str, Any] | None = Field(default=None, sa_type=Json)
    reading: dict[str, Any] | None = Field(default=None, sa_type=Json)


class AnswerRow(_OfRound, _WithPrompt, _WithReply, table=True):
    """An answer of a member; `origin` is the round that it was taken from, null for a new one."""

    __tablename__ = "answer"
    member: str = Field(primary_key=True)
    scrubbed: list[str] = Field(sa_type=Json)
    suspicions: list[str] = Field(sa_type=Json)
    missed: list[str] = Field(
        default_factory=list, sa_type=Json, sa_column_kwargs={"server_default": "[]"}
    )
    sources: list[dict[str, str]] = Field(
        default_factory=list, sa_type=Json, sa_column_kwargs={"server_default": "[]"}
    )
    model: str = Field(default="", sa_column_kwargs={"server_default": ""})
    origin: dict[str, Any] | None = Field(default=None, sa_type=Json)


class AbsenceRow(_OfRound, table=True):
    """A member that gave no usable reply in time, in one of its roles."""

    __tablename__ = "absence"
    member: str = Field(primary_key=True)
    role: str = Field(primary_key=True)
    reason: str


class ExchangeRow(_OfRound, _WithPrompt, _WithReply, table=True):
    """A prompt and its reply besides answers and ballots; `scores` are pairs of name and number."""

    __tablename__ = "exchange"
    kind: str = Field(primary_key=True)
    seat: str = Field(primary_key=True)
    subject: str = Field(primary_key=True)
    attempt: int = Field(primary_key=True)
    scores: list[list[Any]] = Field(sa_type=Json)
    fault: str
    nonce: str
    sources: list[dict[str, str]] = Field(
        default_factory=list, sa_type=Json, sa_column_kwargs={"server_default": "[]"}
    )


def _pass_number() -> Any:  # noqa: ANN401
    return Field(
        default=1,
        primary_key=True,
        sa_column_kwargs={"server_default": "1", "autoincrement": False},
    )


class LateReplyRow(_OfRound, _WithPrompt, _WithReply, table=True):
    """A reply that came after the round had gone on without it."""

    __tablename__ = "late_reply"
    member: str = Field(primary_key=True)
    role: str = Field(primary_key=True)
    pass_number: int = _pass_number()
    sources: list[dict[str, str]] = Field(
        default_factory=list, sa_type=Json, sa_column_kwargs={"server_default": "[]"}
    )


class LabelRow(_OfRound, table=True):
    """A pair of the label map; any two draws share position 0, so only one can be stored."""

    __tablename__ = "label"
    position: int = Field(primary_key=True)
    member: str
    label: str


class SlateRow(_OfRound, table=True):
    """The labels that a judge sees, in display order."""

    __tablename__ = "slate"
    judge: str = Field(primary_key=True)
    pass_number: int = _pass_number()
    shown: list[str] = Field(sa_type=Json)
    position: int
    wording: str = Field(default="", sa_column_kwargs={"server_default": ""})


class BallotRow(_OfRound, _WithPrompt, _WithReply, table=True):
    """A ballot with the reply it was parsed from; `audit` is empty for one that counts."""

    __tablename__ = "ballot"
    judge: str = Field(primary_key=True)
    audit: str = Field(primary_key=True, default="")
    pass_number: int = _pass_number()
    shown: list[str] = Field(sa_type=Json)
    ranking: list[list[str]] = Field(sa_type=Json)
    reason: str
    nonce: str
    attempt: int
    cut_to: int | None = None
    grades: list[list[Any]] = Field(
        default_factory=list, sa_type=Json, sa_column_kwargs={"server_default": "[]"}
    )
    canary: str = Field(default="", sa_column_kwargs={"server_default": ""})


class SpoiledBallotRow(_OfRound, _WithPrompt, _WithReply, table=True):
    """A reply that is not a ballot; `fault` says why."""

    __tablename__ = "spoiled_ballot"
    judge: str = Field(primary_key=True)
    attempt: int = Field(primary_key=True)
    pass_number: int = _pass_number()
    fault: str
    nonce: str
    cut_to: int | None = None


class StandingRow(_OfRound, table=True):
    """The standing of a label; the best has `position` 0."""

    __tablename__ = "standing"
    label: str = Field(primary_key=True)
    position: int
    place: int
    share: float | None
    points: float
    max_points: int
    first_votes: int
    mean_rank: float | None


class VerdictRow(_OfRound, table=True):
    """The verdict of a round: how far its standings can be trusted."""

    __tablename__ = "verdict"
    strength: str
    p: float | None
    first_on: int
    first_of: int
    too_few_judges: bool
    tau_b: float | None
    kendall_w: float | None
    alpha: float | None
    n_eff: float | None
    flags: list[str] = Field(sa_type=Json)


class _WithSynthesis(_WithPrompt):
    text: str
    chairman: str | None
    fallback: str | None
    drawn_on: list[str] = Field(sa_type=Json)
    departs: bool
    why: str | None
    reply: str | None = None
    cut: bool | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    attempts: int | None = None


class SynthesisRow(_OfRound, _WithSynthesis, table=True):
    """The council's answer; the columns of the reply are null if no chairman wrote it."""

    __tablename__ = "synthesis"


class DecisionRow(_OfRound, _WithSynthesis, table=True):
    """A person's decision on a closed round; `choices` are pairs of a point and a position."""

    __tablename__ = "decision"
    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    key: str
    by: str
    at: datetime = Field(sa_type=UtcDateTime)
    choices: list[list[str]] = Field(sa_type=Json)


class LinkRow(SQLModel, table=True):
    """A link in a scope's hash chain, with the digest of each part.

    A round's first link is of its closing, the others are of its decisions.
    """

    __tablename__ = "link"
    scope: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    round_id: str = Field(index=True)
    digest: str
    previous: str
    origin: str
    version: int
    hash: str
    parts: list[list[str]] = Field(sa_type=Json)


class FeedbackRow(_OfRound, table=True):
    """One person's feedback on a round: whether its answer helped, and why."""

    __tablename__ = "feedback"
    by: str = Field(primary_key=True)
    helpful: bool
    reason: str
    at: datetime = Field(sa_type=UtcDateTime)


class HumanVoteRow(_OfRound, table=True):
    """One person's ballot on a round: the best answer, and any ranking of the others."""

    __tablename__ = "human_vote"
    by: str = Field(primary_key=True)
    label: str
    member: str
    at: datetime = Field(sa_type=UtcDateTime)
    blind: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    ranking: list[list[str]] = Field(
        default_factory=list, sa_type=Json, sa_column_kwargs={"server_default": "[]"}
    )


class CompatibleRow(SQLModel, table=True):
    """A single row: the oldest schema whose programs may work on this one."""

    __tablename__ = "compatible"
    id: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    oldest: str


# The few messages whose delivery may have to be checked.
_UNMARKED = text("message IS NULL")


class OutgoingRow(SQLModel, table=True):
    """A message of a round or bake-off; `message` is its id in the chat once it is known."""

    __tablename__ = "outgoing"
    __table_args__ = (
        Index(
            "ix_outgoing_unmarked",
            "claimed_at",
            sqlite_where=_UNMARKED,
            postgresql_where=_UNMARKED,
        ),
    )
    key: str = Field(primary_key=True)
    round_id: str = Field(index=True)
    claimed_at: datetime = Field(sa_type=UtcDateTime)
    claimed_by: str = Field(default="", sa_column_kwargs={"server_default": ""})
    message: str | None = None


class SpendingRow(SQLModel, table=True):
    """A round's reserved total and spending on one day, in micro-dollars; it outlives the round."""

    __tablename__ = "spending"
    round_id: str = Field(primary_key=True)
    day: date = Field(primary_key=True, index=True)
    asker: str
    channel: str
    schedule: str
    reserved_micro: int = Field(default=0, sa_type=BigInteger)
    spent_micro: int = Field(default=0, sa_type=BigInteger)
    unknown_calls: int = 0


class MemoRow(SQLModel, table=True):
    """A text of the key-value store, by kind and name; `at` is when it was stored."""

    __tablename__ = "memo"
    kind: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    text: str
    at: datetime = Field(sa_type=UtcDateTime)


class SettledRow(SQLModel, table=True):
    """The key of a recent settlement in the ledger, so that a retry adds nothing; Postgres only."""

    __tablename__ = "settled"
    key: str = Field(primary_key=True)
    at: datetime = Field(sa_type=UtcDateTime, index=True)


class SlackInstallationRow(SQLModel, table=True):
    """A Slack workspace or, by its enterprise id, a whole organisation that installed the app.

    Tokens are encrypted. A workspace without one is served by the bot of its organisation.
    """

    __tablename__ = "slack_installation"
    id: str = Field(primary_key=True)
    enterprise_id: str = Field(index=True)
    name: str
    bot_user_id: str
    bot_id: str
    scopes: str
    bot_token: str
    bot_refresh_token: str
    bot_token_expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    installed_at: datetime = Field(sa_type=UtcDateTime)


# The packages of plug-ins that have tables; each may be absent.
_PACKAGES = ("storage.bakeoffs",)


def import_all_tables() -> bool:
    """Register the tables of all packages that this program has; return whether it has all."""
    present = [package for package in _PACKAGES if find_spec(package)]
    for package in present:
        import_module(f"{package}.tables")
    return len(present) == len(_PACKAGES)
