"""The pages of bake-offs: suites, schedules, bake-offs, leaderboard and bias."""

from bot.bakeoffs.leaderboard import LeaderboardQueryError
from bot.bakeoffs.render.leaderboard_tables import place_text
from bot.bakeoffs.render.schedules import cost_line, last_run_text, next_line, schedule_sentence
from bot.bakeoffs.web import bakeoffs, events, matrix, reports, schedules, shares, suites
from bot.web.pages import Fragment, NavigationLink, Pages
from council.errors import BakeoffError, SuiteError

_BAKEOFFS = NavigationLink("Bake-offs", "Bake-offs", "/bakeoffs", 100)
_SUITES = NavigationLink("Bake-offs", "Suites", "/suites", 101)
_SCHEDULES = NavigationLink("Bake-offs", "Schedules", "/schedules", 102)
_LEADERBOARD = NavigationLink("Leaderboard", "Leaderboard", "/leaderboard", 200)
_JUDGES = NavigationLink("Leaderboard", "As judges", "/leaderboard?as=judge", 201)
_BIAS = NavigationLink("Leaderboard", "Bias", "/bias", 202)

PAGES = Pages(
    name="bakeoffs",
    get={
        "/schedules": schedules.schedules_page,
        "/schedules/next": schedules.next_runs,
        "/bakeoffs": bakeoffs.bakeoffs_page,
        "/bakeoffs/{id}": matrix.bakeoff_page,
        "/bakeoffs/{id}/vote": bakeoffs.vote_page,
        "/bakeoffs/{id}/share": shares.share_page,
        "/bakeoffs/{id}/shared": shares.shared_page,
        "/bakeoffs/{id}/rows": matrix.matrix_rows,
        "/bakeoffs/{id}/cells/{number:int}/{seat:int}": matrix.cell_page,
        "/bakeoffs/{id}/bakeoff.{format}": matrix.download_bakeoff,
        "/bakeoffs/{id}/events": events.bakeoff_events,
        "/bakeoffs/{id}/state": events.bakeoff_state,
        "/leaderboard": reports.leaderboard_page,
        "/leaderboard.{format}": reports.download_leaderboard,
        "/bias": reports.bias_page,
        "/bias/charts": reports.bias_charts_page,
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
        "/bakeoffs/try": bakeoffs.start_trial,
        "/bakeoffs/{id}/try": bakeoffs.propose_trial,
        "/bakeoffs/{id}/vote": bakeoffs.vote,
        "/bakeoffs/{id}/share": shares.create_share,
        "/bakeoffs/{id}/share/revoke": shares.revoke_share,
        "/bakeoffs/{id}/baseline": bakeoffs.set_baseline,
        "/bakeoffs/{id}/cancel": bakeoffs.cancel_bakeoff,
        "/bakeoffs/{id}/resume": bakeoffs.resume_bakeoff,
        "/rounds/{id}/suite": suites.add_round_to_suite,
        "/suites": suites.add_suite,
        "/suites/{name}/edit": suites.edit_suite,
        "/suites/{name}/remove": suites.remove_suite,
    },
    statuses={BakeoffError: 404, LeaderboardQueryError: 422, SuiteError: 422},
    navigation=(_BAKEOFFS, _SUITES, _SCHEDULES, _LEADERBOARD, _JUDGES, _BIAS),
    hints={
        "bakeoff": _BAKEOFFS.hint,
        "bakeoff list": _BAKEOFFS.hint,
        "bakeoff show {}": ("this bake-off", "/bakeoffs/{}"),
        "bakeoff vote {}": ("this bake-off", "/bakeoffs/{}"),
        "bakeoff resume {}": ("the button on its page", "/bakeoffs/{}"),
        "bakeoff bless {}": ("the button on its page", "/bakeoffs/{}"),
        "bakeoff cancel {}": ("the button on its page", "/bakeoffs/{}"),
        "suite": _SUITES.hint,
        "suite list": _SUITES.hint,
        "schedule": _SCHEDULES.hint,
        "schedule list": _SCHEDULES.hint,
        "leaderboard": _LEADERBOARD.hint,
        "bias": _BIAS.hint,
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
