"""Run studies, recompute them, and verify what is stored of them."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from bot.bakeoffs.parts import bakeoff_settings
from bot.context import AppContext
from bot.research.study_files import (
    REPORT,
    RESULT,
    STUDY,
    Header,
    Replies,
    StudyFile,
    StudyFolder,
    make_panels,
    make_study,
)
from bot.research.study_report import (
    MAX_DIFFERENCES,
    Document,
    differences,
    report_differences,
    report_markdown,
    study_document,
)
from council.budget import Estimate, estimate_round
from council.budget_caps import Account, payer
from council.errors import BudgetError, CouncilError, StudyError, StudyFileError
from council.methods import find_method
from council.panel import Member
from council.pipeline.run import versions
from council.registry import Registry
from council.research.study import Part, Study
from council.research.study_runner import (
    LiveCalls,
    StudyRun,
    method_entry,
    own_versions,
    study_round,
)

LOCAL_PREFIX = "local/"


# --- Begin and resume


def find_seats(app: AppContext, file: StudyFile) -> dict[str, Member]:
    """Return the members of a study's panels, without stand-ins; StudyFileError if one is missing.

    They are seats of council.toml, models by their id, or with --local the demo models.
    """
    known = {judge.key: judge for judge in app.judges}
    known |= {seat.key: seat for panel in app.panels.values() for seat in panel.seats}
    for key in file.seats:
        if key.startswith(LOCAL_PREFIX) and not (key in known and known[key].demonstration):
            raise StudyFileError(
                f"{STUDY}: {key!r} is not a demo model that is ready. Add --local, and name the "
                "demo models as `council ask --local --json` does."
            )
    return {key: replace(known[key], fallback=None) for key in file.seats}


async def new_header(app: AppContext, file: StudyFile) -> Header:
    """Return what is fixed as a study begins; raise StudyFileError for panels that can't be used.

    The models are prepared, since some know their context only then.
    """
    seats = find_seats(app, file)
    panels = make_panels(file, seats, app.registry)
    found = versions(app.gateway) | own_versions()
    for panel in panels:
        await app.prepare(panel)
        method = find_method(panel.terms.method, app.registry).versions
        found |= {method_entry(panel): version for version in method.values()}
    contexts = {key: app.gateway.context_tokens(key) for key in seats}
    return Header(file.digests, seats, found, contexts, app.now())


def check_unchanged(folder: StudyFolder, file: StudyFile, replies: Replies) -> None:
    """Raise StudyError unless a study can be resumed: with its file, and its stored replies."""
    faults = replies.faults[:-1] if replies.is_cut else replies.faults
    if faults or (replies.header is None and replies.lines):
        raise StudyError(
            f"The study in {folder.path} can't be resumed: {(faults or replies.faults)[0]} "
            "Restore it, or start again in another folder."
        )
    changed = changed_files(file, replies) if replies.header else []
    if changed:
        raise StudyError(
            f"{changed[0]} was edited after the study in {folder.path} began. Restore it (the "
            "folder has the first version), or start a new study in another folder."
        )


def changed_files(file: StudyFile, replies: Replies) -> list[str]:
    """Return the names of the files that differ from those the study began with."""
    first = replies.header.files if replies.header else {}
    return [name for name in {**first, **file.digests} if first.get(name) != file.digests.get(name)]


def check_seats(app: AppContext, file: StudyFile, header: Header) -> None:
    """Raise StudyError if a seat is another model than when the study began."""
    for key, seat in find_seats(app, file).items():
        first = header.seats[key]
        if (first.model_id, first.temperature) != (seat.model_id, seat.temperature):
            raise StudyError(
                f"{key} was {first.model_id} when the study began and is {seat.model_id} now, or "
                "has another temperature. Restore it in council.toml, or start a new study."
            )


async def estimate_study(app: AppContext, study: Study) -> Estimate:
    """Return the most the rounds of a study may cost, without its cap, fusion and draws.

    Raise BudgetError for a model of unknown price, since the caps could not be kept.
    """
    micro = 0
    for panel in study.panels:
        for number in study.numbers:
            one = await estimate_round(study_round(study, panel, number), app.gateway)
            if one.unknown:
                raise BudgetError(
                    f"The price of {one.unknown[0]} is unknown, so the study's caps can't be kept. "
                    "Give it input_usd_per_million and output_usd_per_million in council.toml."
                )
            micro += one.micro
    return Estimate(micro)


async def complete_study(
    app: AppContext,
    study: Study,
    folder: StudyFolder,
    replies: Replies,
    on_question: Callable[[Part], None],
) -> str:
    """Make the calls that are missing; return why it stopped, "" if none is missing."""
    for panel in study.panels:
        await app.prepare(panel)
    account = Account(f"study {study.digest[:12]}", app.now().date(), payer("terminal"))
    async with app.budget.budget_gateway(account, app.gateway, None, of="study") as gateway:
        live = LiveCalls(study, gateway, replies.calls, lambda call: folder.save(replies, call))
        await StudyRun(study, [*replies.calls], live).run(
            bakeoff_settings(app).rounds_at_once, on_question
        )
    return live.refusal


# --- Recompute


async def recompute(study: Study, replies: Replies) -> tuple[StudyRun, Document]:
    """Return what follows from the stored replies, calling nobody."""
    run = StudyRun(study, replies.calls)
    await run.run()
    return run, study_document(run, replies)


async def verify_study(folder: StudyFolder, registry: Registry) -> tuple[list[str], Replies]:
    """Return each place where a folder does not bear out its result, and its replies."""
    replies = folder.read()
    faults = [*replies.faults]
    if replies.header is None:
        return [*faults, "The replies have no first line that can be read."], replies
    try:
        file = folder.read_file()
        faults += [
            f"{name} was edited after the study began." for name in changed_files(file, replies)
        ]
        study = make_study(file, replies.header, registry)
        stored, report = folder.read_result(), folder.read_report()
    except CouncilError as error:
        return [*faults, str(error)], replies
    run, document = await recompute(study, replies)
    faults += [
        f"Line {replies.line_of(call)} of the replies answers no call of the study."
        for call in run.unused
    ]
    found = [*islice(differences(stored, document), MAX_DIFFERENCES + 1)]
    faults += [f"{RESULT}: {one}." for one in found[:MAX_DIFFERENCES]]
    if len(found) > MAX_DIFFERENCES:
        faults.append(f"{RESULT}: and more differences.")
    if report is not None:
        found = [*report_differences(report, report_markdown(document))]
        faults += [f"{REPORT}, {one}." for one in found]
    return faults, replies
