"""Registry: what plug-ins bring to rounds, by name; each object is imported when it is used.

Pure. `council.methods`, `council.filters` and the graders of bake-offs look their objects up here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from council.errors import PanelError
from council.plugin import Plugin, PluginError, load_object


@dataclass(frozen=True, slots=True)
class Part:
    """An object of a plug-in, by its address."""

    plugin: str
    address: str
    is_offered: bool = True

    def load(self, kind: type) -> Any:  # noqa: ANN401 - it is of this kind
        """Return the object; raise PanelError, which names the plug-in, for none of this kind."""
        try:
            found = load_object(self.address)
        except PluginError as error:
            raise self.fault(str(error)) from error
        if not isinstance(found, kind):
            raise self.fault(f"{self.address} is a {type(found).__name__}, not a {kind.__name__}.")
        return found

    def fault(self, why: str) -> PanelError:
        """Return the error of an object that can't be used."""
        return PanelError(
            f"The plug-in {self.plugin} can't be used: {why} Repair or disable the plug-in."
        )


@dataclass(frozen=True, slots=True)
class Conflict:
    """A name of a plug-in that was taken already, by the plug-in `first` or, if "", by ours."""

    plugin: str
    kind: str
    name: str
    first: str = ""

    def __str__(self) -> str:
        """Return it as a sentence."""
        winner = f"that of the plug-in {self.first}" if self.first else "the built-in one"
        return (
            f"The {self.kind} {self.name!r} of the plug-in {self.plugin} is left out: {winner} has "
            "this name."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Methods, graders and suite formats of plug-ins by name, and the filters.

    `conflicts` are the names that were taken already. `disabled` plug-ins bring nothing; they are
    named where something of theirs is missing. `failed` names plug-ins whose parts are unknown.
    """

    methods: Mapping[str, Part] = field(default_factory=dict)
    graders: Mapping[str, Part] = field(default_factory=dict)
    suite_formats: Mapping[str, Part] = field(default_factory=dict)
    filters: Part | None = None
    conflicts: tuple[Conflict, ...] = ()
    disabled: tuple[Plugin, ...] = ()
    failed: tuple[str, ...] = ()

    def missing_part(self, kind: str, name: str) -> str:
        """Return which disabled or failed plug-in may have a part of a kind, such as "graders"."""
        for plugin in self.disabled:
            if name in getattr(plugin, kind):
                return f"It belongs to the plug-in {plugin.name}, which is disabled. "
        if self.failed:
            return f"A plug-in that failed may have it: {', '.join(self.failed)}. "
        return ""


NO_PLUGINS = Registry()  # what is built in is known without


def build_registry(
    plugins: Iterable[Plugin],
    *,
    disabled: Iterable[Plugin] = (),
    failed: Iterable[str] = (),
    methods: Iterable[str] = (),
    graders: Iterable[str] = (),
    gateways: Iterable[str] = (),
) -> Registry:
    """Return the registry of plug-ins; of two with one name, the first counts.

    `methods`, `graders` and `gateways` are the built-in names, which no plug-in can take.
    """
    conflicts: list[Conflict] = []
    own: dict[str, dict[str, Part | None]] = {
        "method": dict.fromkeys(methods),
        "grader": dict.fromkeys(graders),
        "filter": {},
        "suite format": {},
        # The bot opens these; here their names are compared.
        "chat": {},
        "gateway": dict.fromkeys(gateways),
    }
    for plugin in plugins:
        brought: dict[str, Iterable[tuple[str, str]]] = {
            "method": plugin.methods.items(),
            "grader": plugin.graders.items(),
            "filter": [("filter", address) for address in plugin.filters],
            "suite format": plugin.suite_formats.items(),
            "chat": plugin.chats.items(),
            "gateway": plugin.gateways.items(),
        }
        for kind, named in brought.items():
            for name, address in named:
                if name not in own[kind]:
                    own[kind][name] = Part(plugin.name, address, plugin.offers_methods)
                    continue
                first = own[kind][name]
                winner = first.plugin if first else ""
                conflicts.append(Conflict(plugin.name, kind, name, winner))
    parts = {
        kind: {name: part for name, part in named.items() if part} for kind, named in own.items()
    }
    return Registry(
        methods=parts["method"],
        graders=parts["grader"],
        suite_formats=parts["suite format"],
        filters=parts["filter"].get("filter"),
        conflicts=tuple(conflicts),
        disabled=tuple(disabled),
        failed=tuple(failed),
    )
