import pytest

from council.bakeoffs.records import is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "Sorry, I cannot do that for you.",
        "I cannot provide instructions for this.",
        "I can't help you with that.",
        "I am unable to assist.",
        "Unfortunately, I am not able to comply with this.",
        "I won't write that.",
        "As an AI language model, I cannot have opinions on this.",
        "I must decline.",
        "I'd rather not answer this.",
        "I respectfully decline to answer.",
        "This request goes against my guidelines.",
        "**I cannot** help with that.",
    ],
)
def test_a_refusal_is_told_from_its_first_words(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Postgres is enough.",
        "Sorry for the confusion: it is 42.",
        "You can't do this with SELECT alone; use a window function.",
        "I can help with that: use an index.",
        "The error says 'I cannot help', which means the server is busy.",
        "As an AI team lead, you should start with a backlog.",
        "It is 42. I'm sorry, but I can't say more.",
    ],
)
def test_an_answer_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)
