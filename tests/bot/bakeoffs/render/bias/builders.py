"""Builders of bias reports, as large as a test needs them."""

from dataclasses import replace
from datetime import UTC, datetime

from bot.bakeoffs.render.bias_tables import BiasView, make_bias_view
from bot.bakeoffs.render.leaderboard_tables import Coverage
from council.bakeoffs.bias.report import (
    BiasReport,
    Effect,
    GivenShare,
    JudgeBias,
    MakerEffect,
    Slot,
    Trait,
)
from tests.bot.bakeoffs.render.boards.builders import CLAUDE, GEMINI, GPT, NAMES, QWEN

QWEN_CODER = "ollama/qwen-coder"
SEATS = (CLAUDE, GPT, GEMINI, QWEN, QWEN_CODER)
FAMILIES = ("anthropic", "openai", "google", "qwen", "qwen")
AUDITS, BALLOTS = "audit ballots", "ballots"
UNKNOWN = Effect(0, AUDITS)


def an_effect(
    value: float, half: float, n: int = 52, unit: str = AUDITS, p: float | None = None
) -> Effect:
    """Return an effect with its interval, found if that excludes 0 unless `p` says otherwise."""
    beyond = abs(value) > half
    p = p if p is not None else 0.002 if beyond else 0.4
    interval = (value - half, value + half)
    return Effect(n, unit, value, interval, p / 4, p, 0 if beyond else 43)


def a_judge(judge: str = GPT, maker: str = "openai", **changed: object) -> JudgeBias:
    """Return a judge without any bias."""
    fair = JudgeBias(
        judge=judge,
        maker=maker,
        own=an_effect(0.02, 0.06),
        family=UNKNOWN,
        named=UNKNOWN,
        first_slot=an_effect(0.01, 0.05, 256, BALLOTS),
        position=an_effect(0.02, 0.05, 256, BALLOTS, 0.61),
        slots=tuple(
            Slot(number, an_effect(value, 0.05, 256, BALLOTS))
            for number, value in enumerate((0.01, -0.02, 0.02, -0.01), start=1)
        ),
        kept=Effect(21, AUDITS, 0.93, (0.87, 0.97)),
        length=an_effect(0.1, 0.3, 980, BALLOTS),
        style={
            "lists": an_effect(0.05, 0.2, 980, BALLOTS),
            "bold": an_effect(0, 0.2, 980, BALLOTS),
        },
        agreement=Effect(240, BALLOTS, 0.42, (0.34, 0.5)),
        spoiled=Effect(260, BALLOTS, 0.015, (0.006, 0.04)),
    )
    return replace(fair, **changed)  # type: ignore[arg-type]  # as the test says


def a_qwen(judge: str = QWEN) -> JudgeBias:
    """Return a judge with every kind of bias."""
    slots = (0.21, 0.04, -0.08, -0.17)
    return a_judge(
        judge,
        "qwen",
        own=an_effect(0.31, 0.13),
        family=an_effect(0.12, 0.05, 88),
        named=an_effect(0.1, 0.04, 31),
        first_slot=an_effect(0.21, 0.05, 256, BALLOTS),
        position=an_effect(0.21, 0.05, 256, BALLOTS, 0.0004),
        slots=tuple(
            Slot(number, an_effect(value, 0.05, 256, BALLOTS))
            for number, value in enumerate(slots, start=1)
        ),
        kept=Effect(21, AUDITS, 0.56, (0.47, 0.65)),
        length=an_effect(0.82, 0.3, 980, BALLOTS),
        style={
            "lists": an_effect(0.4, 0.2, 980, BALLOTS),
            "bold": an_effect(-0.3, 0.2, 980, BALLOTS),
        },
        agreement=Effect(240, BALLOTS, -0.12, (-0.2, -0.04)),
        spoiled=Effect(260, BALLOTS, 0.31, (0.26, 0.37)),
    )


def an_unknown(judge: str = QWEN_CODER) -> JudgeBias:
    """Return a judge of whom nothing is known yet."""
    nothing = Effect(0, BALLOTS)
    return a_judge(
        judge,
        "qwen",
        own=UNKNOWN,
        first_slot=nothing,
        position=nothing,
        slots=(),
        kept=UNKNOWN,
        length=nothing,
        style={"lists": nothing, "bold": nothing},
        agreement=nothing,
        spoiled=nothing,
    )


def some_given(seats: tuple[str, ...] = SEATS) -> tuple[GivenShare, ...]:
    """Return what each judge gave each author; nothing is known of the last judge."""
    return tuple(
        GivenShare(judge, author, None, 0)
        if at == len(seats) - 1
        else GivenShare(judge, author, min(1.0, 0.9 - 0.17 * to + 0.3 * (judge == author)), 64)
        for at, judge in enumerate(seats)
        for to, author in enumerate(seats)
    )


def a_report(**changed: object) -> BiasReport:
    """Return a report over 64 rounds: one biased judge, one unknown, three fair."""
    report = BiasReport(
        rounds=64,
        ballots=256,
        audits={"own": 22, "order": 21, "named": 21},
        audit_usd=0.0312,
        judges=(
            a_judge(CLAUDE, "anthropic"),
            a_judge(GPT, "openai", own=an_effect(0.09, 0.14)),
            a_judge(GEMINI, "google", own=replace(an_effect(0.05, 0.2), more=118)),
            a_qwen(),
            an_unknown(),
        ),
        given=some_given(),
        traits=(
            Trait("length", 312.0, 241.0, an_effect(71, 24, 64, "rounds")),
            Trait("lists", 0.61, 0.58, an_effect(0.03, 0.09, 64, "rounds")),
            Trait("code", None, None, Effect(0, "rounds")),
        ),
        alpha=0.31,
        n_eff=2.6,
        majority=None,
        brands=(
            MakerEffect("anthropic", an_effect(0.06, 0.03, 21)),
            MakerEffect("openai", an_effect(0.01, 0.05, 21)),
            MakerEffect("unknown:scripted", UNKNOWN),
        ),
    )
    return replace(report, **changed)  # type: ignore[arg-type]  # as the test says


NOTHING = BiasReport(0, 0, {}, None, (), (), ())
COVERAGE = Coverage(rounds=64, panel="house", since=datetime(2026, 10, 1, tzinfo=UTC))
ALL_NAMES = {**NAMES, QWEN_CODER: "Qwen Coder"}


def a_bias(**changed: object) -> BiasView:
    """Return the view of a report."""
    return make_bias_view(a_report(**changed), COVERAGE, ALL_NAMES)
