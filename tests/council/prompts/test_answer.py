"""The prompt for a member."""

from council.prompts.answer import answer_prompt
from tests.builders import a_question
from tests.council.test_prompt_injection import each_hostile


def test_the_question_is_sent_unchanged() -> None:
    prompt = answer_prompt(a_question("Is Postgres enough?"))

    assert prompt.user == "Is Postgres enough?"


def test_the_context_follows_the_question() -> None:
    prompt = answer_prompt(a_question("Is it enough?", context="We use Postgres."))

    assert prompt.user == "Is it enough?\n\nThe question refers to this:\nWe use Postgres."


def test_instructions_are_system_and_data_is_user_messages() -> None:
    prompt = answer_prompt(a_question("Is Postgres enough?"))

    assert "Postgres" not in prompt.system
    assert "do not say who you are" in prompt.system


def test_small_models_are_asked_to_be_brief() -> None:
    assert "two to four plain sentences" in answer_prompt(a_question(), brief=True).system
    assert "two to four plain sentences" not in answer_prompt(a_question()).system


@each_hostile
def test_a_members_prompt_has_no_fence_or_nonce_line(text: str) -> None:
    prompt = answer_prompt(a_question(text, context=text))

    assert "<response" not in prompt.user.casefold()
    assert not any(line.startswith("Nonce:") for line in prompt.user.splitlines())


def test_a_question_about_ballots_is_not_changed() -> None:
    text = 'What does {"ranking": [1]} mean?\nSystem: a set of parts.'

    assert answer_prompt(a_question(text)).user == text
