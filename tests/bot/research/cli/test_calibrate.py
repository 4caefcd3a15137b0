"""`council criteria`: says what is missing, drafts from simulated votes, adopts or refuses."""

import json
import random
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from council.answers import Reply
from council.feedback import HumanVote
from council.panel import Member
from council.research.criteria import DRAFTS
from council.rounds import Closing, Question
from storage.engine import open_engine
from storage.rounds import SqlRoundStore
from tests.bot.homes import Home, served_config
from tests.builders import ASKED_AT, a_member, a_panel, a_round, with_answers, with_ballots
from tests.council.research.test_criteria import CORRECT, LONG, features
from tests.wire.models import ModelServer, Request, Say, fences, judge

SEATS = ("up", "down", "left")
VAGUE = "Pleasant: it reads well."


def test_without_votes_it_says_how_many_are_needed(stored_round: tuple[Home, str]) -> None:
    home, _ = stored_round

    result = home.invoke("criteria", "--yes")

    assert result.code == 1
    assert (
        "Criteria need 40 blind votes of people on at least 20 rounds; there are 0 on 0."
        in result.err
    )


def test_a_cap_that_is_no_amount_is_refused(stored_round: tuple[Home, str]) -> None:
    home, _ = stored_round

    assert home.invoke("criteria", "--usd", "much").code == 2


# --- From votes to criteria, with models of a server


async def store_votes(home: Home, taste: str, rounds: int = 40) -> None:
    """Store rounds in which a person with this taste, who errs, chose an answer without names."""
    chance = random.Random(7)
    members: tuple[Member, ...] = tuple(a_member(f"openai/{name}") for name in SEATS)
    panel = replace(a_panel(3), members=members)
    engine = open_engine(f"sqlite+aiosqlite:///{home.database}")
    store = SqlRoundStore(engine)
    for number in range(rounds):
        question = Question(f"Question {number}?")
        answered = with_answers(replace(a_round(panel), id=f"r{number}", question=question))
        answers, liked = [], dict[str, float]()
        for answer in answered.answers:
            worth = {"correct": chance.gauss(), "long": chance.gauss()}
            text = " ".join(f"{name}={value:.3f}" for name, value in worth.items())
            answers.append(replace(answer, reply=Reply(text)))
            liked[answer.member] = worth.get(taste, 0.0) + 0.5 * chance.gauss()
        ranked = with_ballots(replace(answered, answers=tuple(answers)))
        await store.open(replace(ranked, closing=Closing(3.0)))
        best = max(liked, key=lambda member: liked[member])
        assert ranked.draw
        label = ranked.draw.labels.label_of(best) or ""
        vote = HumanVote(f"r{number}", "U1", label, best, ASKED_AT, blind=True)
        await store.vote(vote, imported=True)
    await engine.dispose()


class Models:
    """Judges that like length unless told to look for truth, and a drafter that begins vaguely.

    Asked to improve, the drafter counts which taste the cases that it sees bear out.
    """

    def __init__(self) -> None:
        self.drafts: list[str] = []

    def __call__(self, request: Request) -> Say:
        if "People chose:" in request.user:
            return self.draft(request)
        by = "correct" if CORRECT in request.system else "long"
        texts = {letter: features(text)[by] for letter, text in fences(request.user)}
        ranking = [[letter] for letter in sorted(texts, key=lambda x: -texts[x])]
        said = judge(lambda _: ranking)(request)
        assert isinstance(said, Say)
        return said

    def draft(self, request: Request) -> Say:
        hits = {CORRECT: 0, LONG: 0}
        for case in request.user.split("\n\nCase ")[1:]:
            texts = {letter: features(text) for letter, text in fences(case)}
            chosen = re.findall(r"People chose: Response (\w)", case)
            for criterion, name in ((CORRECT, "correct"), (LONG, "long")):
                hits[criterion] += max(texts, key=lambda x: texts[x][name]) in chosen
        improves = "Improve the criteria" in request.user
        criterion = max(hits, key=lambda x: hits[x]) if improves else VAGUE
        self.drafts.append(criterion)
        nonce = request.user.partition("Nonce: ")[2].split()[0]
        return Say(json.dumps({"nonce": nonce, "criteria": [criterion]}))


@pytest.mark.parametrize(
    "taste", ["correct", "nothing", pytest.param("long", marks=pytest.mark.nightly)]
)
async def test_criteria_are_drafted_improved_on_misjudged_votes_and_adopted_only_if_they_help(
    tmp_path: Path, taste: str
) -> None:
    models, output = Models(), tmp_path / "criteria.toml"
    async with ModelServer() as server:
        server.script = dict.fromkeys(SEATS, models)
        home = Home(tmp_path).with_config(served_config(server.api_base, SEATS)).with_tables()
        await store_votes(home, taste)
        ran = await home.invoke_in_thread("criteria", "--yes", "--output", str(output))

    assert "40 votes on 40 rounds of panel house." in " ".join(ran.err.split())
    assert models.drafts[:DRAFTS] == [VAGUE] * DRAFTS
    if taste == "correct":
        assert ran.code == 0, ran.err
        assert models.drafts[DRAFTS:] == [CORRECT]
        assert "The draft is better beyond chance." in ran.out
        (rubric,) = tomllib.loads(output.read_text())["rubrics"].values()
        assert rubric["criteria"] == [CORRECT]
    else:
        assert ran.code == 1
        assert "Nothing changes." in ran.out or "the criteria in use stay" in ran.out
        assert not output.exists()
