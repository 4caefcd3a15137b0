"""Plug-in registry: which plug-ins are there, which are on, and the objects they bring.

Own plug-ins are on unless `[plugins] disabled` names them. Those of other packages are entry
points, and on only if `[plugins] enabled` names them, since they run next to all keys.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from council.plugin import API, ENTRY_POINTS, Plugin, PluginError, addresses, load_object

if TYPE_CHECKING:  # every `council --help` imports this module
    from council.ports import Store

State = Literal["loaded", "disabled", "not enabled", "failed", "unknown"]
T = TypeVar("T")

OWN = "this program"
# Our own plug-ins; a package that is absent is skipped. Each module has the object PLUGIN, and is
# quick to import.
OWN_PLUGINS = (
    "bot.slack.plugin",
    "bot.discord.plugin",
    "bot.bakeoffs.plugin",
    "bot.research.plugin",
)


class Parts:
    """What plug-ins add to an application, found by type; some are made when one looks for them."""

    def __init__(self, *parts: object) -> None:
        self._parts = [*parts]
        self._later: list[tuple[type, Callable[[], Iterable[object]]]] = []

    def add(self, part: object) -> None:
        """Add a part; of two of one type, the later one is found."""
        self._parts.append(part)

    def add_later(self, kind: type, make: Callable[[], Iterable[object]]) -> None:
        """Add parts of a type that are made when the first of them is needed; `object` is any."""
        self._later.append((kind, make))

    def load(self, kind: type = object) -> None:
        """Make what can be of this type and is not made yet; by default everything."""
        for made in [one for one in self._later if issubclass(one[0], kind) or one[0] is object]:
            if made in self._later:  # else making another one has made it
                self._later.remove(made)
                self._parts[:0] = made[1]()  # what was added since then counts as later

    def find(self, kind: type[T]) -> T | None:
        """Return the part of this type, or None while no plug-in has added one."""
        found = next((part for part in reversed(self._parts) if isinstance(part, kind)), None)
        if found is None and self._later:
            self.load(kind)
            found = next((part for part in reversed(self._parts) if isinstance(part, kind)), None)
        return found

    def get(self, kind: type[T]) -> T:
        """Return the part of this type; raise PluginError if no plug-in has added one."""
        part = self.find(kind)
        if part is None:
            raise PluginError(f"No plug-in of this program has added {kind.__name__}.")
        return part

    def all(self, kind: type[T]) -> list[T]:
        """Return the parts of this type, in the order in which they were added."""
        self.load(kind)
        return [part for part in self._parts if isinstance(part, kind)]


class HasParts(Protocol):
    """AppContext, or Stores for the command line."""

    @property
    def parts(self) -> Parts:
        """What plug-ins have added."""


class RecordSources(HasParts, Protocol):
    """The stores of rounds, and what plug-ins add to them: AppContext, or Stores."""

    @property
    def store(self) -> "Store":
        """The store of rounds."""


@dataclass(frozen=True, slots=True)
class PluginSwitches:
    """The section `[plugins]` of council.toml."""

    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PluginStatus:
    """A plug-in that was found: the distribution it is from, its state, and why it is not on."""

    name: str
    origin: str
    state: State
    why: str = ""


@dataclass(slots=True)
class Plugins:
    """The plug-ins of this process.

    `active` ones add commands, pages, chats and methods; `present` ones, which also are those that
    are disabled, keep their duties on stored data. `report` gets a sentence for each plug-in that
    fails later, when an object of it is first used; it is then left out.
    """

    active: list[Plugin] = field(default_factory=list)
    present: list[Plugin] = field(default_factory=list)
    statuses: list[PluginStatus] = field(default_factory=list)
    report: Callable[[str], None] = lambda _: None

    def load(self, choose: Callable[[Plugin], Sequence[str]]) -> list[Any]:
        """Return the objects at the addresses that `choose` names, of all active plug-ins."""
        return [one for plugin in [*self.active] for one in self._load(plugin, choose(plugin))]

    def load_named(self, choose: Callable[[Plugin], Sequence[str]]) -> list[tuple[str, Any]]:
        """Return likewise the name of the plug-in with each object."""
        return [
            (plugin.name, one)
            for plugin in [*self.active]
            for one in self._load(plugin, choose(plugin))
        ]

    def load_duties(self, choose: Callable[[Plugin], Sequence[str]]) -> list[Any]:
        """Return likewise the hooks on stored data, also of plug-ins that are disabled."""
        return [one for plugin in [*self.present] for one in self._load(plugin, choose(plugin))]

    def find(self, choose: Callable[[Plugin], Mapping[str, str]], name: str) -> Any | None:  # noqa: ANN401
        """Return the named object of the first active plug-in that has the name, or None."""
        for plugin in [*self.active]:
            if address := choose(plugin).get(name):
                for one in self._load(plugin, [address]):
                    return one
        return None

    def load_by_name(self, choose: Callable[[Plugin], Mapping[str, str]]) -> dict[str, Any]:
        """Return the named objects of active plug-ins; the first of two with one name counts."""
        found = {name: self.find(choose, name) for name in self.names(choose)}
        return {name: one for name, one in found.items() if one is not None}

    def names(self, choose: Callable[[Plugin], Mapping[str, T]]) -> dict[str, T]:
        """Return what active plug-ins name, by name; the first of two with one name counts."""
        named: dict[str, T] = {}
        for plugin in self.active:
            for name, value in choose(plugin).items():
                named.setdefault(name, value)
        return named

    def load_of(self, plugin: Plugin, wanted: Iterable[str]) -> list[Any]:
        """Return the objects at these addresses of one plug-in."""
        return [*self._load(plugin, wanted)]

    def is_own(self, name: str) -> bool:
        """Return whether a plug-in is part of this program."""
        return any(one.name == name and one.origin == OWN for one in self.statuses)

    def is_active(self, name: str) -> bool:
        """Return whether the plug-in with this name is on."""
        return any(plugin.name == name for plugin in self.active)

    def check(self, plugin: Plugin) -> None:
        """Load every object of a plug-in; leave it out if one can't be loaded."""
        self.load_of(plugin, [address for _, address in addresses(plugin)])

    def fail(self, name: str, why: str) -> None:
        """Leave a plug-in out from now on, and report why."""
        self.active = [plugin for plugin in self.active if plugin.name != name]
        self.present = [plugin for plugin in self.present if plugin.name != name]
        for at, status in enumerate(self.statuses):
            if status.name == name:
                self.statuses[at] = PluginStatus(name, status.origin, "failed", why)
        self.report(f"The plug-in {name} is left out: {why}")

    def warn(self, name: str, why: str) -> None:
        """Report what of a plug-in cannot be used; the rest of it is."""
        for at, status in enumerate(self.statuses):
            if status.name == name:
                self.statuses[at] = replace(status, why=f"{status.why} {why}".strip())
        self.report(f"The plug-in {name}: {why}")

    def _load(self, plugin: Plugin, wanted: Iterable[str]) -> Iterator[Any]:
        """Yield the objects at these addresses; leave the plug-in out at the first that fails."""
        for address in wanted:
            try:
                found = load_object(address)
                for name in {name for name, one in addresses(plugin) if one == address}:
                    check_type(name, address, found)
                yield found
            except PluginError as error:
                self.fail(plugin.name, str(error))
                return


# The types of objects by the field of Plugin, as addresses: this module is quick to import.
_TYPES = {
    "methods": "council.methods:Method",
    "chats": "bot.chats:ChatPlugin",
    "buttons": "bot.commands.button_registry:ButtonSet",
    "pages": "bot.web.pages:Pages",
    "tools": "bot.mcp:McpTool",
}
_TYPES_OF_ITEMS = {"commands": "bot.commands.registry:Command"}
_CHECKED_BY_REGISTRY = {"graders", "filters"}  # when a suite or a panel uses them


def check_type(name: str, address: str, found: object) -> None:
    """Raise PluginError unless an object has the type that this field of Plugin needs."""
    if name in _TYPES_OF_ITEMS:
        kind = load_object(_TYPES_OF_ITEMS[name])
        is_right = isinstance(found, tuple) and all(isinstance(one, kind) for one in found)
        wanted = f"a tuple of {kind.__name__}"
    elif name in _TYPES:
        kind = load_object(_TYPES[name])
        is_right, wanted = isinstance(found, kind), f"a {kind.__name__}"
    else:
        is_right, wanted = name in _CHECKED_BY_REGISTRY or callable(found), "a function"
    if not is_right:
        raise PluginError(
            f"{address} is of type {type(found).__name__}, but {name!r} needs {wanted}. Ask its "
            "author."
        )


def find_plugins(
    switches: PluginSwitches = PluginSwitches(), own: Sequence[str] = OWN_PLUGINS
) -> Plugins:
    """Return our own plug-ins, where their packages exist, and those of others that are enabled."""
    found = Plugins()
    for module in own:
        if (plugin := _own_plugin(module)) is not None:
            _add(found, plugin, OWN, switches)
    if switches.enabled:
        order = switches.enabled.index  # of two that claim one name, the first one named has it
        entries = (one for one in entry_points(group=ENTRY_POINTS) if one.name in switches.enabled)
        for entry in sorted(entries, key=lambda one: order(one.name)):
            _add_installed(found, entry, switches)
        known = {status.name for status in found.statuses}
        for name in switches.enabled:
            if name not in known:
                why = "It is not installed. Install its package, or take it out of [plugins]."
                found.statuses.append(PluginStatus(name, "", "failed", why))
    _refuse_unknown(found, switches.disabled, own)
    _drop_unmet(found)
    return found


def _refuse_unknown(found: Plugins, disabled: Sequence[str], own: Sequence[str]) -> None:
    """Report names of `disabled` that no plug-in has, also none that is only installed."""
    known = {status.name for status in found.statuses}
    absent = {module.removesuffix(".plugin").rpartition(".")[2] for module in own}
    unknown = [name for name in disabled if name not in {*known, *absent}]
    if unknown:
        installed = {entry.name for entry in entry_points(group=ENTRY_POINTS)}
        for name in dict.fromkeys(unknown):
            if name not in installed:
                why = f"There is no plug-in {name}. Correct `disabled` in the section [plugins]."
                found.statuses.append(PluginStatus(name, "", "unknown", why))


def read_switches(path: Path | None) -> PluginSwitches:
    """Return the section [plugins] of a council.toml, and nothing else of it.

    Raise ValueError or OSError if it cannot be read; the settings say what is wrong.
    """
    if path is None:
        return PluginSwitches()
    section = tomllib.loads(path.read_text(encoding="utf-8")).get("plugins", {})
    names = {name: section.get(name, ()) for name in ("enabled", "disabled")}
    if not all(isinstance(named, list | tuple) for named in names.values()):
        raise ValueError("[plugins] must have lists of names")
    return PluginSwitches(**{name: tuple(map(str, named)) for name, named in names.items()})


def failures(found: Plugins) -> list[str]:
    """Return a sentence for each plug-in that failed, or of which something can't be used."""
    sentences = []
    for status in found.statuses:
        if status.state == "unknown":
            sentences.append(status.why)
        elif status.state == "failed":
            sentences.append(f"The plug-in {status.name} is left out: {status.why}")
        elif status.state == "loaded" and status.why:
            sentences.append(f"The plug-in {status.name}: {status.why}")
    return sentences


def load_everything(found: Plugins) -> None:
    """Load every object of other packages' plug-ins; leave out those of which one can't be."""
    origins = {status.name: status.origin for status in found.statuses}
    for plugin in [*found.present]:
        if origins[plugin.name] != OWN:
            found.check(plugin)


def list_installed(found: Plugins) -> list[PluginStatus]:
    """Return all plug-ins with their states, also those that are installed but not enabled."""
    known = {status.name for status in found.statuses}
    others = [
        PluginStatus(entry.name, _origin(entry), "not enabled", _HOW_TO_ENABLE.format(entry.name))
        for entry in entry_points(group=ENTRY_POINTS)
        if entry.name not in known
    ]
    return [*found.statuses, *others]


_HOW_TO_ENABLE = 'Add "{}" to enabled in the section [plugins] of council.toml.'


def _own_plugin(module: str) -> Plugin | None:
    try:
        plugin: Plugin = import_module(module).PLUGIN
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):  # its package was deleted
            return None
        raise
    return plugin


def _origin(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""


def _add_installed(found: Plugins, entry: EntryPoint, switches: PluginSwitches) -> None:
    def refuse(why: str) -> None:
        found.statuses.append(PluginStatus(entry.name, _origin(entry), "failed", why))

    try:
        plugin = load_object(entry.value)
    except PluginError as error:
        refuse(str(error))
        return
    if not isinstance(plugin, Plugin):
        refuse(f"{entry.value} is not a Plugin. Ask its author.")
    elif plugin.name != entry.name:
        refuse(
            f"Its entry point is named {entry.name!r}, but itself {plugin.name!r}. Ask its author."
        )
    elif any(status.name == plugin.name for status in found.statuses):
        refuse(f"There is already a plug-in {plugin.name!r}. Uninstall one of the two.")
    else:
        _add(found, plugin, _origin(entry), switches)


def _add(found: Plugins, plugin: Plugin, origin: str, switches: PluginSwitches) -> None:
    if plugin.api > API:
        why = f"It needs a newer Council (api {plugin.api}; this one has {API}). Upgrade Council."
        found.statuses.append(PluginStatus(plugin.name, origin, "failed", why))
        return
    found.present.append(plugin)
    if plugin.name in switches.disabled:
        why = "The section [plugins] of council.toml disables it."
        found.statuses.append(PluginStatus(plugin.name, origin, "disabled", why))
        return
    found.active.append(plugin)
    found.statuses.append(PluginStatus(plugin.name, origin, "loaded"))


def _drop_unmet(found: Plugins) -> None:
    """Leave out the active plug-ins that need one which is not on, until none does."""
    while True:
        active = {plugin.name for plugin in found.active}
        for plugin in found.active:
            if missing := [name for name in plugin.requires if name not in active]:
                break
        else:
            return
        found.active.remove(plugin)
        for at, status in enumerate(found.statuses):
            if status.name == plugin.name:
                why = f"It needs {missing[0]}, which is not on."
                found.statuses[at] = PluginStatus(plugin.name, status.origin, "disabled", why)
