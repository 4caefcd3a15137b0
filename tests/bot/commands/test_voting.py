"""Blind votes of people while the judges vote."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from pathlib import Path
from random import Random

import pytest
from rich.console import Console

from bot.chat import Asker, Buttons, Chat, IncomingMessage, Prose
from bot.commands import round_delivery
from bot.commands.ask import ask_with_options
from bot.commands.button_registry import load_view
from bot.commands.dispatch import handle_message, run_command
from bot.commands.voting import (
    cast_pressed,
    cast_vote,
    posts_to_vote,
)
from bot.context import AppContext
from bot.render.voting import (
    blind_answers,
    offer_post,
    takes_blind_votes,
    votes_line,
)
from bot.terminal import TerminalChat
from council.errors import CouncilError
from council.labels import Label, LabelMap
from council.methods import BLIND_RANKING
from council.places import Place
from council.rounds import Draw, Question, Round
from storage.engine import open_engine
from storage.rounds import SqlRoundStore
from tests.bot.app_fakes import ANA, BEN, COMMANDS, HERE, Room, an_app, replies_to
from tests.bot.rounds import names_of, words_of
from tests.builders import NAMES
from tests.fakes.gateway import FakeGateway, HeldJudges
from tests.fakes.memory_store import MemoryStore
from tests.registries import a_registry
from tests.sqlite import new_file
from tests.storage.builders import a_closed_round, wait_until

ELSEWHERE = Place("slack", "T9", "C9")
ID, OTHER = "beef1", "beef2"


def asked_in(place: Place, round_id: str = ID) -> Round:
    """Return a closed round of four members that somebody asked in a place."""
    return replace(a_closed_round(round_id), question=Question("Why?", ANA.id, place=place))


def without_result(round_: Round) -> Round:
    return replace(round_, tally=None, synthesis=None, closing=None)


def labels_of(round_: Round) -> list[str]:
    assert round_.draw
    return sorted(round_.draw.labels.labels)


async def an_app_with(*rounds: Round) -> AppContext:
    store = MemoryStore()
    for round_ in rounds:
        await store.open(round_)
    return an_app(store=store)


async def end(app: AppContext, closed: Round) -> None:
    """Store the result of a round."""
    assert closed.tally
    assert closed.closing
    await app.store.save(closed.id, closed.tally)
    await app.store.save(closed.id, closed.closing)


# --- A running round


async def test_a_vote_before_the_result_is_blind_and_names_nobody() -> None:
    round_ = asked_in(HERE)
    app = await an_app_with(without_result(round_))
    first, second, *_ = labels_of(round_)

    line = await replies_to(app, f"/council vote {ID} {second.lower()} > {first}", BEN)

    assert line == (
        f"Noted: your blind vote is for Response {second}. You can change it until the result."
    )
    (vote,) = await app.store.votes()
    assert (vote.blind, vote.label, vote.ranking) == (True, second, ((second,), (first,)))


async def test_after_the_result_a_blind_vote_stays_and_a_new_one_is_not_blind() -> None:
    round_ = asked_in(HERE)
    app = await an_app_with(without_result(round_))
    first, second, *_ = labels_of(round_)
    await replies_to(app, f"/council vote {ID} {first}", BEN)
    await end(app, round_)

    late = await replies_to(app, f"/council vote {ID} {second}", BEN)
    new = await replies_to(app, f"/council vote {ID} {second}", ANA)

    assert late == f"Noted: your blind vote is for {names_of(round_)[first]}."
    assert "is not blind" in new
    votes = {vote.by: (vote.label, vote.blind) for vote in await app.store.votes()}
    assert votes == {BEN.id: (first, True), ANA.id: (second, False)}


async def test_a_vote_that_the_result_overtakes_is_not_called_blind() -> None:
    round_ = asked_in(HERE)
    app = await an_app_with(replace(round_, synthesis=None, closing=None))

    line = await replies_to(app, f"/council vote {ID} {labels_of(round_)[0]}", BEN)

    assert line.endswith("The result came first, so it is not blind.")


@pytest.mark.parametrize("order", ["{0}={1}", "{0} > {0}", "{0} > {1} = {0}"])
async def test_an_order_names_one_best_and_each_other_once(order: str) -> None:
    round_ = asked_in(HERE)
    app = await an_app_with(without_result(round_))

    line = await replies_to(app, f"/council vote {ID} {order.format(*labels_of(round_))}", BEN)

    assert line.startswith("Name one best answer, and each other one at most once")
    assert await app.store.votes() == ()


async def test_an_empty_vote_asks_for_a_letter() -> None:
    round_ = asked_in(HERE)
    app = await an_app_with(without_result(round_))

    with pytest.raises(CouncilError, match="Mark the best answer"):
        await cast_vote(app, round_, BEN.id, " ")


async def test_without_a_letter_the_command_offers_the_answers_or_says_why_not() -> None:
    round_ = asked_in(HERE)
    app, room = await an_app_with(without_result(round_)), Room()

    await handle_message(app, room, IncomingMessage(f"vote {ID}", BEN, HERE, "k"))
    printed = await replies_to(app, f"vote {ID}", BEN)
    await end(app, round_)
    late = await replies_to(app, f"vote {ID}", BEN)

    assert room.posts == [offer_post(ID)]
    assert printed.count("Response ") == len(labels_of(round_))
    assert f"/council vote last {' '.join(sorted(labels_of(round_)))}" in " ".join(printed.split())
    assert late.startswith(f"Round {ID} has its result")


async def test_what_people_read_before_the_result_is_masked_and_in_an_order_of_its_own() -> None:
    judged = [*NAMES]
    gateway = FakeGateway(
        {name: f"I am {name}. The answer is {i}." for i, name in enumerate(judged)}
    )
    app, message = an_app(gateway), IncomingMessage("Why?", ANA, HERE, "k")
    await ask_with_options(app, Room(), message)
    closed = await app.store.load("k")
    assert all(answer.scrubbed for answer in closed.answers)
    running = without_result(closed)
    app = await an_app_with(running)

    posts = await posts_to_vote(app, message, "k")

    text = "\n".join(map(words_of, posts))
    assert not [name for name in judged if name.lower() in text.lower()]
    shown = [part.text for post in posts for part in post.parts if isinstance(part, Prose)]
    assert len(shown) == len(labels_of(closed))
    assert [one.label for one in blind_answers(running)] == [
        button.value[-1]
        for post in posts
        for part in post.parts
        if isinstance(part, Buttons)
        for button in part.buttons
    ]
    assert {one.label for one in blind_answers(running, "U1")} == {*labels_of(closed)}


async def test_no_button_shows_who_wrote_what_before_the_result() -> None:
    app = await an_app_with(replace(asked_in(HERE), synthesis=None, closing=None))

    for what in ("answers", "ballots", "round"):
        with pytest.raises(CouncilError, match="Nothing to show yet"):
            await load_view(app, IncomingMessage("", ANA, HERE, "k"), what, ID)


# --- The offer


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_delivery, "HINT_AFTER_SECONDS", 0.0)


def ask(gateway: FakeGateway, room: Chat) -> tuple[AppContext, asyncio.Task[None]]:
    app = an_app(gateway)
    asking = ask_with_options(app, room, IncomingMessage("Why?", ANA, HERE, "k"))
    return app, asyncio.create_task(asking)


@pytest.mark.usefixtures("_at_once")
async def test_a_terminal_shows_a_hint_of_one_line() -> None:
    gateway, printed = HeldJudges(), StringIO()
    console = Console(file=printed, force_terminal=True, width=100)
    _, asking = ask(gateway, TerminalChat(console))

    await wait_until(lambda: "council vote k" in printed.getvalue())

    assert not TerminalChat(Console(file=printed)).replies_privately
    gateway.released.set()
    await asking


def test_one_answer_is_nothing_to_choose_from() -> None:
    round_ = without_result(asked_in(HERE))
    assert round_.draw
    alone = Draw(LabelMap(round_.draw.labels.pairs[:1]), ())

    assert takes_blind_votes(round_)
    assert not takes_blind_votes(replace(round_, draw=alone))


async def test_while_a_round_runs_in_which_nobody_ranks_no_vote_is_offered_or_taken() -> None:
    unranked = replace(BLIND_RANKING, name="unranked", is_ranked=False)
    closed = replace(asked_in(HERE), registry=a_registry(unranked))
    terms = replace(closed.panel.terms, method="unranked")
    running = without_result(replace(closed, panel=replace(closed.panel, terms=terms)))
    app = await an_app_with(running)
    label = labels_of(running)[0]

    for line in (f"vote {ID}", f"vote {ID} {label}"):
        assert await replies_to(app, line, BEN) == (
            f"Nobody votes in round {ID} while it runs: method unranked ranks nothing. "
            "You can mark the best answer when it is finished."
        )
    with pytest.raises(CouncilError, match="Nobody votes"):
        await cast_pressed(app, IncomingMessage("", BEN, HERE, "k"), f"{ID}:{label}")
    assert not takes_blind_votes(running)
    await end(app, closed)
    assert "is not blind" in await replies_to(app, f"vote {ID} {label}", BEN)


async def test_drafts_take_no_votes_until_a_judge_ranked_the_revisions() -> None:
    asks_again = replace(
        BLIND_RANKING,
        name="revised",
        exchanges=lambda panel: {seat.key: 1 for seat in panel.members},
    )
    closed = replace(asked_in(HERE), registry=a_registry(asks_again))
    terms = replace(closed.panel.terms, method="revised")
    voting = without_result(replace(closed, panel=replace(closed.panel, terms=terms)))
    revising = replace(voting, ballots=())
    app = await an_app_with(revising)

    assert not takes_blind_votes(revising)
    assert takes_blind_votes(voting)
    for line in (f"vote {ID}", f"vote {ID} {labels_of(revising)[0]}"):
        assert await replies_to(app, line, BEN) == (
            f"Round {ID} takes no votes yet. Vote when its judges do."
        )


async def test_the_answer_says_what_people_chose() -> None:
    round_ = asked_in(HERE)
    app = await an_app_with(without_result(round_))
    first, second, *_ = labels_of(round_)
    for person, label in (("U2", first), ("U3", first), ("U4", second)):
        await cast_vote(app, await app.store.load(ID), person, label)
    await end(app, round_)
    await cast_vote(app, await app.store.load(ID), "U5", second)

    shown = await replies_to(app, f"show {ID}", BEN)

    names = names_of(round_)
    assert (
        f"3 people voted blind: 2 for {names[first]}, 1 for {names[second]}; 1 person voted after "
        in shown
    )
    assert votes_line(without_result(round_), await app.store.votes()) == ""
    assert votes_line(round_, ()) == ""


# --- Of a thousand votes that should not count, none does


@pytest.fixture
async def sql_app(tmp_path: Path) -> AsyncIterator[AppContext]:
    """Yield an app on a database file, with rounds of two workspaces."""
    engine = open_engine(new_file(tmp_path))
    store = SqlRoundStore(engine)
    yield replace(an_app(), store=store)
    await engine.dispose()


async def test_of_a_thousand_forged_repeated_late_and_foreign_votes_none_counts_wrongly(
    sql_app: AppContext,
) -> None:
    random, app = Random(24), sql_app
    closed = {
        one.id: replace(one, seed=one.id)
        for one in (*(asked_in(HERE, f"beef{i}") for i in range(6)), asked_in(ELSEWHERE, "cafe1"))
    }
    for round_ in closed.values():
        await app.store.open(without_result(round_))
    letters = [
        *labels_of(closed["beef0"]),
        "A",
        "Z",
        "k",
        "",
        "KK",
        "K:K",
        "=",
        ">",
        "\u202e",
        "'--",
    ]
    people = [Asker(f"U{i}", "Ana") for i in range(5)]
    over, expected = set[str](), dict[tuple[str, str], tuple[str, bool]]()
    for number in range(1_000):
        if number % 150 == 149:
            over.add(ended := sorted(closed.keys() - over)[0])
            await end(app, closed[ended])
        round_id = random.choice([*closed, "beef", "nothing", "beef0:K", ""])
        asker, place = random.choice(people), random.choice([HERE, HERE, HERE, ELSEWHERE])
        letter = random.choice(letters)
        message = IncomingMessage("", asker, place, f"k{number}")
        with suppress(CouncilError):
            if random.random() < 0.5:
                await cast_pressed(app, message, f"{round_id}:{letter}")
            else:
                text = f"vote {round_id or 'nothing'} {letter}"
                await run_command(app, Room(), message, COMMANDS.parse(text))
        # Whatever was refused, this alone may have changed the votes.
        found = closed.get(round_id)
        is_foreign = found and found.question.place.workspace != place.workspace
        if found is None or is_foreign or letter.upper() not in labels_of(found):
            continue
        before = expected.get((round_id, asker.id))
        if round_id not in over:
            expected[round_id, asker.id] = (letter.upper(), True)
        elif before is None or not before[1]:
            expected[round_id, asker.id] = (letter.upper(), False)

    stored = await app.store.votes()

    assert {(one.round_id, one.by): (one.label, one.blind) for one in stored} == expected
    assert sum(is_blind for _, is_blind in expected.values()) > 15
    assert not all(is_blind for _, is_blind in expected.values())
    for one in stored:
        draw = closed[one.round_id].draw
        assert draw
        assert (one.member, one.ranking) == (
            draw.labels.author_of(Label(one.label)),
            ((one.label,),),
        )
    for round_id in over:
        assert (await app.store.load(round_id)).tally == closed[round_id].tally
