"""Block Kit renderer: posts as the blocks of Slack messages and modals, or as plain text."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from bot.chat import (
    PLACE,
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
from bot.render.formatting import (
    is_wide,
    labelled_rows,
    monospace_table,
    plain_line,
    step_line,
    styled_runs,
)
from bot.render.markdown_parser import parse_markdown
from bot.render.pagination import may_fit
from bot.render.text_safety import shorten
from bot.slack.rich_text import (
    MAX_PLAIN_TEXT,
    MAX_RICH_TEXT,
    Block,
    data_table_block,
    escape_mrkdwn,
    markdown_blocks,
    mentionable_ids,
    mrkdwn_text,
    neutralize,
    one_line,
    plain_text,
    rich_text_blocks,
    rich_text_element,
    rich_text_elements,
    split_leaves,
    table_block,
    text_leaf,
    text_length,
)

# --- Limits of Block Kit, in characters or elements.

MAX_BLOCKS = 50
MAX_MODAL_BLOCKS = 95  # Slack's 100, less a row of buttons to turn the page
MAX_MODAL_JSON = 40_000
# Undocumented: others found that more than about 13,200 characters of blocks are refused.
MAX_MESSAGE_JSON = 12_000
MAX_TEXT = 40_000  # of `text` without blocks
MAX_SUMMARY = 300
MAX_HEADER = 150
MAX_BOLD_HEADING = 600  # our own limit
MAX_CONTEXT_ELEMENTS = 10
MAX_ACTIONS = 25
MIN_OPTIONS, MAX_OPTIONS = 2, 5  # of an overflow menu
MAX_OPTION_VALUE = 150
MAX_PLAN_TASKS = 50
MAX_SHORT_ROWS = 20  # our own limit: what needs neither sorting nor pages
MAX_PLAN_TITLE = 256
MAX_TASK_TITLE = 150

MORE = "more"  # the action of a menu; the value of its options is "action:value"
_OPINIONS = ("helpful", "unhelpful")
_CONFIRMED = {
    "bakeoff_cancel": (
        "Stop this bake-off?",
        "Everything answered and ranked so far is saved; the rest is not asked.",
    ),
    "again": ("Run again?", "Every model is asked once more, and that costs as much again."),
    "forget": (
        "Forget this round?",
        "The question, the answers and what was posted here are deleted. This can't be undone.",
    ),
    "cancel": ("Stop this round?", "Everything answered so far is saved; the rest is not asked."),
}
_DANGEROUS = {"cancel", "bakeoff_cancel", "forget"}
_TASK_STATUS = {
    StepState.WAITING: "pending",
    StepState.RUNNING: "in_progress",
    StepState.DONE: "complete",
    StepState.MISSING: "error",
}
_FALLBACK_SUMMARY = "A message of the council"

Payload = dict[str, Any]  # text and blocks, as arguments of `chat.postMessage` or `chat.update`


def render_message(post: Post) -> Payload:
    """Return a post as blocks; if `fits_slack(post)`, it is within every limit of Slack."""
    return _payload(post, PostRenderer(post).blocks())


def render_ephemeral(post: Post) -> Payload:
    """Return a post as an ephemeral message, which uses only blocks that every surface takes."""
    return _payload(post, PostRenderer(post).blocks(simple=True))


def render_text(post: Post) -> Payload:
    """Return a post as plain text, for when Slack refuses its blocks."""
    return {"text": _whole_text(post)}


def _payload(post: Post, blocks: list[Block]) -> Payload:
    return {"text": _summary_text(post), **({"blocks": blocks} if blocks else {})}


def fits_slack(post: Post) -> bool:
    """Return whether the post fits into one message in every form."""
    if not may_fit(post, MAX_MESSAGE_JSON, MAX_BOLD_HEADING):
        return False
    renderer = PostRenderer(post)
    forms = [renderer.blocks(simple=True)]
    if renderer.has_simpler_form:
        forms.append(renderer.blocks())
    return len(_whole_text(post)) < MAX_TEXT and all(
        is_within(blocks, MAX_BLOCKS, MAX_MESSAGE_JSON) for blocks in forms
    )


def fits_modal(post: Post) -> bool:
    """Return whether the post fits on one page of a modal."""
    if not may_fit(post, MAX_MODAL_JSON, MAX_BOLD_HEADING):
        return False
    return is_within(PostRenderer(post).blocks(simple=True))


def is_within(
    blocks: Sequence[Block], max_blocks: int = MAX_MODAL_BLOCKS, max_json: int = MAX_MODAL_JSON
) -> bool:
    """Return whether there are not too many blocks, nor too many characters of JSON."""
    return len(blocks) <= max_blocks and len(json.dumps(blocks, ensure_ascii=False)) <= max_json


def action_id(action: str) -> str:
    """Return the action id of a button."""
    return f"council:{action}"


def action_from_id(action_id: str) -> str:
    """Return the action for an id made by `action_id`, numbered by `unique_action_ids` or not."""
    return action_id.removeprefix("council:").partition("#")[0]


def unique_action_ids(blocks: Iterable[Block]) -> list[Block]:
    """Number repeated action ids: the second `council:open` becomes `council:open#2`."""
    counts = Counter[str]()

    def number(element: Block) -> Block:
        name = element["action_id"].partition("#")[0]
        counts[name] += 1
        return element | {"action_id": name if counts[name] == 1 else f"{name}#{counts[name]}"}

    return [
        block | {"elements": [number(element) for element in block["elements"]]}
        if block["type"] in {"actions", "context_actions"}
        else block
        for block in blocks
    ]


class PostRenderer:
    """Renders one post, and parses its Markdown only once."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._prose = [parse_markdown(part.text) for part in post.parts if isinstance(part, Prose)]
        tables = sum(isinstance(part, Table) for part in post.parts)
        tables += sum(prose.tables for prose in self._prose)
        self._has_one_table = tables == 1  # Slack takes one table block in a message
        self.has_simpler_form = self._has_one_table or any(
            isinstance(part, Steps | Buttons) for part in post.parts
        )

    def blocks(self, *, simple: bool = False) -> list[Block]:
        """Return the blocks; if `simple`, without tables, plans and feedback buttons."""
        prose = iter(self._prose)
        has_table_block = self._has_one_table and not simple
        caption = self._post.summary
        blocks: list[Block] = []
        previous: Part | None = None
        for part in _merge_notes(self._post.parts):
            if isinstance(part, Heading):
                caption = part.text
            if isinstance(part, Prose):
                rendered = markdown_blocks(next(prose), as_table=has_table_block)
            elif isinstance(part, Table):
                block = _one_table(part, caption) if has_table_block else None
                rendered = [block] if block else _plain_table(part)
            else:
                rendered = _render_part(part, simple=simple)
            # A quote belongs to the line before it, and a mention to the line after it.
            is_quoted_line = isinstance(previous, Line) and isinstance(part, Quote)
            mentions = isinstance(previous, Mentions) and mentionable_ids(previous.ids)
            if mentions and isinstance(part, Line):
                blocks = [*blocks[:-1], *_join_lines(blocks[-1], rendered)]
            elif is_quoted_line or type(previous) is type(part):
                blocks = _merge_rich_text(blocks, rendered)
            else:
                blocks = [*blocks, *rendered]
            previous = part
        return unique_action_ids(blocks)


def _merge_notes(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts with consecutive notes merged into one, a line for each."""
    for is_note, run in groupby(parts, lambda part: isinstance(part, Note)):
        if is_note:
            notes = (part.text for part in run if isinstance(part, Note))
            yield Note("\n".join(" ".join(text.split()) for text in notes))
        else:
            yield from run


def _merge_rich_text(blocks: list[Block], more: list[Block]) -> list[Block]:
    """Return all blocks, with the rich text in the middle merged if it is short enough."""
    if not blocks or not more:
        return [*blocks, *more]
    last, first = blocks[-1], more[0]
    are_rich_text = last["type"] == first["type"] == "rich_text"
    if not are_rich_text or text_length(last) + text_length(first) > MAX_RICH_TEXT:
        return [*blocks, *more]
    merged = {"type": "rich_text", "elements": [*last["elements"], *first["elements"]]}
    return [*blocks[:-1], merged, *more[1:]]


def _join_lines(first: Block, more: list[Block]) -> list[Block]:
    """Return rich text of one section with a line after it, in one line if possible."""
    if not more or [element["type"] for element in more[0]["elements"]] != ["rich_text_section"]:
        return [first, *more]
    leaves = (
        *first["elements"][0]["elements"],
        text_leaf(" "),
        *more[0]["elements"][0]["elements"],
    )
    return [*rich_text_blocks([rich_text_element("section", leaves)]), *more[1:]]


def _render_part(part: Part, *, simple: bool) -> list[Block]:  # noqa: PLR0911
    match part:
        case Heading(words):
            return _heading(words)
        case Quote(words):
            return _rich_text(words, "quote")
        case Line(words):
            return _styled_line(words)
        case Caution(words):
            return _styled_line(words, "bold")
        case Note(words):
            return list(_context_blocks(words))
        case Steps():
            plan = None if simple else _plan_block(part)
            return [plan] if plan else _step_list(part)
        case Buttons():
            return list(_button_blocks(part, feedback=not simple))
        case Mentions(ids):
            return _mention_blocks(ids)
        case _:  # a file is uploaded
            return []


def _heading(words: str) -> list[Block]:
    title = one_line(words)
    if title and len(title) <= MAX_HEADER and "\n" not in words.strip():
        return [{"type": "header", "text": plain_text(title)}]
    return _rich_text(words, "section", "bold")


def _rich_text(words: str, kind: str, *styles: str) -> list[Block]:
    """Return rich text of one kind, without markup or mentions."""
    plain = neutralize(words).strip("\n")
    if not plain.strip():
        return []
    return rich_text_blocks(rich_text_elements(kind, [text_leaf(plain, *styles)]))


def _styled_line(words: str, *styles: str) -> list[Block]:
    """Return a line of ours as rich text, with its code and strong words."""
    runs = [(neutralize(run), style) for run, style in styled_runs(words.strip("\n"))]
    if any(style == "time" for _, style in runs):
        all_bold = "bold" in styles
        text = mrkdwn_text((run, style or "bold" * all_bold) for run, style in runs)
        return [{"type": "section", "text": text}]
    if not "".join(run for run, _ in runs).strip():
        return []
    leaves = [text_leaf(run, *filter(None, (*styles, style))) for run, style in runs if run]
    return rich_text_blocks(rich_text_elements("section", leaves))


def _one_table(table: Table, caption: str) -> Block | None:
    """Return a short table of places as one whose cells a phone wraps, any other as a sortable one.

    None if it is too large for either.
    """
    is_short = table.columns[0] == PLACE and len(table.rows) <= MAX_SHORT_ROWS
    return table_block(table) if is_short else data_table_block(table, caption)


def _plain_table(table: Table) -> list[Block]:
    """Return a table as monospaced lines; a wide one as a list, which a phone does not break."""
    if not is_wide(table):
        return _rich_text(monospace_table(table), "preformatted")
    return rich_text_blocks(
        rich_text_element("list", [section], style="bullet")
        for name, details in labelled_rows(table)
        for section in rich_text_elements("section", _row_leaves(name, details))
    )


def _row_leaves(name: str, details: str) -> list[Block]:
    leaves = [text_leaf(one_line(name) or "–", "bold")]
    return [*leaves, text_leaf(f" · {one_line(details)}")] if details else leaves


def _mention_blocks(ids: Iterable[str]) -> list[Block]:
    leaves: list[Block] = []
    for id_ in mentionable_ids(ids):
        leaves += [text_leaf(" "), {"type": "user", "user_id": id_}]
    if not leaves:
        return []
    return [{"type": "rich_text", "elements": [rich_text_element("section", leaves[1:])]}]


def _context_blocks(words: str) -> Iterator[Block]:
    runs = [*styled_runs(words)]
    styled = mrkdwn_text(runs)
    if any(style for _, style in runs) and len(styled["text"]) <= MAX_PLAIN_TEXT:
        yield {"type": "context", "elements": [styled]}
        return
    parts = split_leaves([text_leaf(neutralize(words))], MAX_PLAIN_TEXT)
    elements = [plain_text(part[0]["text"]) for part in parts]
    for at in range(0, len(elements), MAX_CONTEXT_ELEMENTS):
        yield {"type": "context", "elements": elements[at : at + MAX_CONTEXT_ELEMENTS]}


# --- Buttons: each carries an opaque value, and a dangerous one asks for confirmation.


def _button_blocks(part: Buttons, *, feedback: bool) -> Iterator[Block]:
    """Yield the rows of buttons; with `feedback`, opinions become Slack's feedback buttons."""
    thumbs = _feedback_block(part.buttons) if feedback else None
    plain = [b for b in part.buttons if not (thumbs and b.action in _OPINIONS)]
    elements = [*map(_button, plain), *_menus(part.more)]
    for at in range(0, len(elements), MAX_ACTIONS):
        yield {"type": "actions", "elements": elements[at : at + MAX_ACTIONS]}
    if thumbs:
        yield thumbs


def _menus(buttons: Sequence[Button]) -> Iterator[Block]:
    """Yield menus of these buttons; those of which Slack makes no menu stay buttons."""
    for at in range(0, len(buttons), MAX_OPTIONS):
        menu = buttons[at : at + MAX_OPTIONS]
        options = [
            {"text": plain_text(_label(b), emoji=True), "value": f"{b.action}:{b.value}"}
            for b in menu
        ]
        is_menu = len(menu) >= MIN_OPTIONS
        if is_menu and all(len(str(option["value"])) <= MAX_OPTION_VALUE for option in options):
            yield {"type": "overflow", "action_id": action_id(MORE), "options": options}
        else:
            yield from map(_button, menu)


def _button(button: Button) -> Block:
    element: Block = {
        "type": "button",
        "text": plain_text(_label(button), emoji=True),
        "action_id": action_id(button.action),
        "value": button.value,
    }
    if button.action in _DANGEROUS:
        element["style"] = "danger"
    if button.action in _CONFIRMED:
        title, words = _CONFIRMED[button.action]
        element["confirm"] = {
            "title": plain_text(title),
            "text": plain_text(words),
            "confirm": plain_text(shorten(one_line(button.label), 30), emoji=True),
            "deny": plain_text("Back"),
        }
    return element


def _feedback_block(buttons: Sequence[Button]) -> Block | None:
    """Return both opinions as one element; None unless there is exactly one of each."""
    opinions = {button.action: button for button in buttons if button.action in _OPINIONS}
    if not sum(button.action in _OPINIONS for button in buttons) == len(opinions) == len(_OPINIONS):
        return None
    good, bad = (
        {
            "text": plain_text(_label(opinions[name]), emoji=True),
            "accessibility_label": _label(opinions[name]),
            "value": f"{name}:{opinions[name].value}",
        }
        for name in _OPINIONS
    )
    thumbs = {"positive_button": good, "negative_button": bad}
    element = {"type": "feedback_buttons", "action_id": "council:feedback", **thumbs}
    return {"type": "context_actions", "elements": [element]}


def _label(button: Button) -> str:
    return shorten(one_line(button.label), 75) or button.action


def _plan_block(steps: Steps) -> Block | None:
    if not 1 <= len(steps.steps) <= MAX_PLAN_TASKS or len(one_line(steps.title)) > MAX_PLAN_TITLE:
        return None
    tasks = [_task(number, step) for number, step in enumerate(steps.steps, start=1)]
    return {"type": "plan", "title": one_line(steps.title) or "Progress", "tasks": tasks}


def _task(number: int, step: Step) -> Block:
    """Return a task; a detail that is too long for the title is folded."""
    title, detail = one_line(step.title) or "Step", one_line(step.detail)
    whole = f"{title} · {detail}" if detail else title
    task = {"type": "task_card", "task_id": f"step-{number}", "status": _TASK_STATUS[step.state]}
    if len(whole) <= MAX_TASK_TITLE:
        return {**task, "title": whole}
    details = rich_text_blocks(rich_text_elements("section", [text_leaf(whole)]))[0]
    return {**task, "title": shorten(title, MAX_TASK_TITLE), "details": details}


def _step_list(steps: Steps) -> list[Block]:
    title = [text_leaf(one_line(steps.title) or "Progress", "bold")]
    sections = [
        part
        for step in steps.steps
        for part in rich_text_elements("section", [text_leaf(one_line(step_line(step)))])
    ]
    lists = [rich_text_element("list", [section], style="bullet") for section in sections]
    return rich_text_blocks([*rich_text_elements("section", title), *lists])


# --- The `text` of a message: the summary in notifications, or the whole post without blocks.


def _summary_text(post: Post) -> str:
    """Return the text of a notification; Slack notifies those it mentions, as in the blocks."""
    mentions = "".join(f"{mention} " for mention in _mentions(post))
    words = one_line(post.summary) or one_line(_words_of(post)[: 2 * MAX_SUMMARY])
    return mentions + _fit(words or _FALLBACK_SUMMARY, MAX_SUMMARY)


def _whole_text(post: Post) -> str:
    mentions = "".join(f"\n{mention}" for mention in _mentions(post))
    words = _words_of(post).strip() or post.summary.strip() or _FALLBACK_SUMMARY
    return _fit(words, MAX_TEXT - len(mentions)) + mentions


def _mentions(post: Post) -> list[str]:
    ids = (id_ for part in post.parts if isinstance(part, Mentions) for id_ in part.ids)
    return [f"<@{id_}>" for id_ in mentionable_ids(ids)]


def _fit(words: str, limit: int) -> str:
    """Return as many of the words as fit when escaped: one character may become several."""
    escaped = escape_mrkdwn(words)
    keep = min(limit, len(words))
    while len(escaped) > limit:
        keep = keep * limit // len(escaped) - 1
        escaped = escape_mrkdwn(shorten(words, keep))
    return escaped


def _words_of(post: Post) -> str:
    return "\n\n".join(words for part in post.parts if (words := _words(part)))


def _words(part: Part) -> str:  # noqa: PLR0911
    match part:
        case Table():
            return "\n".join(f"{name} · {details}" for name, details in labelled_rows(part))
        case Steps(title, steps):
            return "\n".join([title, *(one_line(step_line(step)) for step in steps)])
        case Quote(text):
            return "\n".join(f"» {line}" for line in text.split("\n"))
        case Buttons() | File() | Mentions():
            return ""
        case Prose(text):
            return text
        case Heading(text):
            return one_line(text)
        case _:
            return one_line(plain_line(part.text))
