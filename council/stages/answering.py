"""The stage in which every member answers."""

from council.answers import Absence, Answer, Role
from council.calls import Call, Prompt
from council.errors import ContextOverflowError
from council.imitations import suspicions
from council.panel import Member
from council.prompts.answering import answer_prompt
from council.scrub import scrub
from council.sitting import Deadline, Sitting, together
from council.stages.candidates import own_names


async def gather_answers(sitting: Sitting) -> None:
    """Ask every member that has neither answered nor been found absent; all at once."""
    round_ = sitting.round_
    brief = any(seat.demonstration for seat in round_.panel.members)
    prompt = answer_prompt(round_.question, brief=brief)
    deadline = sitting.deadline(round_.panel.terms.answer_seconds)
    done = {given.member for given in round_.answers}
    await together(
        _answer(sitting, member, prompt, deadline)
        for member in round_.panel.members
        if member.key not in done and not round_.absence(member.key, Role.ANSWER)
    )


async def _answer(sitting: Sitting, member: Member, prompt: Prompt, deadline: Deadline) -> None:
    terms = sitting.round_.panel.terms
    temperature = terms.answer_temperature if member.temperature is None else member.temperature
    try:
        reply = await sitting.ask(Call(member, prompt, temperature), Role.ANSWER, deadline)
    except ContextOverflowError as error:
        reply = Absence(member.key, Role.ANSWER, str(error))
    if isinstance(reply, Absence):
        await sitting.save(reply)
        return
    traces = scrub(reply.text, own_names(member)).found
    await sitting.save(Answer(member.key, prompt, reply, traces, suspicions(reply.text)))
