"""Progress in words."""

from bot.chat import Step, StepState

_WORDS = {
    StepState.WAITING: "still to come",
    StepState.RUNNING: "under way …",
    StepState.DONE: "done",
    StepState.MISSING: "missing",
}


def step_line(step: Step) -> str:
    """Give one step in words: what, how far, and what more there is to say."""
    detail = f", {step.detail}" if step.detail else ""
    return f"{step.title}: {_WORDS[step.state]}{detail}"
