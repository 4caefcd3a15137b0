"""The export format: rounds, and items of other kinds, as lines of JSON, and back."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from council.errors import PanelError, StoreError
from council.feedback import Feedback, HumanVote
from council.integrity.seal import Seal
from council.registry import NO_PLUGINS, Registry
from council.rounds import Round
from storage.row_mapping import complete_round
from storage.validation import describe_fault

T = TypeVar("T")

FORMAT = 1

ROUND = TypeAdapter(Round)
# More than any round has: ten files, and the prompts and replies of its models.
MAX_LINE_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class ExportedMessage:
    """A message of a round that was sent: its key, its id in the chat, and when."""

    key: str
    message: str
    at: datetime


# What is stored with a round, as further fields of its line.
EXTRAS: dict[str, TypeAdapter[Any]] = {
    "ratings": TypeAdapter(tuple[Feedback, ...]),
    "votes": TypeAdapter(tuple[HumanVote, ...]),
    "sent": TypeAdapter(tuple[ExportedMessage, ...]),
    "seal": TypeAdapter(Seal),
}
# The plug-ins of kinds that are not named "plug-in.kind".
PLUGINS_BY_KIND = dict.fromkeys(("suite", "bakeoff", "schedule"), "bakeoffs")


@dataclass(frozen=True, slots=True)
class ExportKind:
    """A kind of items besides rounds; `name` is the field `kind` of their lines.

    That of a plug-in begins with the plug-in's name and a dot. `noun` is what one is called, and
    `describe` names an item at the start of a sentence.
    """

    name: str
    noun: str
    adapter: TypeAdapter[Any]
    describe: Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class ExportedItem:
    """An item that is not a round."""

    kind: ExportKind
    value: Any

    def __str__(self) -> str:
        return self.kind.describe(self.value)


class MissingPluginError(StoreError):
    """A line of a kind that belongs to a plug-in which is absent."""

    def __init__(self, plugin: str) -> None:
        super().__init__(f"it needs the plug-in {plugin}")
        self.plugin = plugin


@dataclass(frozen=True, slots=True)
class ExportedRound:
    """A round with its feedback, its votes, its messages in chats and its seal."""

    round_: Round
    ratings: tuple[Feedback, ...] = ()
    votes: tuple[HumanVote, ...] = ()
    sent: tuple[ExportedMessage, ...] = ()
    seal: Seal | None = None


def dump_round(
    round_: Round,
    ratings: tuple[Feedback, ...] = (),
    votes: tuple[HumanVote, ...] = (),
    sent: tuple[ExportedMessage, ...] = (),
    seal: Seal | None = None,
) -> str:
    """Return the round as one line, without a line end."""
    extras = {"ratings": ratings, "votes": votes, "sent": sent, "seal": seal}
    dumped = {
        name: EXTRAS[name].dump_python(value, mode="json")
        for name, value in extras.items()
        if value
    }
    return _dump_line(ROUND, round_, f"Round {round_.id!r}", **dumped)


def dump_item(item: ExportedItem) -> str:
    """Return an item as one line, without a line end."""
    return _dump_line(item.kind.adapter, item.value, str(item), kind=item.kind.name)


def _dump_line(adapter: TypeAdapter[T], value: T, what: str, **extra: object) -> str:
    try:
        values: Mapping[str, Any] = adapter.dump_python(value, mode="json")
        return to_json({"format": FORMAT, **values, **extra}).decode()
    except PydanticSerializationError as error:
        raise StoreError(f"{what} can't be written as JSON: {error}.") from error


def parse_item(
    line: bytes | str, kinds: Iterable[ExportKind] = (), registry: Registry = NO_PLUGINS
) -> ExportedRound | ExportedItem:
    """Return the content of a line, a round with the registry.

    Raise StoreError with the name of an invalid field, MissingPluginError for an item of another
    kind that names its plug-in.
    """
    values = _parse_line(line)
    if "kind" not in values:
        return _round_from_values(values, registry)
    name = values.pop("kind")
    for kind in kinds:
        if kind.name == name:
            return ExportedItem(kind, _validate(kind.adapter, values))
    if isinstance(name, str):
        plugin, dot, _ = name.partition(".")
        if owner := PLUGINS_BY_KIND.get(name) or (dot and plugin):
            raise MissingPluginError(owner)
    raise StoreError(f"this version does not know the kind {name!r}; use a newer version")


def _round_from_values(values: dict[str, Any], registry: Registry) -> ExportedRound:
    values.pop("registry", None)  # a file must not name objects to import
    extras = {name: values.pop(name) for name in EXTRAS if name in values}
    round_ = replace(complete_round(_validate(ROUND, values)), registry=registry)
    if extras.get("seal", ...) is None:
        del extras["seal"]
    exported = ExportedRound(
        round_, **{name: _validate(EXTRAS[name], value, name) for name, value in extras.items()}
    )
    for name in ("ratings", "votes"):
        for i, item in enumerate(getattr(exported, name)):
            if item.round_id != round_.id:
                raise StoreError(f"{name}.{i}.round_id: it belongs to another round")
    for i, vote in enumerate(exported.votes):
        if not _is_vote_on(round_, vote):
            raise StoreError(f"votes.{i}: it does not match the round's answers")
    for i, message in enumerate(exported.sent):
        if f"/{round_.id}/" not in message.key:
            raise StoreError(f"sent.{i}.key: it belongs to another round")
    return exported


def _is_vote_on(round_: Round, vote: HumanVote) -> bool:
    """Return whether the round has the answers of a vote, and each is named at most once."""
    pairs = round_.draw.labels.pairs if round_.draw else ()
    authors: dict[str, str] = {label: author for author, label in pairs}
    named = [label for place in vote.ranking for label in place]
    return (
        authors.get(vote.label) == vote.member
        and vote.ranking[:1] in {(), ((vote.label,),)}
        and all(vote.ranking)
        and len({*named}) == len(named)
        and {*named} <= authors.keys()
    )


def _parse_line(line: bytes | str) -> dict[str, Any]:
    """Return the fields of a line, without its format; raise StoreError for any other text."""
    if len(line) > MAX_LINE_BYTES:
        raise StoreError(f"it is longer than {MAX_LINE_BYTES >> 20} MB, which no round is")
    try:
        values = from_json(line)
    except ValueError as error:
        raise StoreError(f"it is not valid JSON ({error})") from error
    if not isinstance(values, dict) or "format" not in values:
        raise StoreError("it is not an exported round: it has no format")
    if values.pop("format") != FORMAT:
        raise StoreError(f"this version reads only format {FORMAT}; use a newer version")
    return values


def _validate(kind: TypeAdapter[T], value: object, *path: str) -> T:
    """Return the validated value; raise StoreError with the name of an invalid field."""
    try:
        valid = kind.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, (*path, *first["loc"])))
        raise StoreError(f"{field}: {describe_fault(first)}") from error
    except PanelError as error:
        raise StoreError(str(error)) from error
    _check_time_zones(valid, path)
    return valid


def _check_time_zones(value: object, path: tuple[str, ...]) -> None:
    """Raise StoreError for a time without a time zone, at any depth."""
    if isinstance(value, datetime) and value.tzinfo is None:
        raise StoreError(f"{'.'.join(path)}: this time has no time zone")
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            _check_time_zones(item, (*path, str(i)))
    elif is_dataclass(value):
        for field in fields(value):
            _check_time_zones(getattr(value, field.name), (*path, field.name))
