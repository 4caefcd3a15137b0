"""Votes of trials: what only the text of an answer that was erased would tell is unknown."""

from dataclasses import replace

from council.bakeoffs.bias.number_verification import verify_votes
from council.bakeoffs.bias.vote_arrays import pack_votes
from council.bakeoffs.bias.votes import build_votes
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import build_record
from tests.council.bakeoffs.test_records_trials import a_trial_round


def test_the_length_of_an_erased_answer_is_unknown_and_still_verifies() -> None:
    round_ = a_trial_round()
    stored = pack_votes(build_votes(round_), pack_record(build_record(round_)))
    first = round_.answers[0]
    gone = replace(first, reply=replace(first.reply, text=""))
    later = replace(round_, answers=(gone, *round_.answers[1:]))

    lengths = {one.author: one.length for one in build_votes(later).written}

    assert lengths[first.member] is None
    assert all(lengths[answer.member] for answer in round_.answers[1:])
    assert verify_votes(stored, later) == ()
