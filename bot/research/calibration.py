"""Find criteria in people's votes: load the votes, let a panel's models draft and judge."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any

from bot.context import AppContext
from bot.render.formatting import count_noun, join_words
from council.answers import Call, Role
from council.budget import Estimate, call_cost_micro_usd, estimate_round
from council.budget_caps import Account, payer
from council.errors import ExperimentError, GatewayError, PanelError, QuestionError, QuorumError
from council.panel import Member, Panel, Rubric
from council.pipeline.ranking import Judges, ranking_round, run_ranking
from council.pipeline.session import Deadline, identifying_names, reply_in_time
from council.ports import Gateway, Store
from council.prompts.shared import anonymize_answer, nonce_for
from council.registry import NO_PLUGINS, Registry
from council.research.criteria import (
    DRAFTS,
    SAMPLE,
    Calibration,
    Example,
    agreement,
    calibrate,
    draft_prompt,
    draft_schema,
    parse_draft,
    split,
)
from council.rounds import Question, Round

DRAFT_TEMPERATURE = 1.0
LOCAL = "local"  # in place of a workspace: the page, the terminal and the API


async def load_examples(store: Store, panel: Panel, workspace: str = "") -> tuple[Example, ...]:
    """Return a panel's rounds with blind votes of people in one workspace, oldest first.

    Forgotten rounds have no texts, and are left out. Raise ExperimentError, which lists the
    workspaces, if there are several and none is named.
    """
    chosen: dict[str, list[str]] = defaultdict(list)
    for vote in await store.votes():
        if vote.calibrates:
            chosen[vote.round_id].append(vote.member)
    found: dict[str, list[Example]] = defaultdict(list)
    for round_id, members in chosen.items():
        round_ = await store.load(round_id)
        if round_.panel.name == panel.name and not round_.forgotten and len(round_.answers) > 1:
            found[round_.question.place.scope or LOCAL].append(_example(round_, members))
    if len(found) > 1 and not workspace:
        raise ExperimentError(
            f"Panel {panel.name} has votes from {join_words(sorted(found))}. Name one of these "
            "workspaces with --workspace."
        )
    return tuple(found[workspace] if workspace else chain(*found.values()))


def _example(round_: Round, chosen: Sequence[str]) -> Example:
    families = sorted({seat.family for seat in round_.panel.judges})
    texts = {
        answer.member: anonymize_answer(
            answer.text,
            identifying_names(round_.panel.seat(answer.member)),
            answer.reply.sources,
            families,
        ).text
        for answer in round_.revised
    }
    question = Question(round_.question.text, context=round_.question.context)
    return Example(round_.id, question, texts, tuple(one for one in chosen if one in texts))


@dataclass(frozen=True, slots=True)
class CriteriaRun:
    """What to calibrate: a panel's rubric on examples; the first chairman drafts, by `seed`."""

    panel: Panel
    examples: tuple[Example, ...]
    seed: str
    at: datetime
    registry: Registry = NO_PLUGINS

    @property
    def drafter(self) -> Member:
        """The seat that writes criteria."""
        return self.panel.chair_order[0]

    @property
    def votes(self) -> int:
        """How many votes of people there are."""
        return sum(len(example.chosen) for example in self.examples)

    @property
    def name(self) -> str:
        """The name of the rubric, which says where it is from."""
        return f"{self.votes}-votes-{self.at:%Y-%m-%d}"

    def ranking(self, rubric: Rubric, example: Example, gateway: Gateway) -> Round:
        """Return the round that ranks an example under a rubric; the same order for every rubric.

        Raise QuestionError or PanelError if it cannot be ranked.
        """
        judges = Judges.of(replace(self.panel, rubric=rubric), self.registry)
        seed = f"{self.seed} {example.round_id}"
        return ranking_round(example.question, example.texts, judges, seed, gateway)

    def draft_call(self, examples: Sequence[Example], rubric: Rubric | None) -> tuple[Call, str]:
        """Return the call for a draft, and its nonce."""
        ids = " ".join(example.round_id for example in examples)
        nonce = nonce_for(self.seed, f"{ids} {rubric.version if rubric else ''}")
        prompt = draft_prompt(examples, rubric, nonce)
        schema = draft_schema(nonce)
        return Call(self.drafter, prompt, DRAFT_TEMPERATURE, Role.SYNTHESIS, schema), nonce


async def estimate_criteria(run: CriteriaRun, gateway: Gateway) -> Estimate:
    """Return the most a run may cost."""
    seen, held_out = split(run.examples, run.seed)
    micro, unknown = 0, dict[str, None]()
    for rankings, examples in ((DRAFTS + 2, seen), (2, held_out)):
        for example in examples:
            try:
                cost = await estimate_round(
                    run.ranking(run.panel.rubric, example, gateway), gateway
                )
            except (QuestionError, PanelError):
                continue
            micro += rankings * cost.micro
            unknown |= dict.fromkeys(cost.unknown)
    price = await gateway.price(run.drafter)
    if price is None:
        unknown[run.drafter.key] = None
    else:
        call, _ = run.draft_call(seen[:SAMPLE], run.panel.rubric)
        micro += (DRAFTS + 1) * call_cost_micro_usd(price, call)
    return Estimate(micro, unknown=tuple(unknown))


async def find_criteria(
    app: AppContext, run: CriteriaRun, asked_by: str, cap_micro: int | None
) -> Calibration:
    """Draft criteria and try them; a call that the budgets do not cover counts as not made."""
    await app.prepare(run.panel)
    account = Account(f"criteria {app.new_id()}", app.now().date(), payer(asked_by))
    budgeted = app.budget.budget_gateway(account, app.gateway, cap_micro, of="calibration")
    async with budgeted as gateway:

        async def draft(
            examples: Sequence[Example], rubric: Rubric | None
        ) -> tuple[str, ...] | None:
            call, nonce = run.draft_call(examples, rubric)
            deadline = Deadline.after(run.panel.terms.synthesis_seconds)
            try:
                return parse_draft((await reply_in_time(gateway, call, deadline)).text, nonce)
            except GatewayError:
                return None

        async def judge(rubric: Rubric, example: Example) -> float | None:
            try:
                ranked = await run_ranking(run.ranking(rubric, example, gateway), gateway)
            except (QuestionError, PanelError, QuorumError):
                return None
            return agreement({line.name: line.share for line in ranked.standings}, example)

        return await calibrate(
            run.examples, run.panel.rubric, run.name, run.seed, draft=draft, judge=judge
        )


# --- What people read


def calibration_lines(run: CriteriaRun, found: Calibration) -> tuple[str, ...]:
    """Return what was found, in sentences."""
    if found.rubric is None:
        return (f"{run.drafter.display} wrote no usable criteria. Nothing changes.",)
    if found.base is None or found.drafted is None or found.interval is None:
        if found.rounds:
            few = count_noun(found.rounds, "round")
            return (f"Only {few} could be ranked to decide. Check models and budget; try again.",)
        return ("No draft agreed with people more than the criteria in use do. Nothing changes.",)
    low, high = found.interval
    gain = f"{found.drafted - found.base:+.2f}, 95 % interval {low:+.2f} to {high:+.2f}"
    measured = (
        f"Agreement with people on {found.rounds} rounds that no draft saw: {found.base:.2f} with "
        f"the criteria in use, {found.drafted:.2f} with the draft ({gain})."
    )
    if found.is_adopted:
        return measured, "The draft is better beyond chance. Add it to council.toml:"
    return measured, "That can be chance, so the criteria in use stay."


def rubric_toml(run: CriteriaRun, found: Calibration) -> str:
    """Return an adopted rubric as a section of council.toml that names its source."""
    if not found.is_adopted or found.rubric is None:
        return ""
    lines = [
        f"# Drafted by {run.drafter.key} from {run.votes} votes of people, {run.at:%Y-%m-%d}.",
        *(f"# {line}" for line in calibration_lines(run, found)[:1]),
        f"# For a panel with rubric = {json.dumps(run.name)}.",
        f"[rubrics.{json.dumps(run.name)}]",
        "criteria = [",
        *(f"  {json.dumps(criterion, ensure_ascii=False)}," for criterion in found.rubric.criteria),
        "]",
    ]
    return "\n".join((*lines, ""))


def calibration_document(run: CriteriaRun, found: Calibration) -> dict[str, Any]:
    """Return what was found; unknown values are null."""
    rubric = found.rubric
    return {
        "panel": run.panel.name,
        "votes": run.votes,
        "rounds": len(run.examples),
        "held_out": found.rounds,
        "agreement": found.base,
        "agreement_drafted": found.drafted,
        "interval": None if found.interval is None else [*found.interval],
        "adopted": found.is_adopted,
        "rubric": {"name": rubric.name, "version": rubric.version, "criteria": [*rubric.criteria]}
        if rubric
        else None,
    }
