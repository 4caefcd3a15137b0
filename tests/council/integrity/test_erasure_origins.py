"""A round loses answers that it took from a round once that is forgotten; the rest verifies."""

from dataclasses import replace
from datetime import timedelta

from council.answers import Answer, LateReply, Origin, Prompt, Reply, Role
from council.integrity.erasure import quotes, redact, removable_texts, unerased_texts
from council.integrity.hash_chain import next_link
from council.integrity.seal import Seal, compute_digests, find_changes
from council.integrity.verification import verify
from council.prompts.shared import fence
from council.rounds import Closing, Question, Round
from tests.builders import ASKED_AT, CLAUDE, a_panel, a_round, with_answers, with_ballots

LATER, SALT = ASKED_AT + timedelta(days=90), "salt"
SOURCE = replace(a_round(), question=Question("Why?", "ana"))


def a_trial_round() -> Round:
    """Return a closed round in which the first answer is of the source."""
    round_ = with_ballots(with_answers(a_round(a_panel(4))))
    shown = Prompt("Rank.", fence("I would wait.", "A", "n1"))

    def taken(answer: Answer) -> Answer:
        return replace(answer, origin=Origin("r1", ASKED_AT)) if answer.member == CLAUDE else answer

    ballots = tuple(
        replace(one, paper=one.paper and replace(one.paper, prompt=shown)) for one in round_.ballots
    )
    return replace(
        round_,
        id="r2",
        question=Question("Why?", "ben", "A context.", quotes=("r1",)),
        answers=tuple(map(taken, round_.answers)),
        ballots=ballots,
        late=(LateReply(CLAUDE, Role.BALLOT, shown, Reply("At last.")),),
        closing=Closing(1.0),
    )


def test_the_answer_and_every_prompt_that_shows_it_are_erased() -> None:
    round_ = a_trial_round()
    assert quotes(round_, SOURCE)

    redacted = redact(round_, SOURCE, LATER, SALT)

    left = dict(removable_texts(redacted))
    assert not [name for name in left if name.startswith(f"answers[{CLAUDE}]")]
    assert not [name for name in left if name.startswith("ballots[") and "prompt.user" in name]
    assert (redacted.question.text, redacted.question.context) == ("Why?", "A context.")
    assert [x.text for x in redacted.answers[1:]] == [x.text for x in round_.answers[1:]]
    assert redact(redacted, SOURCE, LATER, SALT).answers == redacted.answers
    assert unerased_texts(redacted) == ()


def test_its_seal_still_fits_and_it_verifies() -> None:
    round_ = a_trial_round()
    notes = compute_digests(round_, SALT)
    seal = Seal(notes, next_link(None, "", round_.id, notes.digest))

    redacted = redact(round_, SOURCE, LATER, SALT)

    assert find_changes(redacted, seal) == ()
    assert verify(redacted) == verify(round_)
