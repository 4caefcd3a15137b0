"""What the rest of an experiment may cost."""

from council.money import Price
from council.research.experiment import ExperimentState
from council.research.experiment_runner import estimate_rest
from tests.builders import CLAUDE, GPT
from tests.council.research.experiment_builders import a_gateway, a_mark, a_work, an_experiment

PER_REPLY = Price(0, 1e-6, 100)  # a micro-dollar a token written, a hundred at most


async def test_it_is_one_answer_and_two_grades_a_judge_for_each_answer() -> None:
    gateway = a_gateway(prices={CLAUDE: PER_REPLY, GPT: PER_REPLY})

    estimate = await estimate_rest(an_experiment(), ExperimentState(), gateway)

    assert estimate.micro == an_experiment().calls * 100
    assert estimate.unknown == ()


async def test_existing_answers_and_grades_cost_nothing() -> None:
    gateway = a_gateway(prices={CLAUDE: PER_REPLY, GPT: PER_REPLY})
    held = ExperimentState((a_work(),), (a_mark(),))

    estimate = await estimate_rest(an_experiment(), held, gateway)

    assert estimate.micro == (an_experiment().calls - 2) * 100


async def test_missing_answers_count_at_their_maximum_length() -> None:
    gateway = a_gateway(prices={GPT: Price(1e-6, 0), CLAUDE: PER_REPLY})

    before = await estimate_rest(an_experiment(questions=1), ExperimentState(), gateway)
    after = await estimate_rest(an_experiment(questions=1), ExperimentState((a_work(),)), gateway)

    # Claude's one answer is asked for no more, and GPT reads 2 tokens of it twice, not 100.
    assert before.micro - after.micro == 100 + 2 * (100 - 2)


async def test_seats_of_unknown_price_are_named() -> None:
    gateway = a_gateway(prices={GPT: None})

    assert (await estimate_rest(an_experiment(), ExperimentState(), gateway)).unknown == (GPT,)
