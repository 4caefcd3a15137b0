"""Share links of bake-offs: who has one reads the result question by question, and nothing else."""

from starlette.requests import Request
from starlette.responses import Response

from bot.bakeoffs.lifecycle import load_progress
from bot.bakeoffs.matrix import load_results
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.bakeoffs import bakeoff_title
from bot.bakeoffs.render.leaderboard_text import council_value_lines
from bot.bakeoffs.render.matrix import CELLS_NOTE, MATRIX_TITLE, grader_lines, matrix_table
from bot.bakeoffs.web.bakeoffs import bakeoff_path, is_own_bakeoff, load_bakeoff
from bot.web.auth import SHARED, Form, FormError
from bot.web.context import WebContext, is_member
from bot.web.shares import Shareable, check_link, create_link, revoke_link, show_links
from council.bakeoffs.models import Bakeoff

_MAX_ROWS = 500


def _link_id(bakeoff_id: str) -> str:
    """Return the id of a bake-off among links, which no round has."""
    return f"bakeoff {bakeoff_id}"


def shareable_bakeoff(bakeoff: Bakeoff) -> Shareable:
    """Return what a link to a bake-off opens."""
    page = bakeoff_path(bakeoff)
    contents = "this bake-off’s questions, results and grades"
    return Shareable(
        _link_id(bakeoff.id),
        page,
        f"{page}{SHARED}",
        bakeoff_title(bakeoff),
        "bake-off",
        contents,
    )


async def share_page(context: WebContext, request: Request) -> Response:
    """Show the active links of a bake-off, and a form that creates one."""
    return await show_links(context, request, await _load_own(context, request))


async def create_share(context: WebContext, request: Request, form: Form) -> Response:
    """Create a link and show it, once; raise FormError if there are too many."""
    return await create_link(context, request, await _load_own(context, request), form)


async def revoke_share(context: WebContext, request: Request, form: Form) -> Response:
    """Revoke a link for every process, and redirect to those that are left."""
    return await revoke_link(context, await _load_own(context, request), form)


async def _load_own(context: WebContext, request: Request) -> Shareable:
    bakeoff = await load_bakeoff(context, request)
    if not (is_member(context, request) and is_own_bakeoff(context, request, bakeoff)):
        raise FormError(
            "Only the person who started this bake-off, or an admin, can share it.", 403
        )
    return shareable_bakeoff(bakeoff)


async def shared_page(context: WebContext, request: Request) -> Response:
    """Show a bake-off to the reader of a link; raise FormError for a link that does not work."""
    app, id_ = context.app, request.path_params["id"]
    await check_link(context, request, _link_id(id_))
    bakeoff = await bakeoff_stores(app).bakeoffs.load(id_)
    results = await load_results(app, await load_progress(app, bakeoff))
    board, run = results.board, results.run
    return await context.render_page(
        request,
        "bakeoff_shared.html",
        bakeoff=bakeoff,
        title=bakeoff_title(bakeoff),
        missing=results.missing,
        headline=results.leading,
        worth_lines=[*council_value_lines(board)],
        matrix_title=MATRIX_TITLE,
        table=matrix_table(run, board.names, _MAX_ROWS),
        notes=[CELLS_NOTE, *grader_lines(run)],
        left_out=max(0, len(run.matrix.rows) - _MAX_ROWS),
    )
