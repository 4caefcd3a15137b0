"""Progress of a round while it runs: who has answered, who has voted, what is left.

Never whose answer is whose: labels are opened at the tally.
"""

from bot.chat import Note, Post, Prose, Step, Steps, StepState
from bot.render.figures import counted, duration
from bot.render.names import names_of
from council.answers import Role
from council.rounds import Round, Stage

WRITING = "Writing the answer"


def progress_post(round_: Round, seconds: float, draft: str = "") -> Post:
    """Give the post that shows a running round, so many seconds after it began.

    `draft` is the answer as far as it is written.
    """
    steps = [*_answer_steps(round_), *_ballot_steps(round_), _synthesis_step(round_)]
    summary = _summary(round_)
    written = (Prose(draft),) if draft else ()
    return Post((Steps(summary, tuple(steps)), Note(duration(seconds)), *written), summary)


def _summary(round_: Round) -> str:
    if round_.stage is Stage.OPEN:
        return f"{len(round_.answers)} of {counted(len(round_.panel.members), 'member')} answered"
    if round_.draw and round_.stage is Stage.ANSWERED:
        voted = sum(ballot.counts for ballot in round_.ballots)
        return f"{voted} of {counted(len(round_.draw.slates), 'judge')} voted"
    return WRITING


def _answer_steps(round_: Round) -> list[Step]:
    names = names_of(round_.panel)
    answered = {answer.member: answer for answer in round_.answers}
    steps = []
    for seat in round_.panel.members:
        title = f"{names[seat.key]} answers"
        if seat.key in answered:
            took = duration(answered[seat.key].reply.seconds)
            steps.append(Step(title, StepState.DONE, took))
        elif absence := round_.absence(seat.key, Role.ANSWER):
            steps.append(Step(names[seat.key], StepState.MISSING, absence.reason))
        else:
            steps.append(Step(title, StepState.RUNNING))
    return steps


def _ballot_steps(round_: Round) -> list[Step]:
    if round_.draw is None:
        return [Step("Ranking without names", StepState.WAITING)]
    names = names_of(round_.panel)
    voted = {ballot.judge for ballot in round_.ballots if ballot.counts}
    steps = []
    for slate in round_.draw.slates:
        title = f"{names[slate.judge]} ranks"
        spoiled = [ballot for ballot in round_.spoiled if ballot.judge == slate.judge]
        if slate.judge in voted:
            steps.append(Step(title, StepState.DONE))
        elif absence := round_.absence(slate.judge, Role.BALLOT):
            steps.append(Step(title, StepState.MISSING, absence.reason))
        elif spoiled and round_.tally:
            steps.append(Step(title, StepState.MISSING, "its ballots were spoiled"))
        else:
            again = f"asked again: {spoiled[-1].fault}" if spoiled else ""
            steps.append(Step(title, StepState.RUNNING, again))
    return steps


def _synthesis_step(round_: Round) -> Step:
    if round_.synthesis:
        return Step(WRITING, StepState.DONE)
    return Step(WRITING, StepState.RUNNING if round_.tally else StepState.WAITING)
