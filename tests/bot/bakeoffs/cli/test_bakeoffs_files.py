"""`council bakeoff run --save, --comment …`: files that can't be written, before and after."""

import shutil
from pathlib import Path

import pytest

from tests.bot.homes import Home, panel_toml, scripted_config, seat_toml, served_config
from tests.wire.models import ModelServer, Say, by_role

PRICED = {"input_usd_per_million": 10, "output_usd_per_million": 10, "max_tokens": 500}


@pytest.mark.parametrize("option", ["--save", "--comment", "--markdown", "--junit"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_asked(
    tmp_path: Path, option: str
) -> None:
    home = Home(tmp_path).with_config(scripted_config(3)).with_tables()
    (tmp_path / "sql.txt").write_text("Why?\nHow?\n")

    missing = home.invoke("bakeoff", "run", "sql.txt", "--yes", option, "nowhere/out")
    folder = home.invoke("bakeoff", "run", "sql.txt", "--yes", option, ".")

    for refused in (missing, folder):
        assert (refused.code, refused.out) == (2, "")
        assert "Can't write " in refused.err
        assert "Nothing was asked." in refused.err
    assert home.invoke("bakeoff", "list", "--json").json == []


async def test_a_file_that_fails_after_the_run_loses_no_result(tmp_path: Path) -> None:
    (tmp_path / "sql.txt").write_text("Why?\n")
    out = tmp_path / "out"
    out.mkdir()

    def vanish(_: object) -> Say:
        shutil.rmtree(out, ignore_errors=True)
        return Say("Because.")

    async with ModelServer() as server:
        config = served_config(server.api_base, ("a", "b"), audit_share=0.0)
        home = Home(tmp_path).with_tables().with_config(config)
        server.script["a"] = by_role(vanish)
        files = ("--save", "out/base.json", "--comment", "comment.md")
        ran = await home.invoke_in_thread("bakeoff", "run", "sql.txt", "--yes", "--json", *files)

    assert ran.code == 1
    assert ran.json["over"] == 1
    assert (tmp_path / "comment.md").read_text().startswith("# Bake-off of sql")
    said = " ".join(ran.err.split())
    assert "Can't write out/base.json: No such file or directory." in said
    assert f"The bake-off is saved: council bakeoff show {ran.json['id']} --json" in said
    assert "Nothing was" not in said


async def test_a_trial_that_its_cap_stops_is_undecided_however_it_was_started(
    tmp_path: Path,
) -> None:
    rows = "".join(f"What is {n} + {n}?,{2 * n},contains\n" for n in range(1, 9))
    (tmp_path / "sums.csv").write_text(f"question,answer,grading\n{rows}")
    keys = ("openai/a", "openai/b")
    async with ModelServer() as server:
        seats = (*keys, "openai/new")
        models = "".join(seat_toml(key, api_base=server.api_base, **PRICED) for key in seats)
        home = Home(tmp_path).with_tables().with_config(panel_toml(keys) + models)
        tried = await home.invoke_in_thread(
            "bakeoff", "try", "openai/new", "sums.csv", "--yes", "--cap", "0.012"
        )
        resumed = await home.invoke_in_thread("bakeoff", "run", "--resume", "last")

    for result in (tried, resumed):
        assert result.code == 0, result.err
        assert "Undecided: stopped after" in " ".join(result.out.split())
