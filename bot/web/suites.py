"""Suites on the page: the list, one of them, a form to add, and the question of a round."""

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.chat import Attached, Said
from bot.commands.buttons import PRESSES, PROPOSED, add_to_suite
from bot.commands.dispatch import COMMANDS, kindly, obey
from bot.commands.registry import Order
from bot.commands.suites import NO_QUESTIONS, Joining, line_named, run_of
from bot.render.suites import cost_line, size_line
from bot.suite_files import as_csv, checked_name
from bot.web.asking import FormError, PageChat, own_form
from bot.web.downloads import download
from bot.web.site import Site
from bot.web.visitors import looking, place_of, visitor_of


async def suites(site: Site, request: Request) -> Response:
    """Give the suites there are, and a form for one more."""
    found = await site.desk.bench.suites.lines("")
    return await site.page(request, "suites.html", found=found)


async def suite_page(site: Site, request: Request) -> Response:
    """Give a suite with all its questions."""
    desk, name = site.desk, request.path_params["name"]
    suite = await desk.bench.suites.load("", name)
    line = await line_named(desk, "", name)
    visitor = visitor_of(request)
    run = await run_of(desk, place_of(visitor), suite)
    return await site.page(
        request,
        "suite.html",
        suite=suite,
        size=size_line(suite),
        cost=cost_line(run),
        is_own=line is not None and line.by == visitor.asker.id,
    )


async def suite_file(site: Site, request: Request) -> Response:
    """Give a suite as CSV, which reads back as the same suite."""
    suite = await site.desk.bench.suites.load("", request.path_params["name"])
    return download(f"{suite.name}.csv", as_csv(suite), "text/csv; charset=utf-8")


async def added(site: Site, request: Request) -> Response:
    """Show what a form would add: its size and cost, to be kept with a press."""
    form = await own_form(site, request)
    file = await _file(form)  # first, so that it is closed whatever else is wrong
    name, lines = checked_name(str(form.get("name", ""))), str(form.get("lines", "")).strip()
    if not (lines or file):
        raise FormError(NO_QUESTIONS, 422)
    words = f"add {name}" if file else f"add {name}\n{lines}"
    return await _obeyed(site, request, words, (file,) if file else ())


async def removed(site: Site, request: Request) -> Response:
    """Remove a suite, for the one who kept it."""
    await own_form(site, request)
    return await _obeyed(site, request, f"remove {request.path_params['name']}", ())


async def pressed(site: Site, request: Request) -> Response:
    """Do what a button says that was shown on the page."""
    form = await own_form(site, request)
    action = request.path_params["action"]
    if action not in PROPOSED:
        raise FormError("There is no such button.", 404)
    chat, said = PageChat(), looking(visitor_of(request))
    await kindly(chat, said, PRESSES[action](site.desk, chat, said, str(form.get("value", ""))))
    return await site.page(request, "said.html", posts=chat.posts, said="")


async def joined(site: Site, request: Request) -> Response:
    """Put a round's question into a suite, and lead to the suite."""
    form = await own_form(site, request)
    round_ = await site.round_(request)
    said = looking(visitor_of(request))
    joining = Joining(str(form.get("name", "")), str(form.get("answer", "")))
    await add_to_suite(site.desk, PageChat(), said, round_.id, joining)
    return RedirectResponse(f"/suites/{joining.name.strip().lower()}", status_code=303)


async def _obeyed(
    site: Site, request: Request, words: str, files: tuple[Attached, ...]
) -> Response:
    chat = PageChat()
    here = looking(visitor_of(request))
    said = Said(words, here.asker, here.place, site.desk.new_id(), files=files)
    order = Order(next(c for c in COMMANDS.commands if c.name == "suite"), words)
    await kindly(chat, said, obey(site.desk, chat, said, order))
    return await site.page(request, "said.html", posts=chat.posts, said="")


async def _file(form: FormData) -> Attached | None:
    """Give the file of a form; None where none was chosen."""
    sent = form.get("file")
    if not isinstance(sent, UploadFile) or not sent.filename:
        return None
    content = await sent.read()
    await sent.close()

    async def read() -> bytes:
        return content

    return Attached(sent.filename, len(content), read)
