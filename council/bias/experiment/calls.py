"""The calls that an experiment is made of, each a conversation of its own."""

from council.bias.experiment.experiment import Cell, Experiment, Mark, Work
from council.bias.experiment.plan import Asking
from council.bias.experiment.prompts import grade_prompt, grade_schema, with_fault
from council.bias.experiment.reading import read_grade
from council.calls import Call, Reply
from council.prompts.answering import answer_prompt
from council.prompts.fences import CUT_MARK, blind, nonce_for
from council.stages.candidates import own_names

ANSWERING, GRADING = 1.0, 0.0  # temperatures, where the model takes one


def answer_call(experiment: Experiment, asking: Asking) -> Call:
    """Give the call that puts a question to a member; a seat's own temperature goes first."""
    brief = any(seat.demonstration for seat in experiment.panel.members)
    prompt = answer_prompt(experiment.question(asking.number), brief=brief)
    own = asking.member.temperature
    return Call(asking.member, prompt, ANSWERING if own is None else own)


def grade_call(experiment: Experiment, cell: Cell, work: Work, fault: str = "") -> Call:
    """Give the call that has a judge grade an answer, blind; a fault is that of its first reply."""
    panel = experiment.panel
    text = blind(work.reply.text, own_names(panel.seat(work.member)))
    shown = f"{text}\n{CUT_MARK}" if work.reply.cut else text
    nonce = _nonce(experiment, cell)
    question = experiment.question(cell.number)
    prompt = grade_prompt(question, panel.rubric, shown, cell.framing, nonce)
    asked = with_fault(prompt, fault) if fault else prompt
    return Call(panel.seat(cell.judge), asked, GRADING, grade_schema(nonce))


def mark_of(experiment: Experiment, cell: Cell, reply: Reply, attempt: int) -> Mark:
    """Give what a judge's reply comes to."""
    read = read_grade(reply.text, _nonce(experiment, cell))
    if isinstance(read, str):
        return Mark(cell, reply, None, read, attempt)
    return Mark(cell, reply, read, attempt=attempt)


def _nonce(experiment: Experiment, cell: Cell) -> str:
    reader = f"{cell.number} {cell.framing} {cell.author} {cell.judge}"
    return nonce_for(experiment.id, reader)
