"""Filters of a bias report, and the choices they offer."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.bakeoffs.bias_report import bias_report, load_bias, load_bias_page, parse_bias_query
from bot.bakeoffs.leaderboard import LeaderboardQuery, LeaderboardQueryError
from bot.ports import RecordSources
from council.bakeoffs.ports import RecordQuery
from council.bias.report import BiasReport
from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.builders import packed_all, runs_of
from tests.bot.render.bias.builders import a_report

NOW = datetime(2026, 11, 21, tzinfo=UTC)


class Measuring:
    """Remembers which rounds it was asked to measure."""

    def __init__(self) -> None:
        self.wanted: list[RecordQuery] = []

    async def __call__(self, _: RecordSources, wanted: RecordQuery) -> BiasReport:
        self.wanted.append(wanted)
        return a_report()


async def test_options_narrow_what_is_measured_and_are_shown() -> None:
    measuring, app = Measuring(), an_app()
    given = {"suite": "sql", "panel": "house", "category": "joins", "since": "30d"}

    bias = await load_bias(app, parse_bias_query(given, NOW), {}, measuring)

    (wanted,) = measuring.wanted
    assert (wanted.suite, wanted.panel, wanted.category) == ("sql", "house", "joins")
    assert wanted.since == NOW - timedelta(days=30)
    assert (bias.coverage.rounds, bias.coverage.suite) == (64, "sql")


def test_a_version_of_a_suite_is_refused_with_what_to_do() -> None:
    with pytest.raises(LeaderboardQueryError, match="name the suite without a version"):
        parse_bias_query({"suite": "sql@3f2a"}, NOW)


async def test_choices_are_those_of_the_scope() -> None:
    app = an_app()
    held = [*runs_of("sql", 1, scope="slack/T1"), *runs_of("poems", 1, scope="slack/T2")]
    await app.bakeoff_stores.records.save(packed_all(held))

    _, choices = await load_bias_page(app, LeaderboardQuery(scope="slack/T1"), {}, Measuring())

    assert choices["suite"] == ("sql",)
    assert choices["category"] == ("joins", "windows")


async def test_without_rounds_a_report_is_empty() -> None:
    report = await bias_report(an_app(), RecordQuery())

    assert (report.rounds, report.judges) == (0, ())
