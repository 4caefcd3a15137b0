"""Progress as Slack's plan of tasks, and as a plain list where Slack takes no plan."""

from slack_sdk.models.blocks import PlanBlock, TaskCardBlock

from bot.chat import Step, Steps, StepState
from bot.render.formatting import step_line
from bot.render.text_safety import shortened
from bot.slack.limits import PLAN_TASKS, PLAN_TITLE, TASK_TITLE
from bot.slack.plain import one_line
from bot.slack.rich import Block, blocks, bold, element, elements, text

_STATUS = {
    StepState.WAITING: "pending",
    StepState.RUNNING: "in_progress",
    StepState.DONE: "complete",
    StepState.MISSING: "error",
}


def plan_block(steps: Steps) -> Block | None:
    """Give a plan with a task for each step; None where there are more than a plan takes."""
    if not 1 <= len(steps.steps) <= PLAN_TASKS or len(one_line(steps.title)) > PLAN_TITLE:
        return None
    tasks = [_task(number, step) for number, step in enumerate(steps.steps, start=1)]
    return PlanBlock(title=one_line(steps.title) or "Progress", tasks=tasks).to_dict()


def step_lines(steps: Steps) -> list[Block]:
    """Give the steps as a list that says in words how far each is."""
    title = bold([text(one_line(steps.title) or "Progress")])
    sections = [
        part
        for step in steps.steps
        for part in elements("section", [text(one_line(step_line(step)))])
    ]
    lists = [element("list", [section], style="bullet") for section in sections]
    return blocks([*elements("section", title), *lists])


def _task(number: int, step: Step) -> TaskCardBlock:
    """Give one task; only a long detail is folded away."""
    title, detail = one_line(step.title) or "Step", one_line(step.detail)
    whole = f"{title} · {detail}" if detail else title
    fits = len(whole) <= TASK_TITLE
    return TaskCardBlock(
        task_id=f"step-{number}",
        title=whole if fits else shortened(title, TASK_TITLE),
        status=_STATUS[step.state],
        details=None if fits else blocks(elements("section", [text(whole)]))[0],
    )
