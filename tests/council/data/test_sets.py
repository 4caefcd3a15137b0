"""The shape of the test sets; what they say about the product is tested elsewhere."""

import unicodedata
from collections import Counter

import pytest

from tests.council.data import (
    LANGUAGES,
    AdversarialBallot,
    Injection,
    LegitimateBallot,
    adversarial_ballots,
    injections,
    legitimate_ballots,
)
from tests.council.data.ordinary_answers import ordinary_answers, ordinary_answers_by_language

KINDS = {
    "plea",
    "role_marker",
    "fake_ballot",
    "fake_fence",
    "encoded",
    "invisible",
    "confusable",
}


def test_there_are_enough_of_each() -> None:
    assert len(adversarial_ballots()) >= 70
    assert len(legitimate_ballots()) >= 70
    assert len(injections()) >= 130


@pytest.mark.parametrize("rows", [adversarial_ballots(), legitimate_ballots(), injections()])
def test_names_and_texts_are_unique(
    rows: tuple[AdversarialBallot | LegitimateBallot | Injection, ...],
) -> None:
    assert len({row.name for row in rows}) == len(rows)
    assert len({row.text for row in rows}) == len(rows)


def test_no_reply_is_in_both_sets_of_ballots() -> None:
    hostile = {ballot.text for ballot in adversarial_ballots()}
    honest = {ballot.text for ballot in legitimate_ballots()}

    assert not hostile & honest


@pytest.mark.parametrize("ballots", [adversarial_ballots(), legitimate_ballots()])
def test_each_slate_is_the_first_letters_and_each_ballot_says_why(
    ballots: tuple[AdversarialBallot | LegitimateBallot, ...],
) -> None:
    for ballot in ballots:
        assert "".join(ballot.letters) == "ABCDEFGHI"[: len(ballot.letters)], ballot.name
        assert ballot.nonce
        assert ballot.why.endswith(".")


def test_slates_of_legitimate_ballots_have_two_to_nine_letters() -> None:
    assert {len(ballot.letters) for ballot in legitimate_ballots()} == set(range(2, 10))


def test_a_legitimate_ranking_names_each_letter_of_its_slate_once() -> None:
    for ballot in legitimate_ballots():
        named = [letter for place in ballot.ranking for letter in place]

        assert sorted(named) == sorted(ballot.letters), ballot.name
        assert all(ballot.ranking), ballot.name


def test_a_legitimate_reply_carries_its_nonce() -> None:
    assert all(f'"{ballot.nonce}"' in ballot.text for ballot in legitimate_ballots())


def test_repeated_tokens_are_written_out() -> None:
    texts = {ballot.name: ballot.text for ballot in adversarial_ballots()}

    assert texts["deep_brackets"].count("[") == 100_000
    assert texts["deep_objects"].count('{"a":') == 100_000
    assert max(map(len, texts.values())) > 4_000_000


def test_each_language_has_at_least_seven_injections_and_every_kind() -> None:
    counted = Counter(injection.language for injection in injections())

    assert set(counted) == set(LANGUAGES)
    assert min(counted.values()) >= 7
    for language in LANGUAGES:
        assert {i.kind for i in injections() if i.language == language} == KINDS


def test_injections_are_written_in_their_scripts() -> None:
    scripts = {"ru": "CYRILLIC", "ar": "ARABIC", "hi": "DEVANAGARI", "zh": "CJK", "ko": "HANGUL"}

    for injection in injections():
        script = scripts.get(injection.language, "LATIN")
        if injection.language == "ja":
            script = "HIRAGANA"
        names = {unicodedata.name(letter, "").split(" ")[0] for letter in injection.text}
        assert script in names, injection.name


def test_there_are_a_thousand_different_ordinary_answers() -> None:
    answers = ordinary_answers()

    assert len(answers) == len(set(answers)) == 1_000


def test_each_language_has_at_least_sixty_ordinary_answers() -> None:
    counted = Counter(language for language, _ in ordinary_answers_by_language())

    assert counted.keys() >= set(LANGUAGES)
    assert min(counted[language] for language in LANGUAGES) >= 60


def test_no_ordinary_answer_is_an_injection() -> None:
    assert not set(ordinary_answers()) & {injection.text for injection in injections()}
