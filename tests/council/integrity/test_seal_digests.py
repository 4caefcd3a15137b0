"""Digests of a round survive the erasure of its texts, and can be computed by hand."""

from datetime import timedelta
from hashlib import sha256

from hypothesis import given

from council.digests import json_digest
from council.integrity.erasure import forget
from council.integrity.seal import compute_digests
from council.rounds import Round
from tests.builders import ASKED_AT
from tests.storage.builders import a_closed_round
from tests.storage.strategies import rounds
from tests.storage.test_rounds_round_trip import SHARED

SALT, LATER = "5a17" * 8, ASKED_AT + timedelta(days=90)


@SHARED
@given(rounds())
def test_forgetting_changes_no_digest(round_: Round) -> None:
    assert compute_digests(forget(round_, LATER, SALT), SALT) == compute_digests(round_, SALT)


def test_a_digest_can_be_made_by_hand() -> None:
    notes = compute_digests(a_closed_round(), SALT)
    question = a_closed_round().question.text

    assert dict(notes.texts)["question"] == sha256((SALT + question).encode()).hexdigest()
    assert dict(notes.parts)["seed"] == sha256((SALT + '"seed"').encode()).hexdigest()
    assert dict(notes.parts)["closing"] == (
        sha256((SALT + '{"failure":null,"seconds":31.5}').encode()).hexdigest()
    )
    fields = {
        "salt": SALT,
        "texts": [[*pair] for pair in notes.texts],
        "parts": [[*pair] for pair in notes.parts],
    }
    assert notes.digest == json_digest(fields)
