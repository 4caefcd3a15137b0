"""Forms of suites and schedules; they are submitted as the commands that they stand for."""

from collections.abc import Mapping, Sequence

from bot.access import check_admin, check_admitted
from bot.bakeoffs.commands import suites
from bot.bakeoffs.commands.bakeoffs import load_readable_bakeoff
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.bakeoffs import TRY
from bot.bakeoffs.render.schedules import NEW_SCHEDULE
from bot.bakeoffs.render.suites import NEW_SUITE, question_added_post
from bot.bakeoffs.render.trials import TRY_BUTTON
from bot.bakeoffs.schedule_parser import read_schedule_fields
from bot.bakeoffs.suite_files import validate_suite_name
from bot.chat import Chat, IncomingMessage, PostingForbiddenError
from bot.commands.ask_form import usable_panels
from bot.commands.dispatch import run_command
from bot.commands.forms import (
    ChannelField,
    FieldError,
    FileField,
    Form,
    FormAction,
    SelectField,
    TextField,
    errors_at,
    named_options,
)
from bot.commands.registry import Invocation, commands_of
from bot.commands.rounds import load_readable_round
from bot.context import AppContext
from council.errors import PanelError, ScheduleError, SuiteError

ADD_TO_SUITE = "suite"  # the action
# Fields; SUITE is an existing one, and NAME a new one's name.
SUITE, NAME, ANSWER = "suite", "name", "answer"
QUESTIONS, FILE = "questions", "file"
PANEL, WHEN, CHANNEL = "panel", "when", "channel"
MODEL, INCUMBENT = "model", "incumbent"
TRY_MODEL = "try a model"
MAX_MODEL = 200
MAX_NAME, MAX_ANSWER, MAX_WHEN = 40, 1000, 200  # characters
NO_SUITES = "There are no suites yet. Make one first with `/council suite add`."
NEEDS_QUESTIONS = "Write the questions, one on each line, or attach a file of them."
ONE_OF_BOTH = "Write the questions or attach a file, not both."


async def _suite_names(app: AppContext, message: IncomingMessage) -> tuple[str, ...]:
    lines = await bakeoff_stores(app).suites.list_summaries(message.place.scope)
    return tuple(line.name for line in lines)


# --- Add a round's question to a suite


async def open_addition_form(app: AppContext, message: IncomingMessage, round_id: str) -> Form:
    """Return the form; CouncilError if the user may not read the round or add to suites."""
    suites.check_may_change(app, message, suites.ADD)
    await load_readable_round(app, message, round_id)
    return addition_form(await _suite_names(app, message))


def addition_form(names: tuple[str, ...]) -> Form:
    """Return the form, which offers the existing suites of these names."""
    existing = SelectField(SUITE, "Suite", named_options(names))
    label = "Or a new suite" if names else "Suite"
    new = TextField(NAME, label, "such as sql-basics", MAX_NAME)
    answer = TextField(
        ANSWER, "The right answer", "if left out, answers are not graded", MAX_ANSWER
    )
    return Form("Add to suite", "Add", (existing, new, answer))


async def submit_addition_form(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    round_id: str,
    values: Mapping[str, str],
) -> None:
    """Add a round's question to the suite that the form names."""
    name = (values.get(NAME) or values.get(SUITE) or "").strip()
    if not name:
        raise FieldError(NAME, "Choose a suite, or give a new one a name.")
    with errors_at(NAME):
        validate_suite_name(name)
    addition = suites.SuiteAddition(name, values.get(ANSWER, ""))
    await add_to_suite(app, chat, message, round_id, addition)


async def add_to_suite(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    round_id: str,
    addition: suites.SuiteAddition,
) -> None:
    """Add a round's question to a suite."""
    suites.check_may_change(app, message, suites.ADD)
    round_ = await load_readable_round(app, message, round_id)
    made = await suites.suite_with_question(app, message, round_, addition)
    await bakeoff_stores(app).suites.save(made, message.asker.id, app.now())
    cost = await suites.estimate_suite_run(app, message.place, made)
    await chat.send_ephemeral(message, question_added_post(made, cost))


# --- A new suite


async def open_suite_form(app: AppContext, message: IncomingMessage, _: str) -> Form:
    """Return the form of a new suite; raise AccessDeniedError for a person who may not make one."""
    suites.check_may_change(app, message, "make suites")
    return suite_form()


def suite_form() -> Form:
    """Return the form of a new suite."""
    lines = TextField(QUESTIONS, "Questions", "one on each line", is_long=True, max_length=4000)
    file = FileField(FILE, "Or a file of questions", "A .csv, .jsonl, .yaml or .txt file")
    name = TextField(NAME, "Name", "such as sql-basics", MAX_NAME, required=True)
    return Form("New suite", "Preview", (name, lines, file))


async def submit_suite_form(
    app: AppContext, chat: Chat, message: IncomingMessage, _: str, values: Mapping[str, str]
) -> None:
    """Show the new suite, to be confirmed, as the command does."""
    suites.check_may_change(app, message, "make suites")
    with errors_at(NAME):
        name = validate_suite_name(values.get(NAME, ""))
    lines = values.get(QUESTIONS, "").strip()
    if bool(lines) == bool(message.files):
        raise FieldError(QUESTIONS, ONE_OF_BOTH if lines else NEEDS_QUESTIONS)
    arguments = {NAME: name} | ({QUESTIONS: lines} if lines else {})
    with errors_at(QUESTIONS if lines else FILE):
        await run_command(app, chat, message, Invocation(commands_of(app)["suite add"], arguments))


# --- A new schedule


async def open_schedule_form(app: AppContext, message: IncomingMessage, _: str) -> Form:
    """Return the form of a new schedule; raise CouncilError if this person may not make one.

    So it does without a suite or a panel to run.
    """
    _check_may_schedule(app, message)
    names = await _suite_names(app, message)
    if not names:
        raise ScheduleError(NO_SUITES)
    panels = await usable_panels(app, message)
    return schedule_form(names, [*panels], app.panel_name(message.place) or "")


def schedule_form(suite_names: Sequence[str], panels: Sequence[str], default: str) -> Form:
    """Return the form of a new schedule, with the default panel chosen."""
    panel = SelectField(PANEL, "Panel", named_options(panels), initial=default, required=True)
    return Form(
        "New schedule",
        "Save",
        (
            TextField(NAME, "Name", "such as weekly-sql", MAX_NAME, required=True),
            SelectField(SUITE, "Suite", named_options(suite_names), required=True),
            panel,
            TextField(WHEN, "When", "such as every Monday at 9:00", MAX_WHEN, required=True),
            ChannelField(CHANNEL, "Channel for the results", "If left out: here"),
        ),
    )


async def submit_schedule_form(
    app: AppContext, chat: Chat, message: IncomingMessage, _: str, values: Mapping[str, str]
) -> None:
    """Store the schedule and show how it was understood, as the command does."""
    _check_may_schedule(app, message)
    arguments = {name: value.strip() for name, value in values.items() if value.strip()}
    with errors_at(NAME):
        read_schedule_fields({NAME: arguments.get(NAME, "")})
    with errors_at(WHEN):
        read_schedule_fields(arguments)
    with (
        errors_at(SUITE, SuiteError),
        errors_at(PANEL, PanelError),
        errors_at(CHANNEL, PostingForbiddenError),
        errors_at(NAME, ScheduleError),
    ):
        await run_command(
            app, chat, message, Invocation(commands_of(app)["schedule add"], arguments)
        )


# --- A trial of a model


async def open_trial_form(app: AppContext, message: IncomingMessage, bakeoff_id: str) -> Form:
    """Return the form of a trial on the suite of a bake-off; without one, on any suite."""
    suites.check_may_change(app, message, TRY_MODEL)
    names = await _suite_names(app, message)
    if not names:
        raise SuiteError(NO_SUITES)
    panels, suite, panel = [*await usable_panels(app, message)], "", ""
    if bakeoff_id != TRY_BUTTON.value:
        bakeoff = await load_readable_bakeoff(app, message, bakeoff_id)
        suite, panel = bakeoff.suite.name, bakeoff.panel.name
    return trial_form(names, panels, suite, panel or app.panel_name(message.place) or "")


def trial_form(suite_names: Sequence[str], panels: Sequence[str], suite: str, panel: str) -> Form:
    """Return the form of a trial, with a suite and a panel chosen if they are among these."""
    suite = suite if suite in suite_names else ""
    return Form(
        "Try a model",
        "Show cost",
        (
            TextField(
                MODEL, "Model", "such as openai/gpt-5.1", max_length=MAX_MODEL, required=True
            ),
            SelectField(SUITE, "Suite", named_options(suite_names), initial=suite, required=True),
            SelectField(PANEL, "Panel", named_options(panels), initial=panel, required=True),
            TextField(
                INCUMBENT, "Instead of", "if left out: the panel's first", max_length=MAX_MODEL
            ),
        ),
    )


async def submit_trial_form(
    app: AppContext, chat: Chat, message: IncomingMessage, _: str, values: Mapping[str, str]
) -> None:
    """Show what the trial costs, to be confirmed, as the command does."""
    suites.check_may_change(app, message, TRY_MODEL)
    arguments = {name: value.strip() for name, value in values.items() if value.strip()}
    with errors_at(SUITE, SuiteError), errors_at(MODEL, PanelError):
        await run_command(
            app, chat, message, Invocation(commands_of(app)["bakeoff try"], arguments)
        )


def _check_may_schedule(app: AppContext, message: IncomingMessage) -> None:
    check_admitted(app.access, message)
    check_admin(app.access, message, "make schedules")


FORMS = {
    ADD_TO_SUITE: FormAction(open_addition_form, submit_addition_form),
    NEW_SUITE: FormAction(open_suite_form, submit_suite_form),
    NEW_SCHEDULE: FormAction(open_schedule_form, submit_schedule_form),
    TRY: FormAction(open_trial_form, submit_trial_form),
}
