"""Methods: named ways in which a panel judges its answers, as run and verification both need them.

Pure. What a method asks of models is in council.pipeline.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from council.answers import Exchange, Prompt
from council.ballots import Ballot, SpoiledBallot, cast_ballot
from council.errors import PanelError
from council.labels import LabelMap, Slate, draw_slates
from council.panel import Member, Panel
from council.prompts.ballot import ballot_schema, judge_prompt
from council.rounds import Draw, Round

DrawSlates = Callable[[LabelMap, Sequence[str], str], tuple[Slate, ...]]


def _cast_ballots(round_: Round, _draw: Draw) -> Sequence[Ballot]:
    return round_.ballots


def _no_exchanges(_panel: Panel) -> Mapping[str, int]:
    return {}


def _keep(_round: Round, exchange: Exchange) -> Exchange:
    return exchange


@dataclass(frozen=True, slots=True)
class Method:
    """A way of judging: who judges, and what each judge sees in each of its passes.

    `draw_slates` returns the slates of all passes, from the labels, the judges without an answer
    and the seed. `least_outside` is how many outside judges a panel needs for it.

    `prompt` and `schema` ask for a ballot and `cast` reads the reply. `ballots` returns what is
    counted. `exchanges` says how many calls, at most, each seat makes besides answers and ballots;
    `extra_texts` is how many texts a ballot's prompt has besides the answers.
    `read` returns an exchange with nonce, scores and fault as its reply and the seed give them.
    """

    name: str
    summary: str
    draw_slates: DrawSlates = draw_slates
    passes: int = 1
    only_outside: bool = False
    least_outside: int = 0
    prompt: Callable[..., Prompt] = judge_prompt
    schema: Callable[[Sequence[str], str], dict[str, object]] = ballot_schema
    cast: Callable[..., Ballot | SpoiledBallot] = cast_ballot
    ballots: Callable[[Round, Draw], Sequence[Ballot]] = _cast_ballots
    exchanges: Callable[[Panel], Mapping[str, int]] = _no_exchanges
    extra_texts: int = 0
    read: Callable[[Round, Exchange], Exchange] = _keep

    def check(self, panel: Panel) -> None:
        """Raise PanelError, naming what is missing, for a panel that is too small for it."""
        missing = self.least_outside - len(panel.outside_judges)
        if missing > 0:
            raise PanelError(
                f"Method {self.name} needs {self.least_outside} outside judges, and panel "
                f"{panel.name!r} has {len(panel.outside_judges)}. Add {missing} to its "
                "outside_judges, or choose another method."
            )

    def judges(self, panel: Panel) -> tuple[Member, ...]:
        """Return the seats of a panel that judge under this method."""
        return panel.outside_judges if self.only_outside else panel.judges


def draw_both_orders(labels: LabelMap, onlookers: Sequence[str], seed: str) -> tuple[Slate, ...]:
    """Return the balanced slates, each followed by its reverse as the judge's second pass."""
    return tuple(
        one
        for slate in draw_slates(labels, onlookers, seed)
        for one in (slate, replace(slate, shown=slate.shown[::-1], pass_number=2))
    )


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
)
PANEL_OF_JUDGES = Method(
    "panel-of-judges",
    "Only the outside judges rank; models that answered do not.",
    draw_outside_slates,
    only_outside=True,
    least_outside=1,
)
METHODS = {method.name: method for method in (BLIND_RANKING, BOTH_ORDERS, PANEL_OF_JUDGES)}
_PLUGGED_IN: dict[str, Method] = {}  # known, but not offered until a panel names them


def plug_in(method: Method) -> None:
    """Make a method from elsewhere known."""
    _PLUGGED_IN[method.name] = method


def offered_methods(panels: Iterable[Panel]) -> tuple[str, ...]:
    """Return the methods to choose from: the usual ones, and those that a panel names."""
    return tuple(dict.fromkeys((*METHODS, *(panel.terms.method for panel in panels))))


def find_method(name: str) -> Method:
    """Return the method with this name; raise PanelError for an unknown one."""
    method = METHODS.get(name) or _PLUGGED_IN.get(name)
    if method is None:
        raise PanelError(f"There is no method {name!r}. Known methods: {', '.join(METHODS)}.")
    return method
