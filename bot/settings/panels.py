"""Parser of `council.toml`: panels, seats, limits, caps, access and suites."""

import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import ValidationError

from bot.access import Access
from bot.plugins import Plugins, PluginSwitches, failures, find_plugins
from bot.settings.council_toml import (
    PLUGIN_SECTIONS,
    SECTIONS,
    AccessSection,
    BudgetsSection,
    Document,
    ModelSection,
    PanelSection,
    PluginsSection,
    ProviderSection,
    RetentionSection,
    RubricSection,
    Section,
    SettingsError,
    access_of,
    channel_panel_faults,
    day_caps,
    display_name,
    validation_faults,
)
from council.budget_caps import Caps, Scope
from council.errors import PanelError
from council.methods import METHODS
from council.model_families import family_of
from council.money import cap_micro_usd
from council.panel import THIS_MACHINE, Member, ModelId, Panel, Rubric, Terms
from council.plugin import PluginError, load_object
from council.prompts.shared import DEFAULT_RUBRIC, make_rubric
from council.providers import OLLAMA_ROUTES, Limits, is_loopback
from council.registry import NO_PLUGINS, Registry, build_registry

GRACE_SECONDS = 20.0  # of panels that are set up without a council.toml, as of a chairman

Parsed = TypeVar("Parsed", bound=Section)


@dataclass(frozen=True, slots=True)
class Seat:
    """A member, and the settings of its model in `council.toml`."""

    member: Member
    section: ModelSection = field(default_factory=ModelSection)


def is_built_in(member: Member, plugins: Plugins) -> bool:
    """Return whether a member needs no litellm and no key of ours.

    That is so if it has no model, or if this program or the gateway of a plug-in runs it.
    """
    provider = member.model_id.partition("/")[0]
    return (
        member.demonstration
        or provider in {"", "scripted"}
        or provider in plugins.names(lambda plugin: plugin.gateways)
    )


@dataclass(frozen=True, slots=True)
class PanelConfig:
    """The contents of `council.toml`: panels by name, their seats by key, and global settings.

    `sections` are those of plug-ins, as parsed by these; one that is not written is left out.
    `left_out` names written sections of our own plug-ins whose packages are absent.
    """

    panels: Mapping[str, Panel] = field(default_factory=dict)
    seats: Mapping[str, Seat] = field(default_factory=dict)
    default: str | None = None
    limits: Mapping[str, Limits] = field(default_factory=dict)
    caps: Caps = field(default_factory=Caps)
    texts_days: int | None = None
    access: Access = field(default_factory=Access)
    sections: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    plugins: Plugins = field(default_factory=Plugins, compare=False)
    registry: Registry = field(default=NO_PLUGINS, compare=False)

    def with_seats(self, keys: Iterable[str]) -> "PanelConfig":
        """Return it with seats of these keys, which need no panel; PanelError if one is unknown."""
        seats = dict(self.seats)
        for key in keys:
            if key not in seats and "/" not in key:
                raise PanelError(
                    f"There is no model {key!r}. Name a seat of council.toml, or a model with its "
                    "provider, such as openai/gpt-5.1."
                )
            seats.setdefault(key, make_seat(key, ModelSection()))
        return replace(self, seats=seats)


def load_panel_config(path: Path | None) -> PanelConfig:
    """Parse a `council.toml`; return the defaults for None.

    Plug-ins are found by its section [plugins], then the rest is checked with what they bring.
    Raise SettingsError with every fault. A panel's method and filters are checked when it is asked.
    """
    if path is None:
        plugins = find_plugins()
        return PanelConfig(plugins=plugins, registry=registry_of(plugins))
    return parse_panel_config(_read_document(path), path)


def load_plugins(path: Path | None) -> Plugins:
    """Return the plug-ins that a `council.toml` lets run; raise SettingsError for these alone."""
    return find_plugins() if path is None else _Parser(path).parse_plugins(_read_document(path))


def _read_document(path: Path) -> Document:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError([f"{path.name} is not valid TOML: {error}."]) from None
    except OSError as error:
        raise SettingsError([f"{path.name} cannot be read: {error.strerror}."]) from None


def registry_of(plugins: Plugins) -> Registry:
    """Return the registry of what these plug-ins bring to rounds and suites."""
    active = {plugin.name for plugin in plugins.active}
    return build_registry(
        plugins.active,
        disabled=[plugin for plugin in plugins.present if plugin.name not in active],
        failed=[status.name for status in plugins.statuses if status.state == "failed"],
        methods=METHODS,
        gateways=("local", "scripted"),
    )


def stored_registry(plugins: Plugins) -> Registry:
    """Return the registry of stored rounds, which also disabled plug-ins verify and show."""
    return build_registry(plugins.present, methods=METHODS)


def parse_panel_config(
    document: Document, path: Path, plugins: Plugins | None = None
) -> PanelConfig:
    """Return the contents of a document read from `path`; raise SettingsError with every fault.

    Without `plugins`, its section [plugins] says which ones there are.
    """
    return _Parser(path).parse(document, plugins)


def make_seat(key: str, section: ModelSection, fallback: Member | None = None) -> Seat:
    """Return a seat; without a model in its section, the key is the model id."""
    model = section.model or key
    derived = {
        "key": key,
        "model_id": ModelId(model),
        "display": section.display or display_name(key),
        "family": section.family or family_of(model),
        "receiver": receiver_of(model, section.api_base),
    }
    given = section.model_dump(include={*Member.__dataclass_fields__}) | {"fallback": fallback}
    return Seat(Member(**(given | derived)), section)


def draft_seats(seat: Seat) -> dict[str, Seat]:
    """Return the seats of a model by key: as many as its `drafts`, under one family."""
    member = seat.member
    others = (
        replace(member, key=f"{member.key} #{n}", display=f"{member.display} #{n}")
        for n in range(2, seat.section.drafts + 1)
    )
    return {one.key: Seat(one, seat.section) for one in (member, *others)}


class _Parser:
    """Parses one document and collects its faults."""

    def __init__(self, path: Path) -> None:
        self.registry = NO_PLUGINS
        self.name = path.name
        self.folder = path.parent
        self.faults: list[str] = []

    def parse(self, document: Document, plugins: Plugins | None) -> PanelConfig:
        if plugins is None:
            plugins = self._plugins(document)
        self.registry = registry_of(plugins)
        known = {name for plugin in plugins.present for name in plugin.sections}
        absent = PLUGIN_SECTIONS.keys() - known
        for name in document.keys() - SECTIONS - known - absent:
            self._fault(f"{name}: there is no such section.")
        models = self._sections(document, "models", ModelSection)
        rubrics = {
            name: make_rubric(name, section.criteria)
            for name, section in self._sections(document, "rubrics", RubricSection).items()
        }
        limits = {
            name: Limits(section.concurrency, section.requests_per_minute)
            for name, section in self._sections(document, "providers", ProviderSection).items()
        }
        # A seat that no panel names can still be named in a command.
        seats = {
            key: make_seat(key, section)
            for key, section in models.items()
            if "/" in (section.model or key)
        }
        panels = {}
        for name, section in self._sections(document, "panels", PanelSection).items():
            named = (*section.members, *section.outside_judges, *section.chairman)
            for key in (*named, *([section.filter] if section.filter else [])):
                seats |= self._seats(key, models, name)
            if panel := self._panel(name, section, seats, {"default": DEFAULT_RUBRIC} | rubrics):
                panels[name] = panel
        default = document.get("default_panel", next(iter(panels), None))
        if default is not None and default not in document.get("panels", {}):
            self._fault(f"default_panel: there is no panel {default!r}; add it, or name another.")
        access_section = self._section(document, "access", AccessSection)
        caps = replace(
            self._caps(document),
            channels=day_caps(access_section.channel_sections),
            workspaces=day_caps(access_section.workspaces),
        )
        access = access_of(access_section)
        for fault in channel_panel_faults(access, panels, document.get("panels", {})):
            self._fault(fault)
        retention = self._section(document, "retention", RetentionSection)
        sections = self._plugin_sections(document, plugins)
        if self.faults:
            raise SettingsError([*self.faults, *failures(plugins)])
        return PanelConfig(
            panels=panels,
            seats=seats,
            default=default,
            limits=limits,
            caps=caps,
            texts_days=retention.texts_days,
            access=access,
            sections=sections,
            left_out=tuple(name for name in document if name in absent),
            plugins=plugins,
            registry=self.registry,
        )

    def parse_plugins(self, document: Document) -> Plugins:
        """Return the plug-ins that the document lets run; raise SettingsError for faults."""
        plugins = self._plugins(document)
        if self.faults:
            raise SettingsError(self.faults)
        return plugins

    def _plugins(self, document: Document) -> Plugins:
        """Return the plug-ins that the document lets run."""
        section = self._section(document, "plugins", PluginsSection)
        return find_plugins(PluginSwitches(section.enabled, section.disabled))

    def _plugin_sections(self, document: Document, plugins: Plugins) -> dict[str, object]:
        """Return the sections of plug-ins, also of those that are disabled."""
        parsed: dict[str, object] = {}
        for plugin in plugins.present:
            for name, address in plugin.sections.items():
                if name not in document:
                    continue
                try:
                    parsed[name] = load_object(address)(document[name], self.folder, self.registry)
                except SettingsError as error:
                    for fault in error.faults:
                        self._fault(fault)
                except PluginError as error:
                    self._fault(f"{name}: {error}")
        return parsed

    def _fault(self, text: str) -> None:
        self.faults.append(f"{self.name}: {text}")

    def _caps(self, document: Document) -> Caps:
        section = self._section(document, "budgets", BudgetsSection)
        caps_usd = {scope.value: getattr(section, f"{scope.value}_usd") for scope in Scope}
        caps: dict[str, Any] = {
            name: usd if usd is None else cap_micro_usd(usd) for name, usd in caps_usd.items()
        }
        return Caps(**caps, unknown_prices=section.unknown_prices == "allowed")

    def _sections(self, document: Document, kind: str, shape: type[Parsed]) -> dict[str, Parsed]:
        given = document.get(kind, {})
        if not isinstance(given, dict):
            self._fault(f"{kind}: it must be written as [{kind}.NAME].")
            return {}
        sections = {
            name: self._validate(f"{kind}.{name}", value, shape) for name, value in given.items()
        }
        return {name: section for name, section in sections.items() if section is not None}

    def _section(self, document: Document, kind: str, shape: type[Parsed]) -> Parsed:
        """Return a section; the defaults if it has faults."""
        return self._validate(kind, document.get(kind, {}), shape) or shape()

    def _validate(self, name: str, value: object, shape: type[Parsed]) -> Parsed | None:
        """Return a section; one with faults without what is wrong, so that the rest is checked."""
        try:
            return shape.model_validate(value)
        except ValidationError as error:
            self.faults += validation_faults(error, f"{self.name}: {name}.")
            wrong = {fault["loc"][0] for fault in error.errors() if fault["loc"]}
        if isinstance(value, dict):
            with suppress(ValidationError):
                return shape.model_validate({k: v for k, v in value.items() if k not in wrong})
        return None

    def _seats(self, key: str, models: Mapping[str, ModelSection], panel: str) -> dict[str, Seat]:
        """Return the seats of a key in a panel by their own keys, and that of its fallback."""
        section = models.get(key, ModelSection())
        if "/" not in (section.model or key):
            self._fault(
                f"panels.{panel}: {key!r} is neither a seat of [models] nor a model id with its "
                "provider, such as 'openai/gpt-5.1'."
            )
        if section.fallback and section.drafts > 1:
            self._fault(
                f"models.{key}: a model with drafts has no fallback; leave out one of both."
            )
        if section.fallback is None or section.drafts > 1:
            return draft_seats(make_seat(key, section))
        bare = {name: one.model_copy(update={"fallback": None}) for name, one in models.items()}
        stand_in = self._seats(section.fallback, bare, panel)
        member = stand_in[section.fallback].member
        return {**stand_in, key: make_seat(key, section, member)}

    def _panel(
        self,
        name: str,
        section: PanelSection,
        seats: Mapping[str, Seat],
        rubrics: Mapping[str, Rubric],
    ) -> Panel | None:
        if section.rubric not in rubrics:
            self._fault(f"panels.{name}: there is no rubric {section.rubric!r}.")
            return None
        terms = {
            name: getattr(section, name)
            for name in Terms.__dataclass_fields__
            if hasattr(section, name)
        }
        try:
            return Panel(
                name=name,
                members=tuple(
                    seat.member
                    for key in section.members
                    for seat in draft_seats(seats[key]).values()
                ),
                rubric=rubrics[section.rubric],
                outside_judges=tuple(seats[key].member for key in section.outside_judges),
                chairmen=tuple(seats[key].member for key in section.chairman),
                terms=Terms(**terms),
                filter=seats[section.filter].member if section.filter else None,
            )
        except PanelError as error:
            self._fault(f"panels.{name}: {error}")
            return None


def receiver_of(model: str, api_base: str | None) -> str:
    """Return who receives a model's texts: THIS_MACHINE, an address, or "" for its provider.

    Texts stay on this machine only with an Ollama on loopback: another server there may be a proxy,
    and Ollama passes texts for its cloud models on.
    """
    if api_base is None:
        return ""
    route, _, name = model.partition("/")
    is_ollama = route in OLLAMA_ROUTES and not name.endswith("cloud")
    if is_ollama and is_loopback(urlsplit(api_base).hostname or ""):
        return THIS_MACHINE
    return (urlsplit(api_base).netloc or api_base).rpartition("@")[2]
