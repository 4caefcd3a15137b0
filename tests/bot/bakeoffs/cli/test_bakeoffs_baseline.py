"""`council bakeoff run --baseline` with a member that got worse."""

from collections.abc import Sequence
from pathlib import Path

from tests.bot.homes import Home, Result, served_config
from tests.wire.models import ModelServer, answer, by_role, judge, no_such_model

MEMBERS = ("a", "b", "c")
QUESTIONS = 8


def by_text(candidates: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Rank by the texts, so that all judges agree."""
    return [[letter] for letter, _ in sorted(candidates, key=lambda one: one[1])]


def script(server: ModelServer, best_first: Sequence[str]) -> None:
    """Make every judge rank the members' answers in this order."""
    for place, name in enumerate(best_first):
        reply = answer(f"Reason {place} is what decides it.")
        server.script[name] = by_role(reply, judge(by_text), answer("In short: it depends."))


async def run_bakeoff(home: Home, *arguments: str) -> Result:
    return await home.invoke_in_thread("bakeoff", "run", "sql.txt", "--yes", *arguments)


async def test_a_member_that_got_worse_fails_the_baseline_check(tmp_path: Path) -> None:
    (tmp_path / "sql.txt").write_text("\n".join(f"What of {n}?" for n in range(QUESTIONS)))
    async with ModelServer() as server:
        home = (
            Home(tmp_path)
            .with_tables()
            .with_config(
                served_config(server.api_base, MEMBERS, audit_share=0.0, chairman=["openai/a"])
            )
        )
        script(server, MEMBERS)
        before = await run_bakeoff(home, "--save", "base.json")
        script(server, (*MEMBERS[1:], MEMBERS[0]))
        worse = await run_bakeoff(home, "--baseline", "base.json", "--markdown", "summary.md")
        other = await run_bakeoff(home, "--baseline", "base.json", "--member", "openai/b")
        for name in MEMBERS:
            server.script[name] = no_such_model()
        failed = await run_bakeoff(home, "--baseline", "base.json")

    summary = (tmp_path / "summary.md").read_text()
    assert before.code == 0, before.err
    assert worse.code == 1, worse.err
    assert "worse than the baseline" in summary
    assert "fell from 100 % to 0 %" in summary
    assert other.code == 0, other.err
    assert "no worse than the baseline" in other.out
    assert "compared with the baseline of" in other.out
    assert "previous run" not in failed.out
    assert failed.code == 2, failed.err
    assert "failed" in failed.out
