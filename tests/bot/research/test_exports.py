"""`council export --as judgments` writes what the measurement of counts reads."""

from tests.bench.aggregation import read
from tests.bot.cli.test_rounds_vote import delete_result
from tests.bot.homes import Home


def test_the_command_writes_lines_that_the_measurement_reads(
    stored_round: tuple[Home, str],
) -> None:
    home, stored = stored_round
    folder = home.folder / "mine"
    folder.mkdir()

    all_of_them = home.invoke("export", "--as", "judgments", "--to", str(folder / "a.jsonl"))
    one = home.invoke("export", stored, "--as", "judgments")
    wrong = home.invoke("export", "--as", "tables")

    assert all_of_them.out == f"1 round written to {folder / 'a.jsonl'}.\n"
    assert (folder / "a.jsonl").read_text(encoding="utf-8") == one.out
    assert [*read(folder).items] == [stored]
    assert wrong.code == 2
    assert "--as must be judgments" in wrong.err


def test_until_the_result_there_are_no_judgments_to_export(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    delete_result(home)

    judgments = home.invoke("export", round_id, "--as", "judgments")

    assert (judgments.code, judgments.out) == (0, "")


def test_a_round_of_an_unknown_method_does_not_stop_the_export(
    stored_round: tuple[Home, str],
) -> None:
    home, bad = stored_round
    good = home.invoke("ask", "And how?", "--json").json["id"]
    home.sql('UPDATE round SET versions = \'{"method": "9"}\' WHERE id = ?', bad)

    exported = home.invoke("export", "--as", "judgments")

    assert exported.code == 1
    assert f"Left out: round {bad}. This round used version 9" in exported.out + exported.err
    assert good in exported.out
