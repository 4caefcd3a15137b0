"""Builders of small studies, and fake models that know the answers to some questions."""

import asyncio
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from council.answers import Call, Reply, Role
from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion
from council.errors import GatewayError
from council.pipeline.run import versions
from council.research.study import Arm, StoredCall, Study
from council.research.study_runner import LiveCalls, StudyRun, own_versions
from tests.builders import ASKED_AT, a_panel
from tests.fakes.gateway import FakeGateway, read_prompt

COUNCIL, FUSION = "the council", "the fusion"
_NUMBER = re.compile(r"What is (\d+)\?")


def a_study(questions: int = 6, **fields: Any) -> Study:  # noqa: ANN401
    """Return a study of questions whose answers are their numbers; its cap is never reached."""
    asked = tuple(
        SuiteQuestion(f"What is {n}?", reference=Reference(Grading.NUMBER, str(n)))
        for n in range(1, questions + 1)
    )
    given = {
        "name": "numbers",
        "seed": "s",
        "suite": Suite("study", asked),
        "panels": (a_panel(3, chairmen=(a_panel().members[0].key,)),),
        "arms": tuple(Arm),
        "cap_micro": 10**9,
        "question_cap_micro": 10**9,
        "most_draws": 25,
        "files": (("study.toml", "0"),),
        "versions": tuple(sorted((versions(FakeGateway()) | own_versions()).items())),
        "began": ASKED_AT,
    }
    return Study(**{**given, **fields})


@dataclass(eq=False)
class Pupils(FakeGateway):
    """Members, COUNCIL and FUSION that are right on the questions named, and else say 0.

    `costs` are those of an answer, by seat; ballots and syntheses cost `more`. A seat in `failing`
    fails every second time that it is asked for the same.
    """

    right: Mapping[str, Collection[int]] = field(default_factory=dict)
    costs: Mapping[str, float | None] = field(default_factory=dict)
    more: float | None = 0.0
    failing: Collection[str] = ()

    async def complete(self, call: Call) -> Reply:
        self.asked.append(call)
        shown, key = read_prompt(call.prompt), call.member.key
        times = sum((one.member.key, one.role) == (key, call.role) for one in self.asked)
        await asyncio.sleep(0)
        if key in self.failing and times % 2:
            raise GatewayError("failed (500)")
        if shown.role is Role.BALLOT:
            return Reply(self.vote(shown), cost_usd=self.more)
        is_answer = shown.role is Role.ANSWER
        who = key if is_answer else COUNCIL if "council" in call.prompt.system else FUSION
        found = _NUMBER.search(call.prompt.user)
        number = int(found[1]) if found else 0
        text = f"Answer: {number if number in self.right.get(who, ()) else 0}"
        return Reply(text, cost_usd=self.costs.get(key, 0.0) if is_answer else self.more)


async def run_live(
    study: Study, gateway: FakeGateway, stored: list[StoredCall] | None = None, at_once: int = 1
) -> tuple[StudyRun, list[StoredCall], LiveCalls]:
    """Return a pass that asks what is not stored, all stored calls, and what asked them."""
    calls = [*(stored or [])]
    live = LiveCalls(study, gateway, calls, calls.append)
    run = StudyRun(study, [*calls], live)
    await run.run(at_once)
    return run, calls, live


async def read_again(study: Study, calls: list[StoredCall]) -> StudyRun:
    """Return a pass over stored calls alone."""
    run = StudyRun(study, calls)
    await run.run()
    return run
