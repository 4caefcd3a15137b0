"""The command `suite`: list, show, add, grow and remove suites; drafts await confirmation."""

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from bot.access import (
    AccessDeniedError,
    NotYoursError,
    check_admin,
    check_admitted,
    may_administer,
)
from bot.bakeoffs import suite_files
from bot.bakeoffs.column_mapper import LeftOut
from bot.bakeoffs.file_parsers import check_size
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.suites import (
    SuiteRunCost,
    confirm_suite_post,
    left_out_lines,
    suite_list_post,
    suite_post,
    suite_saved_post,
    suites_post,
)
from bot.chat import (
    Button,
    Buttons,
    Caution,
    Chat,
    IncomingMessage,
    Line,
    Note,
    Part,
    Post,
    send_note,
)
from bot.commands.parameters import Arguments
from bot.commands.rounds import find_round_or_last
from bot.context import AppContext
from bot.render.formatting import count_noun
from council.bakeoffs.costs import estimate_run
from council.bakeoffs.graders import check_reference, default_reference
from council.bakeoffs.models import Suite, SuiteQuestion
from council.bakeoffs.ports import SuiteSummary
from council.errors import PanelError, SuiteError
from council.integrity.erasure import check_not_forgotten
from council.places import Place
from council.ports import KeyValueStore
from council.rounds import Round

REMOVE, RETAIN = "remove_suite", "retain_suite"  # actions
ASKED_COLUMNS = ("question", "answer", "category")  # whose names in a file can be chosen
ADD = "add to suites"  # what only some may do
NO_QUESTIONS = (
    "Attach a file of questions (.csv, .jsonl, .yaml or .txt), name a round, or write the "
    "questions below the command, one per line."
)
NOT_HERE = (
    "Suites belong to the whole workspace. Use them as one of its members, in a channel that is "
    "not shared with another organisation."
)


async def list_suites(app: AppContext, chat: Chat, message: IncomingMessage, _: str) -> None:
    """List the suites that can be used here."""
    check_own_people(message)
    lines = await bakeoff_stores(app).suites.list_summaries(message.place.scope)
    if chat.is_room:
        may_add = may_administer(app.access, message)
        post = suite_list_post(lines, message.place.scope, may_add=may_add)
    else:
        post = suites_post(lines, message.place.scope)
    await _send_pages(chat, message, post)


async def show_suite(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Show the questions of a suite, and what a run costs."""
    check_own_people(message)
    suite = await bakeoff_stores(app).suites.load(message.place.scope, name.lower())
    cost = await estimate_suite_run(app, message.place, suite)
    await _send_pages(chat, message, suite_post(suite, cost, app.registry))


async def add_suite(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Show a new or grown suite, to be confirmed with a button."""
    check_own_people(message)
    made = await _new_suite(app, message, arguments)
    await offer_suite(app, chat, message, made.suite, made.left_out)


def check_own_people(message: IncomingMessage) -> None:
    """Raise AccessDeniedError for a guest or in a shared channel."""
    if message.asker.is_guest or message.is_shared:
        raise AccessDeniedError(NOT_HERE)


def check_may_change(app: AppContext, message: IncomingMessage, what: str) -> None:
    """Raise AccessDeniedError unless this person may change what everybody here uses."""
    check_admitted(app.access, message)
    check_own_people(message)
    check_admin(app.access, message, what)


async def _send_pages(chat: Chat, message: IncomingMessage, post: Post) -> None:
    for page in chat.pages(post):
        await chat.send_ephemeral(message, page)


async def _new_suite(
    app: AppContext, message: IncomingMessage, arguments: Arguments
) -> suite_files.SuiteFile:
    name = suite_files.validate_suite_name(arguments["name"])
    if lines := arguments.get("questions"):
        return suite_files.SuiteFile(suite_files.parse_suite_lines(name, lines))
    if round_ := arguments.get("round"):
        return suite_files.SuiteFile(await suite_with_round(app, message, name, round_))
    if not message.files:
        raise SuiteError(NO_QUESTIONS)
    if len(message.files) > 1:
        raise SuiteError("Send one file at a time. Each file becomes a suite.")
    [file] = message.files
    check_size(file.name, file.size)  # before it is fetched
    # Parsing a large file takes seconds and must not block the event loop.
    partial = arguments.get("checks", "").lower() == "partial"
    columns = {name: arguments[name] for name in ASKED_COLUMNS if name in arguments}
    options = suite_files.ReadingOptions("", partial, columns)
    content = await file.read()
    return await asyncio.to_thread(
        suite_files.read_suite_file,
        name,
        file.name,
        content,
        options,
        app.registry,
    )


async def offer_suite(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    made: Suite,
    left_out: Sequence[LeftOut] = (),
) -> None:
    """Show the size and cost of a suite and what of its file is left out, to be confirmed."""
    drafted, before = await with_existing_summary(app, message, made)
    if before and (before.scope, before.version) == (drafted.scope, drafted.version):
        line = f"Suite {drafted.name} is already saved in exactly this version."
        await send_note(chat, message, line)
        return
    shown = Draft(drafted, message.asker.id, before.version if before else "")
    code = await save_draft(app.key_values, shown)
    run = await estimate_suite_run(app, message.place, drafted)
    typed = message.place.chat == "terminal"  # the terminal has no buttons
    post = confirm_suite_post(drafted, run, before, code, typed=typed)
    lines = left_out_lines(left_out)
    parts = (*map(Caution, lines[:1]), *map(Note, lines[1:]), *post.parts)
    await chat.send_ephemeral(message, replace(post, parts=parts))


async def with_existing_summary(
    app: AppContext, message: IncomingMessage, made: Suite
) -> tuple[Suite, SuiteSummary | None]:
    """Return the suite in the author's scope, and the suite that has its name there now."""
    mine = replace(made, scope=message.place.scope)
    return mine, await find_suite_summary(app, mine.scope, mine.name)


async def find_suite_summary(app: AppContext, scope: str, name: str) -> SuiteSummary | None:
    """Return the summary of a suite by name in a scope, else None."""
    lines = await bakeoff_stores(app).suites.list_summaries(scope)
    return next((line for line in lines if line.name == name), None)


async def keep_suite(app: AppContext, chat: Chat, message: IncomingMessage, code: str) -> None:
    """Store a draft; raise SuiteError if somebody changed the suite meanwhile."""
    check_may_change(app, message, "change suites")
    taken = await take_draft(app.key_values, code.lower(), message)
    await save_suite(app, message, taken.suite, taken.before)
    await chat.send_ephemeral(message, suite_saved_post(taken.suite))


async def save_suite(app: AppContext, message: IncomingMessage, suite: Suite, before: str) -> None:
    """Store a suite that replaces the version `before`, "" for none; raise SuiteError if it isn't.

    Raise AccessDeniedError unless this person may change suites.
    """
    check_may_change(app, message, "change suites")
    now = await find_suite_summary(app, suite.scope, suite.name)
    if (now.version if now else "") != before:
        raise SuiteError(
            f"Suite {suite.name} has changed in the meantime. Look at it, then add yours again."
        )
    await bakeoff_stores(app).suites.save(suite, message.asker.id, app.now())


async def decline_suite(app: AppContext, chat: Chat, message: IncomingMessage, code: str) -> None:
    """Discard a draft."""
    taken = await take_draft(app.key_values, code.lower(), message)
    await send_note(chat, message, f"Suite {taken.suite.name} is unchanged.")


async def find_own_suite(app: AppContext, message: IncomingMessage, name: str) -> SuiteSummary:
    """Return a suite that an admin may remove here; raise SuiteError or AccessDeniedError."""
    check_may_change(app, message, "remove suites")
    found = await find_suite_summary(app, message.place.scope, name.lower())
    if found is None:
        raise SuiteError(f"There is no suite {name!r}. `/council suite list` lists them.")
    if found.scope != message.place.scope:
        raise SuiteError(
            f"Suite {found.name} comes from council.toml. Remove it there, then restart."
        )
    if message.place.chat == "web" and message.asker.id != found.by:
        raise NotYoursError(f"Only the person who saved suite {found.name} last can remove it.")
    return found


async def remove_suite(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Remove a suite, as an admin."""
    found = await find_own_suite(app, message, name)
    await bakeoff_stores(app).suites.remove(found.scope, found.name)
    await send_note(chat, message, f"Suite {found.name} is removed. Its results stay.")


async def confirm_suite_removal(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Ask whether to remove a suite; with `yes`, remove it."""
    found = await find_own_suite(app, message, arguments["name"])
    if "yes" in arguments:
        await remove_suite(app, chat, message, found.name)
        return
    line = f"Remove suite {found.name} and its {count_noun(found.questions, 'question')}?"
    if chat.is_room:
        buttons = (Button(REMOVE, "Remove it", found.name), Button(RETAIN, "Keep it", found.name))
        parts: tuple[Part, ...] = (Line(line), Note("Its results stay."), Buttons(buttons))
    else:
        parts = (Line(line), Note(f"To remove it, type `suite remove {found.name} yes`."))
    await chat.send_ephemeral(message, Post(parts, line))


async def retain_suite(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Leave a suite as it is."""
    await send_note(chat, message, f"Suite {name} stays.")


async def estimate_suite_run(app: AppContext, place: Place, made: Suite) -> SuiteRunCost | None:
    """Return the cost of one run with the panel of a place; None without a panel."""
    await app.reload_settings(place)
    try:
        panel = app.panel(None, place)
    except (PanelError, AccessDeniedError):
        return None
    return SuiteRunCost(panel, await estimate_run(made, panel, app.gateway, app.registry))


# --- Drafts: suites that await confirmation

DRAFT = "draft"  # the kind of memo
MAX_DRAFTS = 100
NOT_WAITING = (
    "This suite is no longer waiting to be saved: it was saved or discarded already, or it has "
    "expired. Add it again."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A suite to confirm, who adds it, and the version that it replaces ("" for none)."""

    suite: Suite
    by: str
    before: str = ""


_DRAFT = TypeAdapter(Draft)


async def save_draft(key_values: KeyValueStore, draft: Draft) -> str:
    """Store a draft and return its code; delete the oldest drafts beyond the maximum."""
    code = secrets.token_hex(4)
    text = _DRAFT.dump_json(draft).decode()
    await key_values.put(DRAFT, f"{draft.suite.scope}/{code}", text)
    await key_values.prune(DRAFT, MAX_DRAFTS)
    return code


async def take_draft(key_values: KeyValueStore, code: str, message: IncomingMessage) -> Draft:
    """Return a draft to its author, in the same scope, and delete it; else raise SuiteError."""
    name = f"{message.place.scope}/{code}"
    text = await key_values.read(DRAFT, name)
    draft = None
    with suppress(ValidationError):  # another version of the program wrote it differently
        draft = _DRAFT.validate_json(text) if text else None
    if draft is None or draft.by != message.asker.id or await key_values.pop(DRAFT, name) is None:
        raise SuiteError(NOT_WAITING)
    return draft


# --- Add the question of a stored round


@dataclass(frozen=True, slots=True)
class SuiteAddition:
    """The suite to add a round's question to, and its right answer if known."""

    name: str
    answer: str = ""


async def suite_with_round(
    app: AppContext, message: IncomingMessage, name: str, wanted: str
) -> Suite:
    """Return a suite with the question of a readable round added, not stored yet."""
    round_ = await find_round_or_last(app, message, wanted)
    return await suite_with_question(app, message, round_, SuiteAddition(name))


async def suite_with_question(
    app: AppContext, message: IncomingMessage, round_: Round, addition: SuiteAddition
) -> Suite:
    """Return the suite, or a new one, with a round's question at its end, not stored yet."""
    check_not_forgotten(round_)
    asked = round_.question
    if asked.place.private and asked.asked_by != message.asker.id:
        raise NotYoursError(
            "A private question can be added only by the person who asked it, because others "
            "can read a suite."
        )
    reference = None
    if value := addition.answer.strip():
        reference = default_reference(value)
        check_reference(reference)
    question = SuiteQuestion(asked.text, "", reference, asked.context)
    scope, name = message.place.scope, suite_files.validate_suite_name(addition.name)
    before = Suite(name, (), scope=scope)
    if await find_suite_summary(app, scope, name):
        before = await bakeoff_stores(app).suites.load(scope, name)
    if any(suite_files.same_question(question, other) for other in before.questions):
        raise SuiteError(f"Suite {before.name} already has this question.")
    if len(before.questions) >= suite_files.MAX_QUESTIONS:
        raise SuiteError(
            f"Suite {before.name} has {suite_files.MAX_QUESTIONS:,} questions, which is the "
            "limit. Start another suite."
        )
    return replace(before, questions=(*before.questions, question), scope=scope)
