"""What erasure removes and keeps, and how digests still prove an erased text."""

from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

import pytest

from council.answers import Prompt, Reply, Source
from council.errors import ForgottenError
from council.feedback import Feedback
from council.files import QuestionFile
from council.integrity.erasure import (
    check_feedback_allowed,
    find_text_names,
    forget,
    removable_texts,
)
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.rounds import Question, Round, Synthesis
from tests.builders import ASKED_AT, CLAUDE, a_ballot, a_round
from tests.council.integrity.tampering import ROUND
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

SALT = "5a17" * 8
LATER = ASKED_AT + timedelta(days=90)
WRITTEN = Synthesis(
    "Yes, it is.", CLAUDE, why="It fits.", prompt=Prompt("s", "u"), reply=Reply("raw", cost_usd=0.1)
)
CSV = QuestionFile("salaries.csv", "text/plain", "name,pay")
PICTURE = QuestionFile("face.png", "image/png", data="iVBORw0KGgo=")
ASKED = Question("Why?", "U1", "A thread.", reference="Because.", files=(CSV, PICTURE))
FIRST = replace(
    ROUND.answers[0],
    reply=replace(ROUND.answers[0].reply, sources=(Source("A leak", "https://leaks.org/7"),)),
)
ANSWERS = (FIRST, *ROUND.answers[1:])
WHOLE = replace(ROUND, question=ASKED, answers=ANSWERS, synthesis=WRITTEN)
GONE = forget(WHOLE, LATER, SALT)


def test_no_text_remains() -> None:
    assert len(removable_texts(WHOLE)) > 20
    assert removable_texts(GONE) == ()
    for word in (
        "Why?",
        "A thread",
        "Because",
        "salaries",
        "name,pay",
        "face.png",
        "iVBOR",
        "A leak",
        "leaks.org",
        "Answer 0",
        "It is right",
        "I rank none",
        "Yes, it is",
        "fits",
    ):
        assert word in repr(WHOLE)
        assert word not in repr(GONE)


def test_rankings_and_results_are_kept() -> None:
    assert (GONE.panel, GONE.seed, GONE.draw, GONE.tally) == (
        WHOLE.panel,
        WHOLE.seed,
        WHOLE.draw,
        WHOLE.tally,
    )
    assert [b.ranking for b in GONE.ballots] == [b.ranking for b in WHOLE.ballots]
    assert [reply.cost_usd for reply in GONE.replies] == [r.cost_usd for r in WHOLE.replies]
    assert GONE.question.asked_by == "U1"
    assert GONE.stage == WHOLE.stage


def test_a_digest_is_sha_256_over_salt_and_text() -> None:
    assert GONE.forgotten is not None
    assert dict(GONE.forgotten.digests)["question"] == sha256(f"{SALT}Why?".encode()).hexdigest()


@pytest.mark.parametrize("round_", [WHOLE, GONE], ids=["kept", "forgotten"])
def test_a_text_can_be_proved_by_its_digest(round_: Round) -> None:
    assert find_text_names(round_, "Why?") == ("question",)
    assert find_text_names(round_, "Because.") == ("reference",)
    assert find_text_names(round_, "Yes, it is.") == ("synthesis",)
    assert f"answers[{CLAUDE}]" in find_text_names(round_, "Answer 0.")
    assert find_text_names(round_, "Why") == ()


def test_empty_texts_have_no_digest() -> None:
    bare = forget(replace(ROUND, question=Question("Why?"), synthesis=None), LATER, SALT)

    assert bare.forgotten is not None
    assert "context" not in dict(bare.forgotten.digests)


def test_a_ballot_without_an_exchange_loses_its_reason() -> None:
    round_ = replace(ROUND, ballots=(a_ballot("K M", reason="K pays.", audit="order"),))

    (ballot,) = forget(round_, LATER, SALT).ballots

    assert ballot == a_ballot("K M", audit="order")


RATED = Feedback("r1", "U1", helpful=False, reason="Too long.", at=LATER)


def test_a_forgotten_round_accepts_ratings_without_words() -> None:
    check_feedback_allowed(RATED, None)
    check_feedback_allowed(replace(RATED, reason=""), LATER)

    with pytest.raises(ForgottenError, match="'r1' was forgotten on 2027-02-19, so no text"):
        check_feedback_allowed(RATED, LATER)


@pytest.mark.parametrize("round_", [a_round(), WHOLE], ids=["open", "ranked"])
async def test_a_forgotten_round_cannot_be_resumed(round_: Round) -> None:
    store, gateway = MemoryStore(), FakeGateway()
    await store.open(forget(round_, LATER, SALT))

    with pytest.raises(ForgottenError, match=r"so it can't be continued"):
        await run_round("r1", RoundServices(gateway, store))


def test_forgetting_twice_changes_nothing() -> None:
    assert forget(GONE, LATER + timedelta(days=1), "another") is GONE
