"""What the rest of an experiment may cost, before anything of it is spent."""

from council.bias.experiment.experiment import Experiment, Held
from council.bias.experiment.plan import answers_left, cells_left
from council.bias.experiment.prompts import grade_prompt
from council.bias.grades.grade import Framing
from council.estimates import Estimate, Prices, prompt_tokens, reply_tokens
from council.ports import Gateway
from council.prompts.answering import answer_prompt
from council.prompts.lengths import estimated_tokens

_NONCE = "0" * 16


async def rest_estimate(experiment: Experiment, held: Held, gateway: Gateway) -> Estimate:
    """Give what answers and grades that are still to be asked for may cost.

    Answers that are not there yet count at their longest, and second tries are left out.
    """
    seats = experiment.panel.members
    prices = {seat.key: await gateway.price(seat) for seat in seats}
    unknown = tuple(key for key, price in prices.items() if price is None)
    micro = _answers(experiment, held, prices) + _grades(experiment, held, prices)
    return Estimate(micro, unknown=unknown)


def _answers(experiment: Experiment, held: Held, prices: Prices) -> int:
    total = 0
    for asking in answers_left(experiment, held):
        if price := prices[asking.member.key]:
            asked = answer_prompt(experiment.question(asking.number))
            total += price.micro(prompt_tokens(asked), reply_tokens(price))
    return total


def _grades(experiment: Experiment, held: Held, prices: Prices) -> int:
    """Give the cost of grades for answers that are there, and for those still to come."""
    there = {(work.number, work.member): work.reply.text for work in held.works}
    frames = [_frame(experiment, number) for number, _ in enumerate(experiment.suite.questions, 1)]
    total = 0
    for cell in cells_left(experiment, held):
        shown = estimated_tokens(there[cell.number, cell.author])
        total += _grade(prices, cell.judge, frames[cell.number - 1] + shown)
    for asking in answers_left(experiment, held):
        shown = reply_tokens(prices[asking.member.key])
        for judge in experiment.panel.members:
            one = _grade(prices, judge.key, frames[asking.number - 1] + shown)
            total += one * len(Framing)
    return total


def _frame(experiment: Experiment, number: int) -> int:
    rubric, question = experiment.panel.rubric, experiment.question(number)
    return prompt_tokens(grade_prompt(question, rubric, "", Framing.POSITIVE, _NONCE))


def _grade(prices: Prices, judge: str, tokens: int) -> int:
    price = prices[judge]
    return price.micro(tokens, reply_tokens(price, ballot=True)) if price else 0
