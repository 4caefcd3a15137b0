"""Criteria from stored votes, with models over a fake gateway: asked blind, adopted or refused."""

import json
import random
import re
import tomllib
from dataclasses import dataclass, replace

import pytest

from bot.context import AppContext
from bot.research.calibration import (
    CriteriaRun,
    calibration_document,
    calibration_lines,
    estimate_criteria,
    find_criteria,
    load_examples,
    rubric_toml,
)
from council.answers import Call, Reply
from council.budget import Budget
from council.budget_caps import Caps
from council.errors import ExperimentError
from council.feedback import HumanVote
from council.money import Price
from council.panel import Panel, Rubric
from council.places import Place
from council.prompts.shared import make_rubric
from council.research.criteria import DRAFTS, Calibration
from council.rounds import Closing, Question
from tests.bot.app_fakes import an_app
from tests.builders import ASKED_AT, CLAUDE, a_panel, a_round, with_answers, with_ballots
from tests.council.research.test_criteria import CORRECT, features
from tests.fakes.gateway import FakeGateway, read_prompt
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_store import MemoryStore

ROUNDS = 40


def plain_panel(members: int = 3) -> Panel:
    """Return a panel whose criteria do not say what people like."""
    return replace(a_panel(members), rubric=make_rubric("plain", ("Good.",)))


@dataclass(eq=False)
class Models(FakeGateway):
    """Judges that like long answers unless told that correct ones are better, and a drafter."""

    draft: str | None = CORRECT

    async def complete(self, call: Call) -> Reply:
        self.asked.append(call)
        shown = read_prompt(call.prompt)
        properties = (call.schema or {}).get("properties")
        if isinstance(properties, dict) and "criteria" in properties:
            criteria = [self.draft] if self.draft else []
            return Reply(json.dumps({"nonce": shown.nonces[0], "criteria": criteria}))
        by = "correct" if CORRECT in call.prompt.system else "long"
        order = sorted(shown.texts, key=lambda x: -features(shown.texts[x])[by])
        return Reply(shown.ballot(" ".join(order)))

    @property
    def drafts(self) -> list[Call]:
        """The calls for drafts."""
        return [call for call in self.asked if "People chose:" in call.prompt.user]


async def voted_app(gateway: FakeGateway, panel: Panel, rounds: int = ROUNDS) -> AppContext:
    """Return an app with rounds in which a person chose the most correct answer."""
    store, chance = MemoryStore(), random.Random(7)
    app = an_app(store=store, gateway=gateway)
    for number in range(rounds):
        opened = replace(a_round(panel), id=f"r{number}", question=Question(f"Question {number}?"))
        answered = with_answers(opened)
        worth = [(chance.gauss(), chance.gauss()) for _ in answered.answers]
        answers = tuple(
            replace(answer, reply=Reply(f"correct={correct:.3f} long={long:.3f}"))
            for answer, (correct, long) in zip(answered.answers, worth, strict=True)
        )
        closed = replace(with_ballots(replace(answered, answers=answers)), closing=Closing(3.0))
        await store.open(closed)
        best = max(zip(worth, answers, strict=True), key=lambda pair: pair[0])[1].member
        assert closed.draw
        label = closed.draw.labels.label_of(best) or ""
        vote = HumanVote(closed.id, "U1", label, best, ASKED_AT, blind=True)
        await store.vote(vote, imported=True)
    return app


async def a_run(app: AppContext, panel: Panel) -> CriteriaRun:
    return CriteriaRun(panel, await load_examples(app.store, panel), "s", ASKED_AT)


async def test_criteria_that_help_are_adopted_and_name_their_source() -> None:
    models, panel = Models(), plain_panel()
    app = await voted_app(models, panel)
    run = await a_run(app, panel)

    found = await find_criteria(app, run, "terminal", None)

    assert found.is_adopted
    assert run.name == f"40-votes-{ASKED_AT:%Y-%m-%d}"
    text = rubric_toml(run, found)
    assert tomllib.loads(text)["rubrics"][run.name]["criteria"] == [CORRECT]
    assert f'rubric = "{run.name}"' in text
    assert f"from 40 votes of people, {ASKED_AT:%Y-%m-%d}" in text
    assert "on 27 rounds that no draft saw" in calibration_lines(run, found)[0]
    document = json.loads(json.dumps(calibration_document(run, found)))
    assert (document["adopted"], document["votes"], document["held_out"]) == (True, 40, 27)
    assert document["rubric"]["name"] == run.name


async def test_drafters_see_answers_blind_and_judges_see_each_in_one_order() -> None:
    models, panel = Models(), plain_panel()
    app = await voted_app(models, panel)

    await find_criteria(app, await a_run(app, panel), "terminal", None)

    assert len(models.drafts) in {DRAFTS, DRAFTS + 1}
    names = [seat.display for seat in panel.members] + [seat.key for seat in panel.members]
    assert not any(name in call.prompt.user for call in models.drafts for name in names)
    orders: dict[tuple[str, str], set[str]] = {}
    for call in models.asked:
        if call not in models.drafts:
            asked = re.search(r"Question \d+\?", call.prompt.user)
            assert asked
            shown = " ".join(read_prompt(call.prompt).texts.values())
            orders.setdefault((call.member.key, asked[0]), set()).add(shown)
    assert all(len(each) == 1 for each in orders.values())


async def test_criteria_without_effect_are_refused() -> None:
    panel = plain_panel()
    app = await voted_app(Models(draft="Kind: it is friendly."), panel)
    run = await a_run(app, panel)

    found = await find_criteria(app, run, "terminal", None)

    assert not found.is_adopted
    assert rubric_toml(run, found) == ""
    assert calibration_lines(run, found) == (
        "No draft agreed with people more than the criteria in use do. Nothing changes.",
    )


async def test_a_drafter_that_writes_nothing_changes_nothing() -> None:
    panel = plain_panel()
    app = await voted_app(Models(draft=None), panel)
    run = await a_run(app, panel)

    found = await find_criteria(app, run, "terminal", None)

    assert found == Calibration(None)
    assert "wrote no usable criteria" in calibration_lines(run, found)[0]
    assert calibration_document(run, found)["rubric"] is None


async def test_a_budget_that_ends_leaves_too_little_to_decide() -> None:
    models, panel = Models(), plain_panel()
    models.prices = {seat.key: Price(1.0, 1.0, 100) for seat in panel.members}
    app = await voted_app(models, panel)
    app.budget = Budget(MemoryLedger(), Caps(), app.now)
    run = await a_run(app, panel)

    cost = await estimate_criteria(run, app.gateway)
    found = await find_criteria(app, run, "terminal", cap_micro=cost.micro // 20)

    assert cost.micro > 0
    assert not found.is_adopted


async def test_the_estimate_is_no_less_than_what_is_asked_and_names_unknown_prices() -> None:
    models, panel = Models(), plain_panel()
    app = await voted_app(models, panel)
    run = await a_run(app, panel)
    models.prices = {seat.key: Price(1.0, 1.0, 100) for seat in panel.members}
    known = await estimate_criteria(run, app.gateway)
    models.prices = {**models.prices, CLAUDE: None}

    unknown = await estimate_criteria(run, app.gateway)

    assert known.unknown == ()
    assert unknown.unknown == (CLAUDE,)
    assert unknown.micro < known.micro


async def test_votes_of_other_panels_and_of_forgotten_rounds_do_not_count() -> None:
    panel = plain_panel()
    app = await voted_app(Models(), panel, rounds=3)
    await app.store.forget("r0", ASKED_AT, "salt")

    assert [one.round_id for one in await load_examples(app.store, panel)] == ["r1", "r2"]
    assert await load_examples(app.store, replace(panel, name="other")) == ()


async def test_only_blind_votes_count() -> None:
    panel = plain_panel()
    app = await voted_app(Models(), panel, rounds=2)
    (first, _) = await app.store.votes()
    await app.store.vote(replace(first, by="U2", blind=False))
    round_ = await app.store.load("r1")
    await app.store.open(replace(round_, id="r9"))
    await app.store.vote(replace(first, round_id="r9"))

    examples = await load_examples(app.store, panel)

    assert [(one.round_id, len(one.chosen)) for one in examples] == [("r0", 1), ("r1", 1)]


async def test_votes_of_several_workspaces_are_not_mixed() -> None:
    panel = plain_panel()
    app = await voted_app(Models(), panel, rounds=2)
    here, vote = await app.store.load("r1"), (await app.store.votes("r1"))[0]
    for number, place in enumerate((Place("slack", "T1", "C1"), Place("slack", "T2", "C1"))):
        there = replace(here, id=f"s{number}", question=replace(here.question, place=place))
        await app.store.open(there)
        await app.store.vote(replace(vote, round_id=there.id), imported=True)

    with pytest.raises(ExperimentError, match="votes from local, slack/T1 and slack/T2"):
        await load_examples(app.store, panel)
    for workspace, ids in (("slack/T2", ["s1"]), ("local", ["r0", "r1"]), ("slack/T9", [])):
        found = await load_examples(app.store, panel, workspace)
        assert [one.round_id for one in found] == ids


async def test_two_texts_whose_authors_are_the_only_judges_cannot_be_ranked() -> None:
    panel = plain_panel(2)
    app = await voted_app(Models(), panel)
    run = await a_run(app, panel)

    found = await find_criteria(app, run, "terminal", None)

    assert (await estimate_criteria(run, app.gateway)).micro == 0
    assert not found.is_adopted


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Calibration(make_rubric("x", ("y",)), 9), "Only 9 rounds could be ranked"),
        (
            Calibration(Rubric("x", "1", ("y",)), 27, 0.5, 0.55, (-0.1, 0.2)),
            "That can be chance, so the criteria in use stay.",
        ),
    ],
)
def test_refusals_say_why(found: Calibration, said: str) -> None:
    run = CriteriaRun(plain_panel(), (), "s", ASKED_AT)

    assert said in " ".join(calibration_lines(run, found))
