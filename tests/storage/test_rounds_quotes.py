"""The contract of every round store: forgetting a round reaches what other rounds quote of it."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from council.answers import Answer, Prompt, Reply
from council.errors import ForgottenError
from council.files import QuestionFile
from council.integrity.erasure import quote_round
from council.integrity.seal import find_changes
from council.integrity.verification import verify
from council.ports import UNASKED, RoundQuery, Store
from council.rounds import Closing, Question, Round
from storage.export import ExportedRound, dump_round, parse_item
from storage.hash_chain import SqlHashChain
from storage.key_value import SqlKeyValueStore
from storage.rounds import SqlRoundStore
from storage.tables import RoundRow
from tests.builders import ASKED_AT, CLAUDE
from tests.storage.builders import a_closed_round, in_memory_too, on_sqlite, store_round
from tests.storage.tampering import Meddler, changes_of, is_found

LATER, SALT = ASKED_AT + timedelta(days=90), "salt"
FILE = QuestionFile("plan.txt", "text/plain", "a secret plan")
SOURCE = replace(a_closed_round(), question=Question("A secret?", "ana", files=(FILE,), quotes=()))


def after(round_id: str, before: Round, *, by: str, quotes: tuple[str, ...] | None) -> Round:
    """Return a closed follow-up to a round, in whose context and prompts its texts are."""
    context = f"{before.question.context}\n\n{quote_round(before)}".strip()
    asked = Prompt("Be brief.", f"{round_id}?\n\n{context}")
    round_ = a_closed_round(round_id)
    return replace(
        round_,
        question=Question(f"{round_id}?", by, context, files=(FILE,), quotes=quotes),
        answers=tuple(replace(one, prompt=asked) for one in round_.answers),
        asked_at=before.asked_at + timedelta(minutes=5),
    )


def again(round_id: str, before: Round, *, by: str, quotes: tuple[str, ...] | None) -> Round:
    """Return a round that asks the question of another again."""
    question = replace(before.question, asked_by=by, quotes=quotes)
    asked_at = before.asked_at + timedelta(minutes=1)
    return replace(a_closed_round(round_id), question=question, asked_at=asked_at)


def a_family(*, noted: bool) -> list[Round]:
    """Return the source, follow-ups of follow-ups, and a round run again, with its follow-up."""

    def ids(*wanted: str) -> tuple[str, ...] | None:
        return wanted if noted else None

    source = replace(SOURCE, question=replace(SOURCE.question, quotes=ids()))
    second = after("r2", source, by="ben", quotes=ids("r1"))
    third = after("r3", second, by="cat", quotes=ids("r2", "r1"))
    repeated = again("r4", source, by="dan", quotes=ids("r1"))
    last = after("r5", repeated, by="eva", quotes=ids("r4", "r1"))
    return [source, second, third, repeated, last]


@in_memory_too
@pytest.mark.parametrize("noted", [True, False], ids=["noted", "of-the-last-release"])
async def test_no_quoted_text_is_left_at_any_distance_and_all_rounds_verify(
    store: Store, *, noted: bool
) -> None:
    for round_ in a_family(noted=noted):
        await store_round(store, round_)

    assert sorted(await store.list_quoting("r1")) == ["ben", "cat", "dan", "eva"]
    assert await store.forget("r1", LATER, SALT)

    for round_id in ("r1", "r2", "r3", "r4", "r5"):
        round_, seal = await store.load(round_id), await store.seal(round_id)
        assert "secret" not in repr(round_)
        assert seal
        assert find_changes(round_, seal) == ()
        assert verify(round_) == ()
    assert (await store.load("r3")).question.text == "r3?"
    assert await store.list_quoting("r1") == () or noted


async def test_lines_that_wait_to_be_asked_about_it_are_deleted(engine: AsyncEngine) -> None:
    store, memos = SqlRoundStore(engine), SqlKeyValueStore(engine)
    await store_round(store, SOURCE)
    for name, text in (("a", '{"quotes": ["r1"]}'), ("b", '{"quotes": ["r11", "r_"]}')):
        await memos.put(UNASKED, name, text)
        await memos.put("draft", name, text)

    await store.forget("r1", LATER, SALT)

    assert {*await memos.list_texts(UNASKED)} == {"b"}
    assert {*await memos.list_texts("draft")} == {"a", "b"}


@in_memory_too
async def test_rounds_that_quote_nothing_of_it_stay_as_they_are(store: Store) -> None:
    same = replace(SOURCE, id="r2", question=replace(SOURCE.question, asked_by="ben"))
    await store_round(store, SOURCE)
    await store_round(store, same)

    await store.forget("r1", LATER, SALT)

    assert await store.load("r2") == same


@in_memory_too
async def test_a_reply_that_arrives_after_the_erasure_is_stored_without_the_quote(
    store: Store,
) -> None:
    later = after("r2", SOURCE, by="ben", quotes=("r1",))
    await store_round(store, SOURCE)
    await store.open(
        replace(later, answers=(), draw=None, ballots=(), tally=None, synthesis=None, closing=None)
    )
    await store.forget("r1", LATER, SALT)

    await store.save("r2", Answer(CLAUDE, Prompt("Be brief.", "r2?\n\nA secret?"), Reply("Hm.")))
    await store.save("r2", Closing(1.0, "it failed"))

    round_, seal = await store.load("r2"), await store.seal("r2")
    assert "secret" not in repr(round_)
    assert seal
    assert find_changes(round_, seal) == ()


async def test_an_unfinished_round_without_its_question_is_not_resumed(store: Store) -> None:
    open_round = replace(again("r2", SOURCE, by="ben", quotes=("r1",)), closing=None)
    await store_round(store, SOURCE)
    await store.open(open_round)

    await store.forget("r1", LATER, SALT)

    assert await store.ids(wanted=RoundQuery(unfinished=True)) == ()


async def test_nothing_follows_a_round_that_was_forgotten_meanwhile(store: Store) -> None:
    await store_round(store, SOURCE)
    await store.forget("r1", LATER, SALT)
    later = replace(after("r2", SOURCE, by="ben", quotes=("r1",)), closing=None)

    with pytest.raises(ForgottenError, match="'r1' was forgotten"):
        await store.open(later)

    assert await store.ids() == ("r1",)


async def test_an_import_does_not_bring_quoted_texts_back(store: Store) -> None:
    for round_ in a_family(noted=True)[:2]:
        await store_round(store, round_)
    before, seal = await store.load("r2"), await store.seal("r2")
    line = dump_round(before, seal=seal)
    await store.delete_workspace("", "")
    await store_round(store, SOURCE)
    await store.forget("r1", LATER, SALT)

    exported = parse_item(line)
    assert isinstance(exported, ExportedRound)
    assert await store.import_round(exported.round_, exported.seal)

    round_, seal = await store.load("r2"), await store.seal("r2")
    assert "secret" not in repr(round_)
    assert seal
    assert find_changes(round_, seal) == ()


async def test_a_redacted_round_moves_as_an_export(store: Store) -> None:
    for round_ in a_family(noted=True)[:2]:
        await store_round(store, round_)
    await store.forget("r1", LATER, SALT)
    round_ = await store.load("r2")
    exported = parse_item(dump_round(round_, seal=await store.seal("r2")))
    assert isinstance(exported, ExportedRound)
    assert exported.seal
    assert find_changes(exported.round_, exported.seal) == ()

    await store.delete_workspace("", "")
    await store.import_round(exported.round_, exported.seal)

    assert await store.load("r2") == round_
    again_sealed = await store.seal("r2")
    assert again_sealed
    assert find_changes(round_, again_sealed) == ()


@on_sqlite
async def test_every_change_after_the_erasure_is_found(
    engine: AsyncEngine, tmp_path: Path, database: str
) -> None:
    store, chain = SqlRoundStore(engine), SqlHashChain(engine)
    meddler = Meddler(tmp_path / "council.db")
    for round_ in a_family(noted=True)[:2]:
        await store_round(store, round_)
    await store.forget("r1", LATER, SALT)
    (row,) = [row for row in meddler.rows("round") if row["id"] == "r2"]
    before = await store.load("r2")

    missed = []
    for change in changes_of(RoundRow, row):
        if change.column == "id" or not meddler.make(change):
            continue
        if not await is_found(store, chain, "r2"):
            now = await store.load("r2")
            if now != before and not verify(now):
                missed.append(replace(now, redacted=before.redacted))
        meddler.undo(change)

    assert [one for one in missed if one != before] == []  # only the time may change
