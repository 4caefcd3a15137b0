"""How the council stands injections and odd ballots, for docs/security.md.

python -m tests.bench.injection

The sets in tests/council/data were written by someone who had not seen the code.
"""

from collections.abc import Iterable

from council.ballots import ParsedBallot, parse_ballot
from council.prompt_injection import find_suspicions, neutralise
from tests.council.data import (
    LANGUAGES,
    AdversarialBallot,
    Injection,
    LegitimateBallot,
    adversarial_ballots,
    injections,
    legitimate_ballots,
)
from tests.council.data.ordinary_answers import ordinary_answers

KINDS = ("plea", "role_marker", "fake_ballot", "fake_fence", "encoded", "invisible", "confusable")


def main() -> None:
    hostile, honest = adversarial_ballots(), legitimate_ballots()
    print("ballots")
    _row("adversarial, accepted", len(accepted()), len(hostile))
    _row("legitimate, read", sum(map(is_read, honest)), len(honest))
    print("injections, flagged or neutralised")
    for kind in KINDS:
        _count(kind, [i for i in injections() if i.kind == kind])
    for language in LANGUAGES:
        _count(language, [i for i in injections() if i.language == language])
    _count("all", injections())
    answers = ordinary_answers()
    print("ordinary answers")
    _row("flagged", sum(bool(find_suspicions(text)) for text in answers), len(answers))
    _row("changed", sum(neutralise(text) != text for text in answers), len(answers))


def accepted() -> list[AdversarialBallot]:
    """Return the adversarial ballots that count."""
    return [
        ballot
        for ballot in adversarial_ballots()
        if isinstance(parse_ballot(ballot.text, ballot.nonce, ballot.letters), ParsedBallot)
    ]


def is_read(ballot: LegitimateBallot) -> bool:
    parsed = parse_ballot(ballot.text, ballot.nonce, ballot.letters)
    places = parsed.ranking if isinstance(parsed, ParsedBallot) else ()
    return [*map(set, places)] == [*map(set, ballot.ranking)]


def is_stopped(injection: Injection) -> bool:
    return bool(find_suspicions(injection.text)) or neutralise(injection.text) != injection.text


def _count(name: str, of: Iterable[Injection]) -> None:
    stopped = [is_stopped(injection) for injection in of]
    _row(name, sum(stopped), len(stopped))


def _row(name: str, hits: int, of: int) -> None:
    print(f"  {name:28} {hits:5} of {of:5}  {hits / of:.3f}")


if __name__ == "__main__":
    main()
