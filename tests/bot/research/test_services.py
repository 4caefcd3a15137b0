"""Additions to a leaderboard: weighted judges, and agreement with people from 20 votes on."""

import json
from dataclasses import replace

import pytest

from bot.admission import admit_round
from bot.bakeoffs.leaderboard import LeaderboardQuery, load_leaderboard
from bot.bakeoffs.parts import add_to_leaderboard, bakeoff_stores
from bot.bakeoffs.records import update_records
from bot.bakeoffs.render.leaderboard_tables import Leaderboard
from bot.context import AppContext
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import JudgeRecord
from council.feedback import HumanVote
from council.places import Place
from council.research.canary import CANARIES
from council.research.filters import PAIRS, pair_history
from council.rounds import Round
from tests.bot.app_fakes import an_app
from tests.builders import ASKED_AT, GEMINI, TERMS, a_panel, a_round
from tests.council.bakeoffs.record_builders import a_record
from tests.council.research.registries import LABORATORY
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round


@pytest.fixture
async def app() -> AppContext:
    store = MemoryStore()
    await store.open(a_closed_round("r1"))
    return an_app(store=store)


async def voted(app: AppContext, people: int, *, blind: bool = True) -> None:
    """Store votes of so many people for the third member's answer."""
    draw = (await app.store.load("r1")).draw
    assert draw
    label = draw.labels.label_of(GEMINI) or ""
    for person in range(people):
        cast = HumanVote("r1", f"U{person}", label, GEMINI, ASKED_AT, blind=blind)
        await app.store.vote(cast, imported=True)


async def shown(app: AppContext, query: LeaderboardQuery) -> Leaderboard:
    await update_records(app)
    board = await load_leaderboard(bakeoff_stores(app), query, {})
    return await add_to_leaderboard(app, query.wanted, query.weights, board)


async def test_judges_stand_beside_people_from_twenty_votes_on(app: AppContext) -> None:
    await voted(app, 19)
    few = await shown(app, LeaderboardQuery(as_judge=True))
    await voted(app, 20)
    enough = await shown(app, LeaderboardQuery(as_judge=True))

    assert few.people == {}
    assert enough.people
    assert GEMINI not in enough.people
    assert {one.ballots for one in enough.people.values()} == {20}


async def test_votes_after_the_result_do_not_judge_the_judges(app: AppContext) -> None:
    await voted(app, 20, blind=False)

    assert (await shown(app, LeaderboardQuery(as_judge=True))).people == {}


async def test_a_board_of_authors_does_not_look_at_people(app: AppContext) -> None:
    await voted(app, 20)

    assert (await shown(app, LeaderboardQuery())).people == {}


async def test_people_that_chose_enough_can_weigh_judges(app: AppContext) -> None:
    await voted(app, 20)

    found = (await shown(app, LeaderboardQuery(weights="human"))).weighted

    assert found
    assert found.document["is_usable"]
    assert len(found.document["rows"]) == len((await app.store.load("r1")).panel.members)


async def repeated(app: AppContext, ballots: int, *, scope: str = "", panel: str = "house") -> None:
    """Store records in which every judge but the last kept all pairs, the last half of them."""
    seats = [seat.key for seat in a_round(a_panel(4)).panel.members]
    kept = [JudgeRecord(key, valid=True, kept=6 - 3 * (key == seats[-1]), pairs=6) for key in seats]
    shares = dict.fromkeys(seats, 0.5)
    rounds = [a_record(shares, number=i + 1, judged=kept) for i in range(ballots)]
    packed = [pack_record(one)._replace(scope=scope, panel=panel) for one in rounds]
    await bakeoff_stores(app).records.save(packed)


async def opened(app: AppContext) -> Round:
    round_ = replace(a_round(a_panel(4)), id="new")
    assert await admit_round(app, round_)
    return await app.store.load("new")


async def test_a_round_opens_with_weights_once_every_judge_was_asked_twenty_times_again(
    app: AppContext,
) -> None:
    await repeated(app, 20)

    weights = json.loads(dict((await opened(app)).versions)["consistency"])

    # (2c − 1)² is 1, 1, 1 and 0; ¾ · ⅓ + ¼ · ¼, and ¼ · ¼.
    assert [*weights.values()] == [0.3125, 0.3125, 0.3125, 0.0625]


@pytest.mark.parametrize(("ballots", "scope"), [(19, ""), (20, "slack/T9")])
async def test_too_few_repeats_or_those_of_another_workspace_give_no_weights(
    app: AppContext, ballots: int, scope: str
) -> None:
    await repeated(app, ballots, scope=scope)

    assert "consistency" not in dict((await opened(app)).versions)


async def opened_with_checks(app: AppContext) -> Round:
    panel = a_panel(4, terms=replace(TERMS, text_checks=True))
    assert await admit_round(app, replace(a_round(panel), id="new"))
    return await app.store.load("new")


async def test_a_round_with_text_checks_opens_with_the_history_of_pairs_of_twenty_rounds(
    app: AppContext,
) -> None:
    await repeated(app, 20)

    history = pair_history(await opened_with_checks(app))

    assert len(history) == 12
    assert set(history.values()) == {(20, 0.5)}


@pytest.mark.parametrize(
    ("rounds", "scope", "panel"), [(19, "", "house"), (20, "slack/T9", "house"), (20, "", "other")]
)
async def test_too_few_rounds_or_those_of_another_workspace_or_panel_give_no_history(
    app: AppContext, rounds: int, scope: str, panel: str
) -> None:
    await repeated(app, rounds, scope=scope, panel=panel)

    assert pair_history(await opened_with_checks(app)) == {}


async def test_a_panel_without_text_checks_stores_no_history(app: AppContext) -> None:
    await repeated(app, 20)

    assert PAIRS not in dict((await opened(app)).versions)


async def test_a_panel_with_canaries_stores_their_rule(app: AppContext) -> None:
    panel = a_panel(4, terms=replace(TERMS, canary_share=0.1))

    assert await admit_round(app, replace(a_round(panel, registry=LABORATORY), id="new"))

    assert dict((await app.store.load("new")).versions)[CANARIES] == "2"


async def test_votes_on_rounds_of_another_workspace_do_not_count(app: AppContext) -> None:
    await voted(app, 20)

    elsewhere = Place("slack", "T9").scope
    found = (await shown(app, LeaderboardQuery(weights="human", scope=elsewhere))).weighted

    assert found
    assert [found.document[key] for key in ("rows", "have", "rounds")] == [[], 0, 0]
