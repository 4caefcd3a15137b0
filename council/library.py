"""The library: ask a council, or let models rank given texts, from a program of your own.

Imports what runs a round when it is called, so that importing the library takes no time.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from council.model_families import family_of
from council.panel import Member, ModelId, Panel, Terms

if TYPE_CHECKING:
    from council.pipeline.ranking import Ranked
    from council.plugin import Plugin
    from council.ports import Gateway
    from council.rounds import Round
    from council.tally.bradley_terry import FittedStrength

DEFAULT_METHOD = Terms().method


async def rank(  # noqa: PLR0913 - all but the first two are named
    question: str,
    texts: Mapping[str, str],
    *,
    judges: Sequence[str | Member],
    seed: str | None = None,
    gateway: "Gateway | None" = None,
    method: str = DEFAULT_METHOD,
    plugins: "Sequence[Plugin]" = (),
) -> "Ranked":
    """Return texts by name, 2 to 10, as the judges rank them without knowing the names.

    Judges are model ids, or members for two seats of one model. A judge with the name of a text
    does not see that text. The method is built in or one of the plug-ins'. Raise QuestionError or
    PanelError for what cannot be ranked, QuorumError if no judge ranked it. One gateway for many
    calls shares its rate limits: see `open_models`.
    """
    from council.pipeline.ranking import Judges, ranking_round, run_ranking
    from council.registry import build_registry
    from council.rounds import Question

    members = _members(judges)
    terms, registry = Terms(method=method), build_registry(plugins)
    gateway = gateway or await open_models(members)
    ranked_by = Judges(members, terms=terms, registry=registry)
    seed = None if seed is None else _checked_seed(seed)
    round_ = ranking_round(Question(question), texts, ranked_by, seed, gateway)
    return await run_ranking(round_, gateway)


def rank_sync(  # noqa: PLR0913 - all but the first two are named
    question: str,
    texts: Mapping[str, str],
    *,
    judges: Sequence[str | Member],
    seed: str | None = None,
    gateway: "Gateway | None" = None,
    method: str = DEFAULT_METHOD,
    plugins: "Sequence[Plugin]" = (),
) -> "Ranked":
    """Return what `rank` returns, and block until then, for scripts and notebooks.

    Under a running event loop, as in a notebook, it runs in its own thread while the loop waits. A
    gateway must not be in use in another event loop at the same time.
    """
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    asked = rank(
        question,
        texts,
        judges=judges,
        seed=seed,
        gateway=gateway,
        method=method,
        plugins=plugins,
    )
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(asked)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, asked).result()


def fit(ranked: "Iterable[Ranked]") -> "tuple[FittedStrength, ...]":
    """Return one strength for each name over many pools of texts, with its 95 % interval.

    Pools are rankings of texts by the same names, such as the models that wrote them; each counts
    once, however many judges it had. Best first; names that never met are in different groups.
    """
    from council.errors import QuestionError
    from council.pipeline.ranking import Ranked
    from council.tally.borda import pair_matrix
    from council.tally.bradley_terry import fit_pools

    pools = [*ranked] if isinstance(ranked, Iterable) else None
    if pools is None or not all(isinstance(pool, Ranked) for pool in pools):
        raise QuestionError("Pools are a list of what `rank` returned, such as [first, second].")
    return fit_pools(pair_matrix(pool.ballots) for pool in pools)


async def ask(  # noqa: PLR0913 - all but the first are named
    question: str,
    *,
    members: Sequence[str | Member],
    chairman: Sequence[str | Member] = (),
    seed: str | None = None,
    gateway: "Gateway | None" = None,
    method: str = DEFAULT_METHOD,
    plugins: "Sequence[Plugin]" = (),
) -> "Round":
    """Return a closed round: the members answer and rank, the first chairman that can writes.

    Without a chairman, the first member is the first chairman. The method is built in or one of the
    plug-ins'. Raise PanelError for members that make no panel or are too few for the method,
    QuestionError for an empty question, QuorumError if fewer than two answered.
    """
    from council.errors import QuestionError, QuorumError
    from council.methods import find_method
    from council.pipeline.ranking import run_in_memory
    from council.pipeline.run import versions
    from council.prompts.shared import DEFAULT_RUBRIC
    from council.registry import build_registry
    from council.rounds import Question, Round

    if not isinstance(question, str) or not question.strip():
        raise QuestionError("The question is empty.")
    seats, chairmen = _members(members), _members(chairman)
    panel = Panel("council", seats, DEFAULT_RUBRIC, chairmen=chairmen, terms=Terms(method=method))
    registry = build_registry(plugins)
    rules = find_method(method, registry)
    rules.check(panel)
    gateway = gateway or await open_models(panel.seats)
    round_ = Round(
        id=secrets.token_hex(5),
        question=Question(question),
        panel=panel,
        seed=secrets.token_hex(8) if seed is None else _checked_seed(seed),
        asked_at=datetime.now(UTC),
        versions=tuple(sorted(versions(gateway, method=rules).items())),
        registry=registry,
    )
    closed = await run_in_memory(round_, gateway)
    if closed.closing and closed.closing.failure:
        raise QuorumError(closed.closing.failure)
    return closed


async def open_models(models: Iterable[str | Member]) -> "Gateway":
    """Return a gateway to models, through litellm and with the keys that litellm finds.

    The first call imports litellm, which takes seconds. `scripted/random` needs no litellm.
    """
    from council.gateways.litellm.client import SeatSettings
    from council.gateways.litellm.gateway import LitellmGateway
    from council.gateways.routing import RoutingGateway
    from council.gateways.scripted import ScriptedGateway

    members = _members(models)
    seats = {
        member.key: SeatSettings(member.model_id)
        for member in members
        if not member.model_id.startswith("scripted/")
    }
    remote = LitellmGateway(seats)
    if seats:
        await remote.warm()
    return RoutingGateway({"scripted/": ScriptedGateway(), "": remote})


def _checked_seed(seed: object) -> str:
    if not isinstance(seed, str):
        from council.errors import QuestionError

        raise QuestionError(f'The seed is {type(seed).__name__}, not str. Write it as "{seed}".')
    return seed


def _members(models: Iterable[str | Member]) -> tuple[Member, ...]:
    if isinstance(models, str) or not isinstance(models, Iterable):
        from council.errors import PanelError

        raise PanelError(
            f'Models are a list of model ids, such as ["openai/gpt-5.1"], not {models!r}.'
        )
    return tuple(model if isinstance(model, Member) else _member(model) for model in models)


def _member(model: object) -> Member:
    if not isinstance(model, str):
        from council.errors import PanelError

        raise PanelError(f'A model is an id, such as "openai/gpt-5.1", not {model!r}.')
    return Member(model, ModelId(model), model.rpartition("/")[2] or model, family_of(model))
