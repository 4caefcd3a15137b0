"""Rows of buttons; each carries an opaque id, and what cannot be undone is asked about first."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any

from slack_sdk.models.blocks import (
    ActionsBlock,
    ButtonElement,
    ConfirmObject,
    ContextActionsBlock,
    ContextBlock,
    FeedbackButtonObject,
    FeedbackButtonsElement,
    HeaderBlock,
    PlainTextObject,
    PlanBlock,
    TaskCardBlock,
)

from bot.chat import (
    Button,
    Buttons,
    Caution,
    File,
    Heading,
    Line,
    Mentions,
    Note,
    Part,
    Post,
    Prose,
    Quote,
    Step,
    Steps,
    StepState,
    Table,
)
from bot.render.formatting import monospaced, step_line
from bot.render.markdown_parser import Parsed, parsed
from bot.render.pagination import may_fit
from bot.render.text_safety import shortened
from bot.slack.rich_text import (
    ACTIONS,
    BLOCKS,
    BOLD_HEADING,
    BUTTON_LABEL,
    CONTEXT_ELEMENTS,
    HEADER,
    MESSAGE_JSON,
    MODAL_BLOCKS,
    MODAL_JSON,
    PLAIN_TEXT,
    PLAN_TASKS,
    PLAN_TITLE,
    RICH_ELEMENT,
    SUMMARY,
    TASK_TITLE,
    TEXT,
    Block,
    blocks,
    bold,
    callable_ids,
    data_table_block,
    element,
    elements,
    escaped,
    inert,
    markdown_blocks,
    one_line,
    parted,
    size,
    table_block,
    text,
)

# --- Rows of buttons; each carries an opaque id, and what cannot be undone is asked about first.

FEEDBACK = "council:feedback"
_OPINIONS = ("helpful", "unhelpful")
_CONFIRMED = {
    "bakeoff_cancel": (
        "Stop this bake-off?",
        "What has been answered and ranked so far is kept; the rest is not asked.",
    ),
    "again": ("Run again?", "The whole council is asked once more, and that costs as much again."),
    "cancel": ("Stop this round?", "What has been answered so far is kept; the rest is not asked."),
}
_DANGEROUS = {"cancel", "bakeoff_cancel"}


def action_id(action: str) -> str:
    """Give what a press of this action is known by."""
    return f"council:{action}"


def action_of(action_id: str) -> str:
    """Give the action that a press is known by; the inverse of `action_id`, and of `distinct`."""
    return action_id.removeprefix("council:").partition("#")[0]


def distinct(blocks: Iterable[Block]) -> list[Block]:
    """Give the blocks with no action id twice: the second `council:open` is `council:open#2`."""
    seen = Counter[str]()
    return [
        block | {"elements": [_numbered(e, seen) for e in block["elements"]]}
        if block["type"] in {"actions", "context_actions"}
        else block
        for block in blocks
    ]


def _numbered(element: Block, seen: Counter[str]) -> Block:
    name = element["action_id"].partition("#")[0]
    seen[name] += 1
    return element | {"action_id": name if seen[name] == 1 else f"{name}#{seen[name]}"}


def button_blocks(buttons: Sequence[Button], *, feedback: bool) -> Iterator[Block]:
    """Give the rows of buttons; thumbs for the opinions where Slack's own may be used."""
    thumbs = _thumbs(buttons) if feedback else None
    plain = [b for b in buttons if not (thumbs and b.action in _OPINIONS)]
    for at in range(0, len(plain), ACTIONS):
        row = [_button(button) for button in plain[at : at + ACTIONS]]
        yield ActionsBlock(elements=row).to_dict()
    if thumbs:
        yield thumbs


def _button(button: Button) -> ButtonElement:
    return ButtonElement(
        text=_label(button),
        action_id=action_id(button.action),
        value=button.value,
        style="danger" if button.action in _DANGEROUS else None,
        confirm=_confirm(button),
    )


def _confirm(button: Button) -> ConfirmObject | None:
    if button.action not in _CONFIRMED:
        return None
    title, words = _CONFIRMED[button.action]
    return ConfirmObject(
        title=title,
        text=PlainTextObject(text=words),
        confirm=shortened(one_line(button.label), 30),
        deny="Back",
    )


def _thumbs(buttons: Sequence[Button]) -> Block | None:
    """Give both opinions as one element; None unless there is exactly one of each."""
    found = {button.action: button for button in buttons if button.action in _OPINIONS}
    if len(found) != len(_OPINIONS) or sum(b.action in _OPINIONS for b in buttons) != len(found):
        return None
    good, bad = (
        FeedbackButtonObject(
            text=_label(found[opinion]),
            accessibility_label=_label(found[opinion]),
            value=f"{opinion}:{found[opinion].value}",
        )
        for opinion in _OPINIONS
    )
    element = FeedbackButtonsElement(action_id=FEEDBACK, positive_button=good, negative_button=bad)
    return ContextActionsBlock(elements=[element]).to_dict()


def _label(button: Button) -> str:
    return shortened(one_line(button.label), BUTTON_LABEL) or button.action


# --- Progress as Slack's plan of tasks, and as a plain list where Slack takes no plan.

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


# --- A post as nothing but text: its summary, and the whole of it where Slack refuses its blocks.

_NAMELESS = "A message of the council"


def summary_text(post: Post) -> str:
    """Give the short text that stands for a message in a notification; never empty."""
    words = one_line(post.summary) or one_line(_words_of(post)[: 2 * SUMMARY]) or _NAMELESS
    return _fitting(words, SUMMARY)


def whole_text(post: Post) -> str:
    """Give all words of a post, escaped; never empty, and never more than Slack takes."""
    calls = [part for part in post.parts if isinstance(part, Mentions)]
    called = "".join(f"\n<@{id_}>" for part in calls for id_ in callable_ids(part.ids))
    words = _words_of(post).strip() or post.summary.strip() or _NAMELESS
    return _fitting(words, TEXT - len(called)) + called


def _fitting(words: str, limit: int) -> str:
    """Escape what fits into so many characters: an escaped sign counts as several."""
    text = escaped(words)
    keep = min(limit, len(words))
    while len(text) > limit:
        keep = keep * limit // len(text) - 1
        text = escaped(shortened(words, keep))
    return text


def _words_of(post: Post) -> str:
    return "\n\n".join(words for part in post.parts if (words := _words(part)))


def _words(part: Part) -> str:
    match part:
        case Table():
            return monospaced(part)
        case Steps(title, steps):
            return "\n".join([title, *(one_line(step_line(step)) for step in steps)])
        case Quote(text):
            return "\n".join(f"» {line}" for line in text.split("\n"))
        case Buttons() | File() | Mentions():
            return ""
        case Prose(text):
            return text
    return one_line(part.text)


# --- Posts in Slack's dress: Block Kit messages, from the newest blocks down to plain text.

# What words become: the kind of element, and the style of its text.
_LOOKS: dict[type[Part], tuple[str, ...]] = {
    Quote: ("quote",),
    Line: ("section",),
    Caution: ("section", "bold"),
}


class BlockLevel(IntEnum):
    """How much of Block Kit a message uses; what Slack refuses is tried one level plainer."""

    DATA_TABLE = 0
    TABLE = 1
    MONOSPACE = 2
    NO_BLOCKS = 3

    @property
    def plainer(self) -> "BlockLevel | None":
        """Give the next level to try; None after plain text."""
        return BlockLevel(self + 1) if self < BlockLevel.NO_BLOCKS else None


@dataclass(frozen=True, slots=True)
class Message:
    """What `chat.postMessage` and `chat.update` are given."""

    text: str
    blocks: list[Block]

    @property
    def payload(self) -> dict[str, Any]:
        """Give it as arguments of a call."""
        return {"text": self.text, **({"blocks": self.blocks} if self.blocks else {})}


def dressed(post: Post, level: BlockLevel = BlockLevel.DATA_TABLE) -> Message:
    """Give a post as a message; a post that `fits_slack` is within every limit at every level."""
    if level is BlockLevel.NO_BLOCKS:
        return Message(whole_text(post), [])
    return Message(summary_text(post), PostRenderer(post).blocks(level))


class PostRenderer:
    """A post whose Markdown is read once, to be dressed at several levels."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._read = [parsed(part.text) for part in post.parts if isinstance(part, Prose)]
        tables = sum(isinstance(part, Table) for part in post.parts)
        tables += sum(prose.tables for prose in self._read)
        self._one_table = tables == 1
        self.varies = self._one_table or any(isinstance(p, Steps | Buttons) for p in post.parts)

    def blocks(self, level: BlockLevel) -> list[Block]:
        """Give the blocks at a level."""
        read = iter(self._read)
        caption = self._post.summary
        made: list[Block] = []
        before: Part | None = None
        for part in _noted(self._post.parts):
            if isinstance(part, Heading):
                caption = part.text
            if isinstance(part, Prose):
                shown = self._prose(next(read), level)
            elif isinstance(part, Table):
                shown = self._table(part, level, caption)
            else:
                shown = _part(part, level)
            made = _joined(made, shown) if _belong(before, part) else [*made, *shown]
            before = part
        return distinct(made)

    def _prose(self, prose: Parsed, level: BlockLevel) -> list[Block]:
        return markdown_blocks(prose, as_table=self._one_table and level <= BlockLevel.TABLE)

    def _table(self, table: Table, level: BlockLevel, caption: str) -> list[Block]:
        """Give the table as well as Slack can show it: one of each message stands out."""
        block = None
        if self._one_table and level is BlockLevel.DATA_TABLE:
            block = data_table_block(table, caption)
        if self._one_table and level <= BlockLevel.TABLE:
            block = block or table_block(table)
        return [block] if block else _rich(monospaced(table), "preformatted")


def _part(part: Part, level: BlockLevel) -> list[Block]:  # noqa: PLR0911
    best = level is BlockLevel.DATA_TABLE
    match part:
        case Heading(words):
            return _heading(words)
        case Quote() | Line() | Caution():
            return _rich(part.text, *_LOOKS[type(part)])
        case Note(words):
            return list(_small_print(words))
        case Steps():
            plan = plan_block(part) if best else None
            return [plan] if plan else step_lines(part)
        case Buttons(buttons):
            return list(button_blocks(buttons, feedback=best))
        case Mentions(ids):
            return _calls(ids)
        case _:  # a file is uploaded, not shown
            return []


def _noted(parts: Iterable[Part]) -> Iterator[Part]:
    """Give the parts with notes in a row made one, a line for each."""
    for is_note, run in groupby(parts, lambda part: isinstance(part, Note)):
        if is_note:
            yield Note("\n".join(one_line(part.text) for part in run if isinstance(part, Note)))
        else:
            yield from run


def _heading(words: str) -> list[Block]:
    title = one_line(words)
    if title and len(title) <= HEADER and "\n" not in words.strip():
        return [HeaderBlock(text=PlainTextObject(text=title, emoji=False)).to_dict()]
    return _rich(words, "section", "bold")


def _rich(words: str, kind: str, *styles: str) -> list[Block]:
    """Give rich text of one kind that says no more than the words do."""
    said = inert(words).strip("\n")
    return blocks(elements(kind, [text(said, *styles)])) if said.strip() else []


def _calls(ids: Iterable[str]) -> list[Block]:
    """Give the one kind of element that calls people."""
    leaves: list[Block] = []
    for id_ in callable_ids(ids):
        leaves += [*([text(" ")] if leaves else []), {"type": "user", "user_id": id_}]
    return [{"type": "rich_text", "elements": [element("section", leaves)]}] if leaves else []


def _small_print(words: str) -> Iterator[Block]:
    """Give grey small print of lines that are inert; rich text's parting serves it too."""
    pieces = [part[0]["text"] for part in parted([text(words)], PLAIN_TEXT)]
    shown = [PlainTextObject(text=piece, emoji=False) for piece in pieces]
    for at in range(0, len(shown), CONTEXT_ELEMENTS):
        yield ContextBlock(elements=shown[at : at + CONTEXT_ELEMENTS]).to_dict()


def _belong(before: Part | None, part: Part) -> bool:
    """Say whether nothing need stand between two parts; all others are blocks of their own."""
    return type(before) is type(part) or (isinstance(before, Line) and isinstance(part, Quote))


def _joined(made: list[Block], more: list[Block]) -> list[Block]:
    """Give the blocks with rich text that meets made one where that is short enough."""
    if not made or not more:
        return [*made, *more]
    last, first = made[-1], more[0]
    rich = last["type"] == first["type"] == "rich_text"
    if not rich or size(last) + size(first) > RICH_ELEMENT:
        return [*made, *more]
    both = {"type": "rich_text", "elements": [*last["elements"], *first["elements"]]}
    return [*made[:-1], both, *more[1:]]


# --- Whether a post is within all of Slack's limits, whichever dress it has to be sent in.


def fits_slack(post: Post) -> bool:
    """Say whether Slack takes the post as one message, at every level."""
    if not may_fit(post, MESSAGE_JSON, BOLD_HEADING):
        return False
    dress = PostRenderer(post)
    levels = (BlockLevel.DATA_TABLE, BlockLevel.TABLE, BlockLevel.MONOSPACE)[
        0 if dress.varies else -1 :
    ]
    return all(_within(dress.blocks(level), BLOCKS, MESSAGE_JSON) for level in levels) and (
        len(whole_text(post)) < TEXT
    )


def fits_modal(post: Post) -> bool:
    """Say whether the post is shown on one page of a modal."""
    if not may_fit(post, MODAL_JSON, BOLD_HEADING):
        return False
    return _within(PostRenderer(post).blocks(BlockLevel.MONOSPACE), MODAL_BLOCKS, MODAL_JSON)


def json_size(blocks: Sequence[Block]) -> int:
    """Give the length of the blocks as the JSON that is sent, escapes and structure counted."""
    return len(json.dumps(blocks, ensure_ascii=False))


def _within(blocks: Sequence[Block], most: int, longest: int) -> bool:
    return len(blocks) <= most and json_size(blocks) <= longest
