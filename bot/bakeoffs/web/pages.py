"""The pages of bake-offs: suites, schedules, bake-offs, leaderboard and bias."""

from bot.bakeoffs.leaderboard import LeaderboardQueryError
from bot.bakeoffs.render.leaderboard_tables import place_text
from bot.bakeoffs.render.schedules import cost_line, last_run_text, next_line, schedule_sentence
from bot.bakeoffs.web import bakeoffs, events, matrix, reports, schedules, suites
from bot.web.pages import Fragment, NavigationLink, Pages
from council.errors import BakeoffError, SuiteError

_BAKEOFFS = ("Bake-offs", "/bakeoffs")
_SUITES = ("Suites", "/suites")
_SCHEDULES = ("Schedules", "/schedules")
_LEADERBOARD = ("Leaderboard", "/leaderboard")
_BIAS = ("Bias", "/bias")
_COMPARE, _BOARDS = "Compare models", "Boards"

PAGES = Pages(
    name="bakeoffs",
    get={
        "/schedules": schedules.schedules_page,
        "/schedules/next": schedules.next_runs,
        "/bakeoffs": bakeoffs.bakeoffs_page,
        "/bakeoffs/{id}": matrix.bakeoff_page,
        "/bakeoffs/{id}/vote": bakeoffs.vote_page,
        "/bakeoffs/{id}/rows": matrix.matrix_rows,
        "/bakeoffs/{id}/cells/{number:int}/{seat:int}": matrix.cell_page,
        "/bakeoffs/{id}/bakeoff.{format}": matrix.download_bakeoff,
        "/bakeoffs/{id}/events": events.bakeoff_events,
        "/bakeoffs/{id}/state": events.bakeoff_state,
        "/leaderboard": reports.leaderboard_page,
        "/leaderboard.{format}": reports.download_leaderboard,
        "/bias": reports.bias_page,
        "/bias.{format}": reports.download_bias,
        "/suites": suites.suites_page,
        "/suites/{name}": suites.suite_page,
        "/suites/{name}/edit": suites.edit_suite_page,
        "/suites/{name}/suite.csv": suites.download_suite_csv,
    },
    forms={
        "/schedules": schedules.add_schedule,
        "/schedules/{id}/{act}": schedules.change_schedule,
        "/bakeoffs": bakeoffs.propose_bakeoff,
        "/bakeoffs/begin": bakeoffs.start_bakeoff,
        "/bakeoffs/{id}/vote": bakeoffs.vote,
        "/bakeoffs/{id}/cancel": bakeoffs.cancel_bakeoff,
        "/bakeoffs/{id}/resume": bakeoffs.resume_bakeoff,
        "/rounds/{id}/suite": suites.add_round_to_suite,
        "/suites": suites.add_suite,
        "/suites/{name}/edit": suites.edit_suite,
        "/suites/{name}/remove": suites.remove_suite,
    },
    statuses={BakeoffError: 404, LeaderboardQueryError: 422, SuiteError: 422},
    navigation=(
        NavigationLink(_COMPARE, *_BAKEOFFS, 100),
        NavigationLink(_COMPARE, *_SUITES, 101),
        NavigationLink(_COMPARE, *_SCHEDULES, 102),
        NavigationLink(_BOARDS, *_LEADERBOARD, 200),
        NavigationLink(_BOARDS, *_BIAS, 201),
    ),
    hints={
        "bakeoff": _BAKEOFFS,
        "bakeoff list": _BAKEOFFS,
        "bakeoff show {}": ("this bake-off", "/bakeoffs/{}"),
        "bakeoff vote {}": ("this bake-off", "/bakeoffs/{}"),
        "bakeoff resume {}": ("the button on its page", "/bakeoffs/{}"),
        "bakeoff cancel {}": ("the button on its page", "/bakeoffs/{}"),
        "suite": _SUITES,
        "suite list": _SUITES,
        "schedule": _SCHEDULES,
        "schedule list": _SCHEDULES,
        "leaderboard": _LEADERBOARD,
        "bias": _BIAS,
    },
    fragments=(
        Fragment("round.origin", "bakeoff_link.html", bakeoffs.load_bakeoff_link),
        Fragment("round.actions", "add_to_suite.html", suites.load_suite_form),
        Fragment("privacy.stored", "stored.html"),
    ),
    package="bot.bakeoffs.web",
    globals={
        "meaning": schedule_sentence,
        "next_line": next_line,
        "cost_line": cost_line,
        "last_run": last_run_text,
        "place_text": place_text,
    },
)
