"""Methods: named ways in which a panel judges its answers, as run and verification both need them.

Pure. council.pipeline runs them.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from council.answers import Exchange, Prompt
from council.ballots import Ballot, SpoiledBallot, cast_ballot
from council.errors import PanelError
from council.filters import check_filters, find_filters, uses_filters
from council.labels import LabelMap, Slate, draw_slates, reverse_slates
from council.panel import Member, Panel, Rubric
from council.prompts.ballot import ballot_schema, judge_prompt
from council.registry import Registry
from council.rounds import Draw, Round
from council.tally import Tally, count_ballots
from council.tally.borda import JudgeWeights
from council.tally.chance_rule import ChanceRule

FIRST_VERSION = "1"
DrawSlates = Callable[[LabelMap, Sequence[str], str], tuple[Slate, ...]]


def _count(
    round_: Round,
    draw: Draw,
    ballots: Sequence[Ballot],
    rule: ChanceRule,
    weights: JudgeWeights | None,
) -> Tally:
    return count_ballots(draw.labels.labels, ballots, round_.seed, rule, weights)


@dataclass(frozen=True, slots=True)
class Method:
    """A way of judging: who judges, and what each judge sees in each of its passes.

    `draw_slates` returns the slates of all passes, from the labels, the judges without an answer
    and the seed; `slates` those that were asked for so far, where later ones follow from ballots.
    `least_members` and `least_outside` are how many of each a panel needs for it. `is_ranked` is
    False if nobody ranks, and `is_blind` if models see each other's names. `is_weighted` says
    whether the judges' consistency, once it is known, weights the official count.

    `prompt` and `schema` ask for a ballot, with `top_logprobs` alternatives to each token, and
    `cast` reads the reply. `ballots` returns what is counted, and `tally` counts it by the judges'
    weights, None if all count alike. `pair_ballots` is how many ballots on two answers it asks for
    at most, where it asks for no others. `extra_texts` is how many texts a ballot's prompt has
    besides the answers. `exchanges` says how many calls, at most, each seat makes besides answers
    and ballots; `read` returns an exchange with nonce, scores and fault as reply and seed give
    them. `collect` asks for all that lies between the draw and the count (from RoundSession and
    Draw); without it, the ballots of the draw are asked for.

    A round keeps the `version` it was opened under, and `earlier` has the rules of older versions.
    """

    name: str
    summary: str
    draw_slates: DrawSlates = draw_slates
    passes: int = 1
    only_outside: bool = False
    least_members: int = 0
    least_outside: int = 0
    is_weighted: bool = False
    is_ranked: bool = True
    is_blind: bool = True
    slates: Callable[[Round, Draw], tuple[Slate, ...]] = lambda _round, draw: draw.slates
    prompt: Callable[..., Prompt] = judge_prompt
    schema: Callable[[Sequence[str], str, Rubric], dict[str, object]] = ballot_schema
    cast: Callable[..., Ballot | SpoiledBallot] = cast_ballot
    top_logprobs: int | None = None
    ballots: Callable[[Round, Draw], Sequence[Ballot]] = lambda round_, _draw: round_.ballots
    tally: Callable[[Round, Draw, Sequence[Ballot], ChanceRule, JudgeWeights | None], Tally] = (
        _count
    )
    pair_ballots: Callable[[Panel], int] | None = None
    exchanges: Callable[[Panel], Mapping[str, int]] = lambda _panel: {}
    extra_texts: int = 0
    read: Callable[[Round, Exchange], Exchange] = lambda _round, exchange: exchange
    collect: Callable[..., Awaitable[None]] | None = None
    version: str = FIRST_VERSION
    earlier: "tuple[Method, ...]" = ()

    def check(self, panel: Panel) -> None:
        """Raise PanelError, naming what is missing, for a panel that is too small for it."""
        members = len(panel.members)
        if members < self.least_members:
            raise PanelError(
                f"Method {self.name} needs {self.least_members} members, and panel "
                f"{panel.name!r} has {members}. Add {self.least_members - members}, or choose "
                "another method."
            )
        missing = self.least_outside - len(panel.outside_judges)
        if missing > 0:
            judges = "judge" if self.least_outside == 1 else "judges"
            raise PanelError(
                f"Method {self.name} needs {self.least_outside} outside {judges}, and panel "
                f"{panel.name!r} has {len(panel.outside_judges)}. Add {missing} to its "
                "outside_judges, or choose another method."
            )

    @property
    def versions(self) -> dict[str, str]:
        """The entry by which a round keeps its version; usual methods have but one."""
        return {} if self.name in METHODS else {"method": self.version}

    def judges(self, panel: Panel) -> tuple[Member, ...]:
        """Return the seats of a panel that judge under this method."""
        if not self.is_ranked:
            return ()
        seats = panel.outside_judges if self.only_outside else panel.judges
        return tuple(filter(panel.may_rank, seats))

    def passes_of(self, round_: Round, seat: Member) -> int:
        """Return how often a round asks a judge to rank, where that is known beforehand."""
        rule = ChanceRule.of(dict(round_.versions))
        is_reversed = rule.reverses_outside and seat in round_.panel.outside_judges
        return self.passes + (self.passes % 2 if is_reversed else 0)


def draw_both_orders(labels: LabelMap, onlookers: Sequence[str], seed: str) -> tuple[Slate, ...]:
    """Return the balanced slates, each followed by its reverse as the judge's second pass."""
    slates = draw_slates(labels, onlookers, seed)
    return reverse_slates(slates, {slate.judge for slate in slates})


def draw_outside_slates(labels: LabelMap, onlookers: Sequence[str], seed: str) -> tuple[Slate, ...]:
    """Return the slates of the judges who did not answer."""
    slates = draw_slates(labels, onlookers, seed)
    return tuple(slate for slate in slates if labels.label_of(slate.judge) is None)


BLIND_RANKING = Method("blind-ranking", "Every model ranks the others' answers once.")
BOTH_ORDERS = Method(
    "both-orders",
    "Every judge ranks twice, the second time in reverse order; its two rankings are averaged.",
    draw_both_orders,
    passes=2,
    is_weighted=True,
)
PANEL_OF_JUDGES = Method(
    "panel-of-judges",
    "Only the outside judges rank; models that answered do not.",
    draw_outside_slates,
    only_outside=True,
    least_outside=1,
)
METHODS = {method.name: method for method in (BLIND_RANKING, BOTH_ORDERS, PANEL_OF_JUDGES)}


def find_method(name: str, registry: Registry) -> Method:
    """Return the method with this name; raise PanelError for one that is unknown or broken."""
    if name in METHODS:
        return METHODS[name]
    part = registry.methods.get(name)
    if part is None:
        raise PanelError(
            f"There is no method {name!r}. {registry.missing_part('methods', name)}Known methods: "
            f"{', '.join(offered_methods((), registry))}."
        )
    method: Method = part.load(Method)
    if method.name != name:
        raise part.fault(f"its method {name!r} has the name {method.name!r}.")
    return method


def method_summary(name: str, registry: Registry) -> str:
    """Return what a method does, in a sentence, or why it can't be used."""
    try:
        return find_method(name, registry).summary
    except PanelError as error:
        return str(error)


def offered_methods(panels: Iterable[Panel], registry: Registry) -> tuple[str, ...]:
    """Return the methods to choose from: those built in, of plug-ins, and named by a panel."""
    named = {panel.terms.method for panel in panels}
    parts = registry.methods.items()
    offered = (name for name, part in parts if part.is_offered or name in named)
    return tuple(dict.fromkeys((*METHODS, *offered)))


def known_methods(registry: Registry) -> tuple[str, ...]:
    """Return the names of all methods, whether they are offered or not, in alphabetical order."""
    return tuple(sorted({*METHODS, *registry.methods}))


def check_panel_rules(panel: Panel, registry: Registry) -> None:
    """Raise PanelError for a panel whose method or filters are missing, or do not suit it."""
    find_method(panel.terms.method, registry).check(panel)
    check_filters(panel, registry)


def method_of(round_: Round) -> Method:
    """Return a round's method with the rules of the version that the round was opened under.

    Also with what its panel adds. Raise PanelError for a method or a version that this program
    does not know.
    """
    name, registry = round_.panel.terms.method, round_.registry
    if name not in METHODS and name not in registry.methods:
        raise PanelError(_how_to_get(name, registry))
    newest = find_method(name, registry)
    version = dict(round_.versions).get("method", FIRST_VERSION)
    for method in (newest, *newest.earlier):
        if method.version == version:
            if not round_.panel.terms.canary_share:
                return method
            changed: Method = find_filters(round_.registry).with_canary(round_, method)
            return changed
    raise PanelError(
        f"This round used version {version} of method {newest.name}, which this program does not "
        "know. Install the newer version."
    )


def _how_to_get(method: str, registry: Registry) -> str:
    for plugin in registry.disabled:
        if method in plugin.methods:
            return f"Method {method} is part of the plug-in {plugin.name}, which is not on."
    return f"Install or enable the plug-in that has the method {method} to recompute this round."


def missing_rules(round_: Round) -> str:
    """Return which method or filters of a round this program lacks, in a sentence; "" if none."""
    if uses_filters(round_.panel) and round_.registry.filters is None:
        return "Install or enable the plug-in that has filters to recompute this round."
    try:
        method_of(round_)
        check_filters(round_.panel, round_.registry)
    except PanelError as error:
        return str(error)
    return ""


def shown_method(round_: Round) -> Method:
    """Return a round's method to show the round; one that this program lacks says so instead."""
    try:
        return method_of(round_)
    except PanelError as error:
        return Method(round_.panel.terms.method, str(error), is_blind=False)
