"""`council bakeoff run --baseline`, with a member that really got worse: the check fails."""

from collections.abc import Sequence
from pathlib import Path

from tests.bot.homes import Home, Result, served_config
from tests.wire.models import ModelServer, answer, by_role, judge, no_such_model

MEMBERS = ("a", "b", "c")
QUESTIONS = 10


def by_text(candidates: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Rank by the texts, as every judge does alike."""
    return [[letter] for letter, _ in sorted(candidates, key=lambda one: one[1])]


def script(server: ModelServer, best_first: Sequence[str]) -> None:
    """Make every judge rank the members' answers in this order."""
    for place, name in enumerate(best_first):
        said = answer(f"Reason {place} is what decides it.")
        server.script[name] = by_role(said, judge(by_text), answer("In short: it depends."))


async def held(home: Home, *arguments: str) -> Result:
    return await home.invoke_in_thread("bakeoff", "run", "sql.txt", "--yes", *arguments)


async def test_a_member_that_got_worse_fails_the_check_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "sql.txt").write_text("\n".join(f"What of {n}?" for n in range(QUESTIONS)))
    async with ModelServer() as server:
        home = Home(tmp_path).with_config(
            served_config(server.api_base, MEMBERS, audit_share=0.0, chairman=["openai/a"])
        )
        script(server, MEMBERS)
        before = await held(home, "--save", "base.json")
        script(server, (*MEMBERS[1:], MEMBERS[0]))
        worse = await held(home, "--baseline", "base.json", "--summary", "told.md")
        other = await held(home, "--baseline", "base.json", "--member", "openai/b")
        for name in MEMBERS:
            server.script[name] = no_such_model()
        failed = await held(home, "--baseline", "base.json")

    told = (tmp_path / "told.md").read_text()
    assert before.code == 0, before.err
    assert worse.code == 1, worse.err
    assert "worse than the baseline" in told
    assert "fell from 100 % to 0 %" in told
    assert other.code == 0, other.err
    assert "no worse than the baseline" in other.out
    assert failed.code == 2, failed.err
    assert "failed" in failed.out
