"""Suites that were shown to somebody, and wait for a yes or no, whichever process hears it."""

import asyncio
import re
import secrets
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from bot.access import AccessDeniedError, NotYoursError, admitted
from bot.chat import Attachment, Chat, IncomingMessage, Note, Post
from bot.commands.rounds import meant_or_last
from bot.context import AppContext
from bot.render.suites import SuiteRunCost, kept_post, list_post, offer_post, suite_post
from bot.suite_files import (
    MOST_QUESTIONS,
    check_size,
    checked_name,
    read_file,
    read_lines,
    same_question,
)
from council.bakeoffs.costs import run_estimate
from council.bakeoffs.grading import check_reference, usual_grading
from council.bakeoffs.models import Reference, Suite, SuiteQuestion
from council.bakeoffs.ports import SuiteSummary
from council.errors import PanelError, SuiteError
from council.integrity.erasure import check_remembered
from council.places import Place
from council.ports import KeyValueStore
from council.rounds import Round

# --- Suites that were shown to somebody, and wait for a yes or no, whichever process hears it.

DRAFT = "draft"  # the kind of memo
MOST_WAITING = 100
NOT_WAITING = (
    "That suite does not wait for an answer any more: it was kept or left already, or many others "
    "were shown since. Add it once more."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A suite, who would have it kept, and the version it takes the place of ("" for none)."""

    suite: Suite
    by: str
    before: str = ""


_DRAFT = TypeAdapter(Draft)


async def put_draft(memos: KeyValueStore, draft: Draft) -> str:
    """Give the code that a draft goes by from now on; of too many the oldest gives way."""
    code = secrets.token_hex(4)
    name = _name(draft.suite.scope, code)
    await memos.note(DRAFT, name, _DRAFT.dump_json(draft).decode())
    await memos.keep_newest(DRAFT, MOST_WAITING)
    return code


async def take_draft(memos: KeyValueStore, code: str, said: IncomingMessage) -> Draft:
    """Give a draft to the one it was shown to, where it was shown; once. SuiteError."""
    name = _name(said.place.scope, code)
    draft = _read(await memos.read(DRAFT, name))
    if draft is None or draft.by != said.asker.id or await memos.take(DRAFT, name) is None:
        raise SuiteError(NOT_WAITING)
    return draft


def _read(text: str | None) -> Draft | None:
    """Give the draft that a text tells of; None for one that another version wrote otherwise."""
    try:
        return _DRAFT.validate_json(text) if text else None
    except ValidationError:
        return None


def _name(scope: str, code: str) -> str:
    return f"{scope}/{code}"


# --- Suites that grow: the question of a stored round joins one, or begins one.


@dataclass(frozen=True, slots=True)
class SuiteAddition:
    """Which suite a round's question joins, and its right answer where somebody knows it."""

    name: str
    answer: str = ""


async def grown(app: AppContext, said: IncomingMessage, name: str, wanted: str) -> Suite:
    """Give a suite with the question of a round that may be read here; it is not kept yet."""
    return await with_question(
        app, said, await meant_or_last(app, said, wanted), SuiteAddition(name)
    )


async def with_question(
    app: AppContext, said: IncomingMessage, round_: Round, joining: SuiteAddition
) -> Suite:
    """Give a scope's suite with a round's question at its end, a new suite where there is none."""
    check_remembered(round_)
    asked = round_.question
    if asked.place.private and asked.asked_by != said.asker.id:
        raise NotYoursError(
            "Only the one who asked can add a private question to a suite, which others can read."
        )
    question = SuiteQuestion(asked.text, "", _reference(joining.answer), asked.context)
    before = await _before(app, said.place.scope, checked_name(joining.name))
    if any(same_question(question, other) for other in before.questions):
        raise SuiteError(f"Suite {before.name} asks this already.")
    if len(before.questions) >= MOST_QUESTIONS:
        raise SuiteError(
            f"Suite {before.name} has {MOST_QUESTIONS:,} questions, the most that a suite takes: "
            "begin another."
        )
    return replace(before, questions=(*before.questions, question), scope=said.place.scope)


async def _before(app: AppContext, scope: str, name: str) -> Suite:
    lines = await app.bakeoff_stores.suites.lines(scope)
    if any(line.name == name for line in lines):
        return await app.bakeoff_stores.suites.load(scope, name)
    return Suite(name, (), scope=scope)


def _reference(answer: str) -> Reference | None:
    value = answer.strip()
    if not value:
        return None
    reference = Reference(usual_grading(value), value)
    check_reference(reference)
    return reference


async def join(
    app: AppContext, said: IncomingMessage, round_: Round, joining: SuiteAddition
) -> Suite:
    """Keep a suite with a round's question, and give it."""
    suite = await with_question(app, said, round_, joining)
    await app.bakeoff_stores.suites.keep(suite, said.asker.id, app.now())
    return suite


# --- The command for suites: list, show, add, keep or leave what was shown, remove.

_NAME, _CODE = r"[\w.-]+", r"[0-9a-f]{8}"
_ROUND = r"last|[0-9a-f]{4,}|\S*[:@]\S*"
_READ = re.compile(
    rf"(?P<act>list|show|add|remove|keep|leave)?"
    rf"(?:\s+(?P<name>{_NAME}))?(?:[ \t]+(?P<round>{_ROUND})|[ \t]*\n(?P<lines>.+))?",
    re.IGNORECASE | re.DOTALL,
)
GRAMMAR = (
    rf"(?:list|show\s+{_NAME}|add\s+{_NAME}(?:[ \t]+(?:{_ROUND})|[ \t]*\n.+)?"
    rf"|remove\s+{_NAME}|(?:keep|leave)\s+{_CODE})?"
)
USAGE = "/council suite [show|add|remove NAME]"
HOW = (
    "Say `/council suite`, `suite show NAME`, `suite add NAME` with a file, `suite add NAME ROUND` "
    "or `suite remove NAME`."
)
NO_QUESTIONS = (
    "Attach a file of questions (.csv, .jsonl, .yaml or .txt), name a round, or write the "
    "questions under it, one a line."
)
NOT_HERE = (
    "Suites hold questions of the whole workspace, so they are for its own members, in channels "
    "that no other organisation shares."
)


async def suite(app: AppContext, chat: Chat, said: IncomingMessage, words: str) -> None:
    """Do what is wanted with suites; SuiteError says how to say it."""
    check_own_people(said)
    found = re.fullmatch(GRAMMAR, words.strip(), re.IGNORECASE | re.DOTALL)
    read = _READ.fullmatch(words.strip()) if found else None
    if read is None:
        raise SuiteError(HOW)
    name = read["name"] or ""
    match (read["act"] or "list").lower():
        case "list":
            lines = await app.bakeoff_stores.suites.lines(said.place.scope)
            await _told(chat, said, list_post(lines, said.place.scope))
        case "show":
            await _show(app, chat, said, name)
        case "add":
            made = await _made(app, said, checked_name(name), (read["round"], read["lines"]))
            await offer(app, chat, said, made)
        case "remove":
            await remove(app, chat, said, name)
        case act:
            await (keep if act == "keep" else leave)(app, chat, said, name)


def check_own_people(said: IncomingMessage) -> None:
    """Raise AccessDeniedError where somebody of another organisation would read a suite."""
    if said.asker.is_guest or said.is_shared:
        raise AccessDeniedError(NOT_HERE)


async def _show(app: AppContext, chat: Chat, said: IncomingMessage, name: str) -> None:
    found = await app.bakeoff_stores.suites.load(said.place.scope, name.lower())
    await _told(chat, said, suite_post(found, await run_of(app, said.place, found)))


async def _told(chat: Chat, said: IncomingMessage, post: Post) -> None:
    """Tell the one who spoke, in as many messages as it takes."""
    for page in chat.pages(post):
        await chat.send_ephemeral(said, page)


async def _made(
    app: AppContext, said: IncomingMessage, name: str, given: tuple[str | None, str | None]
) -> Suite:
    """Give the suite that somebody would add: of lines, of a round's question, or of a file."""
    round_, lines = given
    if lines:
        return read_lines(name, lines)
    if round_:
        return await grown(app, said, name, round_)
    if not said.files:
        raise SuiteError(NO_QUESTIONS)
    if len(said.files) > 1:
        raise SuiteError("Send one file at a time: each makes a suite of its own.")
    return await read_attached(name, said.files[0])


async def read_attached(name: str, file: Attachment) -> Suite:
    """Give the suite that a file holds; one that is too long is not fetched."""
    check_size(file.name, file.size)
    # A large file takes seconds to read, and others must not wait for it.
    return await asyncio.to_thread(read_file, name, file.name, await file.read())


async def offer(app: AppContext, chat: Chat, said: IncomingMessage, made: Suite) -> None:
    """Show somebody the size and cost of a suite, to be kept with a press."""
    drafted, before = await draft(app, said, made)
    if before and (before.scope, before.version) == (drafted.scope, drafted.version):
        line = f"Suite {drafted.name} is kept in just this version already."
        await chat.send_ephemeral(said, Post((Note(line),), line))
        return
    shown = Draft(drafted, said.asker.id, before.version if before else "")
    code = await put_draft(app.key_values, shown)
    run = await run_of(app, said.place, drafted)
    typed = said.place.chat == "terminal"  # which has no buttons
    await chat.send_ephemeral(said, offer_post(drafted, run, before, code, typed=typed))


async def draft(
    app: AppContext, said: IncomingMessage, made: Suite
) -> tuple[Suite, SuiteSummary | None]:
    """Give a suite as its adder's own scope would have it, and what has its name there now."""
    mine = replace(made, scope=said.place.scope)
    return mine, await line_named(app, mine.scope, mine.name)


async def line_named(app: AppContext, scope: str, name: str) -> SuiteSummary | None:
    """Give the suite of this name that is chosen from in a scope; None where there is none."""
    lines = await app.bakeoff_stores.suites.lines(scope)
    return next((line for line in lines if line.name == name), None)


async def keep(app: AppContext, chat: Chat, said: IncomingMessage, code: str) -> None:
    """Keep a suite that was shown; one that was changed by others meanwhile is shown again."""
    admitted(app.access, said)
    check_own_people(said)
    taken = await take_draft(app.key_values, code.lower(), said)
    now = await line_named(app, taken.suite.scope, taken.suite.name)
    if (now.version if now else "") != taken.before:
        raise SuiteError(
            f"Suite {taken.suite.name} was changed meanwhile: look at it, and add yours once more."
        )
    await app.bakeoff_stores.suites.keep(taken.suite, said.asker.id, app.now())
    await chat.send_ephemeral(said, kept_post(taken.suite))


async def leave(app: AppContext, chat: Chat, said: IncomingMessage, code: str) -> None:
    """Leave a suite that was shown: nothing is kept."""
    taken = await take_draft(app.key_values, code.lower(), said)
    line = f"Suite {taken.suite.name} is left as it was."
    await chat.send_ephemeral(said, Post((Note(line),), line))


async def remove(app: AppContext, chat: Chat, said: IncomingMessage, name: str) -> None:
    """Have a suite in no list any more, for the one who kept it, or an admin."""
    found = await line_named(app, said.place.scope, name.lower())
    if found is None:
        raise SuiteError(f"There is no suite {name!r}: `/council suite` lists those there are.")
    if found.scope != said.place.scope:
        raise NotYoursError(
            f"Suite {found.name} is the house's: only whoever runs the bot can remove it."
        )
    is_operator = said.place.chat == "terminal"
    if not (is_operator or said.asker.id == found.by or app.access.is_admin(said.asker)):
        whose = "who kept it last, or an admin," if app.access.admins else "who kept it last"
        raise NotYoursError(f"Only the one {whose} can remove suite {found.name}.")
    await app.bakeoff_stores.suites.remove(found.scope, found.name)
    line = f"Suite {found.name} is removed; what was measured on it stays."
    await chat.send_ephemeral(said, Post((Note(line),), line))


async def run_of(app: AppContext, place: Place, made: Suite) -> SuiteRunCost | None:
    """Give what one run costs on the panel that goes here; None where there is none."""
    await app.look_up(place)
    try:
        panel = app.panel(None, place)
    except (PanelError, AccessDeniedError):
        return None
    return SuiteRunCost(panel, await run_estimate(made, panel, app.gateway))
