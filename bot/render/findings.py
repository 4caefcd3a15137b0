"""What was masked, cut, spoiled or suspicious in a round, one sentence each."""

from collections.abc import Iterator

from bot.render.figures import listed
from bot.render.names import names_of
from council.rounds import Round


def findings(round_: Round) -> list[str]:
    """Give what a careful reader may want to know beside the cautions; often nothing."""
    return [*_of_answers(round_), *_of_ballots(round_)]


def _of_answers(round_: Round) -> Iterator[str]:
    names = names_of(round_.panel)
    for answer in round_.answers:
        owner = f"{names[answer.member]}'s answer"
        if answer.scrubbed:
            masked = listed(f"“{trace}”" for trace in answer.scrubbed)
            yield f"{owner} was shown to judges and chairman with {masked} masked."
        if answer.reply.cut:
            yield f"{owner} ended at its model's token limit."
        yield from (f"{owner} {suspicion}." for suspicion in answer.suspicions)


def _of_ballots(round_: Round) -> Iterator[str]:
    names = names_of(round_.panel)
    for spoiled in (spoiled for spoiled in round_.spoiled if not spoiled.is_audit):
        number = spoiled.paper.attempt
        yield f"{names[spoiled.judge]}'s reply {number} was not counted: {spoiled.fault}."
    for ballot in (ballot for ballot in round_.ballots if ballot.counts):
        if ballot.paper and ballot.paper.cut_to:
            tokens = f"{ballot.paper.cut_to:,} tokens"
            yield f"{names[ballot.judge]} saw every answer cut to {tokens}, to fit its context."
