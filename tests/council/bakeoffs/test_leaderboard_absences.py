from council.bakeoffs.leaderboard import Absences, Gap, find_absences
from council.bakeoffs.records import JudgeRecord
from tests.council.bakeoffs.record_builders import a_record, of


def test_gaps_are_counted_of_what_was_asked_the_largest_share_first() -> None:
    silent = JudgeRecord("dee")  # asked, and did not reply
    rounds = [
        a_record(
            {"ada": 1.0, "bob": None if n == 1 else 0.0, "cyd": None},
            number=n,
            judged=(JudgeRecord("ada", valid=n == 1, spoiled=1), silent),
        )
        for n in (1, 2)
    ]

    assert find_absences(of(*rounds)) == Absences(
        answers=(Gap("cyd", 2, 2), Gap("bob", 1, 2)), rankings=(Gap("ada", 1, 2),)
    )


def test_nothing_is_missing_from_no_rounds() -> None:
    assert find_absences(of()) == Absences()
