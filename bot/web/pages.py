"""Pages of the core and of plug-ins: routes, navigation, templates and fragments, and their merge.

A plug-in names its `Pages` in `Plugin.pages`.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal
from urllib.parse import parse_qsl

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import Response

from bot.plugins import Plugins
from council.errors import CouncilError
from council.rounds import Round

# The first argument is the WebContext, which has the pages and so is not imported here.
Handler = Callable[[Any, Request], Awaitable[Response]]
FormHandler = Callable[[Any, Request, Mapping[str, str]], Awaitable[Response]]
LoadValues = Callable[[Any, Request, Round], Awaitable[Mapping[str, Any] | None]]

# On a round's page: next to who was asked, among the buttons, and under the table of rankings.
# On the page about privacy: in the list of what is stored.
Spot = Literal["round.origin", "round.actions", "round.rankings", "privacy.stored"]

_PARAMETER = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """A link of a row in the navigation of every page; links and rows are sorted by `order`.

    The links with one `group` are one row of that name. It leads to the first of them; on its
    pages, all are tabs. `path` may have a query.
    """

    group: str
    label: str
    path: str
    order: int = 1000

    @property
    def hint(self) -> tuple[str, str]:
        """Return its label and path, as `Pages.hints` has them."""
        return self.label, self.path

    def holds(self, path: str, query: Mapping[str, str]) -> bool:
        """Return whether a page is the one of the link, or below it."""
        own, _, options = self.path.partition("?")
        is_below = own != "/" and path.startswith(f"{own}/")
        return (path == own or is_below) and all(
            query.get(name) == value for name, value in parse_qsl(options)
        )


@dataclass(frozen=True, slots=True)
class NavigationRow:
    """A row in the navigation of every page."""

    label: str
    tabs: Sequence[NavigationLink]

    def find_tab(self, path: str, query: Mapping[str, str]) -> NavigationLink | None:
        """Return the tab that a page is on, the most specific one; None if it is not of the row."""
        found = (tab for tab in self.tabs if tab.holds(path, query))
        return max(found, key=lambda tab: len(tab.path), default=None)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A template that a page of the core includes at a spot.

    On a round's page, `load` returns its `values`, or None to leave it out. Visitors by a share
    link alone do not see it.
    """

    spot: Spot
    template: str
    load: LoadValues | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pages:
    """What the core or a plug-in adds to the web page.

    `get` and `forms` map paths to the handlers of GET and POST. `statuses` are the HTTP statuses
    of errors. `hints` map commands, in which {} is an id, to the label and path of the page that
    does the same. `package` is the one whose folder `templates` has the templates, `globals` and
    `filters` are what only these use.
    """

    name: str
    get: Mapping[str, Handler] = field(default_factory=dict)
    forms: Mapping[str, FormHandler] = field(default_factory=dict)
    statuses: Mapping[type[CouncilError], int] = field(default_factory=dict)
    navigation: Sequence[NavigationLink] = ()
    hints: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    fragments: Sequence[Fragment] = ()
    package: str = ""
    globals: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Any] = field(default_factory=dict)


class Site:
    """The pages of the core and of plug-ins, merged; where two claim the same, the first wins.

    `conflicts` has a sentence for each path that two claim.
    """

    def __init__(self, *pages: Pages) -> None:
        self.conflicts: list[str] = []
        self.get: dict[str, Handler] = self._merge_paths(pages, lambda one: one.get)
        self.forms: dict[str, FormHandler] = self._merge_paths(pages, lambda one: one.forms)
        self.statuses = _merge(one.statuses for one in pages)
        self.navigation = _rows([link for one in pages for link in one.navigation])
        self.fragments = [fragment for one in pages for fragment in one.fragments]
        self._hints: dict[str, tuple[str, str]] = _merge(one.hints for one in pages)
        self._templates = Environment(
            loader=ChoiceLoader([PackageLoader(one.package) for one in pages if one.package]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= _merge(one.filters for one in pages)
        self._templates.filters["page_link"] = self.page_link
        self._templates.globals |= _merge(one.globals for one in pages)

    def render(self, template: str, **values: Any) -> str:  # noqa: ANN401
        """Render a template without the frame that all pages share."""
        return self._templates.get_template(template).render(values)

    def page_link(self, code: str) -> tuple[str, str] | None:
        """Return the label and path of the page that does what a hint, "/council …", says.

        None if it is no hint, or if no page does exactly that: the command can be typed there.
        """
        first, _, command = code.partition(" ")
        if first != "/council":
            return None
        if command in self._hints:
            return self._hints[command]
        words = command.split()
        for i, word in enumerate(words):
            if i and word.islower():
                known = self._hints.get(" ".join((*words[:i], "{}", *words[i + 1 :])))
                if known:
                    return known[0], known[1].format(word)
        return None

    def _merge_paths(
        self, pages: Sequence[Pages], choose: Callable[[Pages], Mapping[str, Any]]
    ) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        owners: dict[str, str] = {}
        for one in pages:
            for path, handler in choose(one).items():
                owner = owners.setdefault(_PARAMETER.sub("{}", path), one.name)
                if owner == one.name:
                    merged[path] = handler
                else:
                    self.conflicts.append(
                        f"{owner} and {one.name} both have a page at {path}. The one of {owner} "
                        "is used."
                    )
        return merged


@cache  # so that templates are compiled once
def merge_pages(*pages: Pages) -> Site:
    """Return the pages as one site."""
    return Site(*pages)


def load_site(plugins: Plugins, *core: Pages) -> Site:
    """Return the pages of the core and of the active plug-ins; report paths that two claim."""
    site = merge_pages(*core, *plugins.load(lambda plugin: plugin.pages))
    for conflict in site.conflicts:
        plugins.report(conflict)
    return site


def _merge(mappings: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
    merged: dict[Any, Any] = {}
    for mapping in mappings:
        merged = {**mapping, **merged}
    return merged


def _rows(links: Sequence[NavigationLink]) -> list[NavigationRow]:
    """Return the rows of the links, both in order."""
    rows: dict[str, list[NavigationLink]] = {}
    for link in sorted(links, key=lambda link: link.order):
        rows.setdefault(link.group, []).append(link)
    return [NavigationRow(label, tabs) for label, tabs in rows.items()]
