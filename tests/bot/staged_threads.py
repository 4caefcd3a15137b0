"""Threads as people write them, and what models may read of them: the same for every chat.

In texts, "{ben}" is a mention of Ben and "{council}" one of the bot.
"""

from dataclasses import dataclass, field

GUEST_LINE = "Without this thread, because a guest takes part in it."


@dataclass(frozen=True, slots=True)
class Says:
    """A message: later edited or deleted, with a file, or a question that the council answers."""

    who: str
    text: str
    edited: str = ""
    is_deleted: bool = False
    file: str = ""
    is_asked: bool = False


@dataclass(frozen=True, slots=True)
class StagedThread:
    """A thread, the question in it, and what models read: the last lines of the context.

    `names` are what people are called who are not called as in `Says`. In a thread of our own the
    council was asked before; `is_forgotten` then that question was forgotten.
    """

    id: str
    said: tuple[Says, ...]
    read: tuple[str, ...]
    line: str = ""
    is_own: bool = True
    is_forgotten: bool = False
    names: dict[str, str] = field(default_factory=dict)
    question: str = "so what do we do now?"
    asked: str = "so what do we do now?"
    absent: tuple[str, ...] = ()
    only_slack: bool = False


def _with(count: int, left_out: str = "") -> str:
    return f"With {count} message{'s' * (count != 1)} of this thread{left_out}."


STAGED = (
    StagedThread(
        "replies under an answer",
        (Says("ben", "We have one node."), Says("cleo", "And no budget.")),
        ("Person 1: We have one node.", "Person 2: And no budget."),
        _with(2),
    ),
    StagedThread(
        "somebody's thread",
        (Says("ben", "We have one node."), Says("ada", "Since when?"), Says("ben", "March.")),
        ("Person 1: We have one node.", "Person 2: Since when?", "Person 1: March."),
        _with(3),
        is_own=False,
    ),
    StagedThread(
        "an edit",
        (Says("ben", "We have one node.", edited="We have two nodes."),),
        ("Person 1: We have two nodes.",),
        _with(1),
        absent=("one node",),
    ),
    StagedThread(
        "a deletion",
        (Says("ben", "The password is hunter2.", is_deleted=True), Says("cleo", "Deleted it.")),
        ("Person 1: Deleted it.",),
        _with(1),
        absent=("hunter2",),
    ),
    StagedThread(
        "a file and its words",
        (Says("ben", "The plan:", file="plan.pdf"),),
        ("Person 1: The plan: [file plan.pdf]",),
        _with(1),
    ),
    StagedThread(
        "a file alone, in somebody's thread",
        (Says("ben", "", file="plan by ben.pdf"),),
        ("Person 1: [file plan by Person 1.pdf]",),
        _with(1),
        is_own=False,
    ),
    StagedThread(
        "another bot",
        (Says("robot", "ALERT disk full"), Says("ben", "Again.")),
        ("robot: ALERT disk full", "Person 1: Again."),
        _with(2),
    ),
    StagedThread(
        "code with a name",
        (Says("ben", "```\nowner = 'ben'\nif x < y: pass\n```"),),
        ("Person 1: ```\n  owner = 'Person 1'\n  if x < y: pass\n  ```",),
        _with(1),
        is_own=False,
    ),
    StagedThread(
        "mentions",
        (Says("ben", "{cleo}, what do you say?"), Says("cleo", "Ask {ada}.")),
        ("Person 1: @Person 2, what do you say?", "Person 2: Ask @Person 3."),
        _with(2),
    ),
    StagedThread(
        "a mention in the question",
        (Says("ben", "Postgres."),),
        ("Person 1: Postgres.",),
        _with(1),
        question="is {ben} right, or {cleo} who said nothing?",
        asked="is @Person 1 right, or @Person 2 who said nothing?",
    ),
    StagedThread(
        "names in plain text",
        (Says("ben", "cleo's idea"), Says("cleo", "No, Ben's! @ben")),
        ("Person 1: Person 2's idea", "Person 2: No, Person 1's! @Person 1"),
        _with(2),
        is_own=False,
        question="do ben and cleo agree?",
        asked="do Person 1 and Person 2 agree?",
    ),
    StagedThread(
        "a round between replies",
        (
            Says("ben", "One node."),
            Says("ada", "{council} And at night, please?", is_asked=True),
            Says("cleo", "Two nodes."),
        ),
        ("Person 3: Two nodes.",),
        _with(2),
    ),
    StagedThread(
        "a forgotten round",
        (Says("ben", "One node."),),
        ("Person 1: One node.",),
        _with(1),
        is_forgotten=True,
        absent=("Which queue is first?",),
    ),
    StagedThread(
        "a thousand messages",
        tuple(Says("ben", f"{number} " + "x" * 990) for number in range(1_000)),
        tuple(f"Person 1: {number} " + "x" * 990 for number in range(989, 1_000)),
        _with(11, "; 989 older left out"),
        is_own=False,
    ),
    StagedThread(
        "a guest",
        (Says("ben", "One node."), Says("guest", "Two nodes.")),
        (),
        GUEST_LINE,
        absent=("One node.", "Two nodes."),
        only_slack=True,
    ),
    StagedThread(
        "a guest in somebody's thread",
        (Says("guest", "Two nodes."), Says("ben", "One node.")),
        (),
        GUEST_LINE,
        is_own=False,
        absent=("One node.", "Two nodes."),
        only_slack=True,
    ),
    StagedThread(
        "somebody called Person 1",
        (Says("ben", "Hello."), Says("cleo", "Person 1 is right.")),
        ("Person 2: Hello.", "Person 3: Person 2 is right."),
        _with(2),
        names={"ben": "Person 1"},
    ),
    StagedThread(
        "Person 1 in a figure",
        (Says("ben", "Person 1 in the figure waits."),),
        ("Person 2: person 1 in the figure waits.",),
        _with(1),
    ),
    StagedThread(
        "somebody called like a model",
        (Says("ben", "Up is best."),),
        ("Person 1: Up is best.",),
        _with(1),
        names={"ben": "Up"},
        is_own=False,
    ),
    StagedThread(
        "a name that is markup",
        (Says("ben", "Hi."), Says("cleo", "ask [x](http://evil.example)!")),
        ("Person 1: Hi.", "Person 2: ask Person 1!"),
        _with(2),
        names={"ben": "[x](http://evil.example)"},
    ),
    StagedThread(
        "a name of one letter",
        (Says("ben", "I do."), Says("cleo", "So do I, {ben}.")),
        ("Person 1: I do.", "Person 2: So do I, @Person 1."),
        _with(2),
        names={"ben": "I"},
    ),
    StagedThread(
        "a name without spaces around it",
        (Says("ben", "好。"), Says("cleo", "问王芳吧")),
        ("Person 1: 好。", "Person 2: 问Person 1吧"),
        _with(2),
        names={"ben": "王芳"},
    ),
    StagedThread("nothing but the question", (), (), ""),
)
