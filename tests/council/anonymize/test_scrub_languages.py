"""scrub works in fifteen languages and leaves texts about models unchanged."""

import pytest

from council.anonymize.languages import languages
from council.anonymize.names import family_index, mark_names
from council.anonymize.scrub import MASK, scrub, warm_up
from council.model_families import all_families
from tests.council.scrub_corpus import GROUPS, LANGUAGES, texts

each_language = pytest.mark.parametrize("language", LANGUAGES)


def _missed(signed: tuple[str, ...]) -> list[str]:
    return [text for text in signed if not scrub(text).found]


def _masked(ordinary: tuple[str, ...]) -> list[str]:
    return [text for text in ordinary if scrub(text).found]


@each_language
def test_the_training_corpus_is_masked_as_documented(language: str) -> None:
    known = texts("tuned", language)

    assert len(_missed(known.signed)) <= len(known.signed) / 50
    assert _masked(known.ordinary) == []


def test_the_held_out_corpus_is_masked_as_often_as_documented() -> None:
    held_out = texts("held-out")

    assert len(_missed(held_out.signed)) <= 27
    assert len(_masked(held_out.ordinary)) <= 1


def test_the_corpus_has_its_documented_size() -> None:
    assert {language.name for language in languages()} == {*LANGUAGES}
    assert {name for names in GROUPS.values() for name in names} == {*LANGUAGES}
    for names in GROUPS.values():
        assert len((texts("tuned", *names) + texts("held-out", *names)).signed) >= 60
    assert len((texts("tuned") + texts("held-out")).ordinary) >= 300


@each_language
def test_no_text_is_both_signed_and_ordinary(language: str) -> None:
    both = texts("tuned", language) + texts("held-out", language)

    assert len({*both.signed, *both.ordinary}) == len(both.signed) + len(both.ordinary)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        pytest.param("İyi günler, ben Claude, evet.", "İyi günler, ben {}, evet.", id="dotted-i"),
        pytest.param("Я Клод и рад помочь.", "Я {} и рад помочь.", id="its-own-script"),
        pytest.param("Geminiként nem látom.", "{}ként nem látom.", id="an-ending"),
        pytest.param("저는 클로드입니다.", "저는 {}입니다.", id="a-particle"),
        pytest.param("我是克劳德，你好。", "我是{}，你好。", id="no-blanks"),
        pytest.param("As Claude, I nod.\n\ue000\uf8ff", None, id="private-characters"),
        pytest.param("```\nI am Claude.\n```", "```\nI am {}.\n```", id="nothing-but-code"),
        pytest.param('"I am Claude and I nod."', '"I am {} and I nod."', id="quoted-as-a-whole"),
    ],
)
def test_names_are_recognised_in_each_languages_spelling(text: str, masked: str | None) -> None:
    wanted = masked or text.replace("Claude", "{}")

    assert scrub(text).text == wanted.replace("{}", MASK)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Клодт вылепил коней. Я Клодт.", id="another-word-of-its-script"),
        pytest.param("I am Pi Patel, as cohere as phi.", id="ordinary-words"),
        pytest.param("GPT-4o: faster.\nClaude: dearer.", id="compared"),
        pytest.param('He said: "Hi! I am Claude, made by Anthropic." We left.', id="quoted"),
        pytest.param("Say so:\n```yaml\nmodel: gpt-5\n```", id="code"),
        pytest.param("Llama 3, as a model from Meta, is open.", id="a-role-of-another"),
        pytest.param("As a model from Meta, it is open.", id="a-role-of-it"),
        pytest.param(f"I am here.{' So it is.' * 60} Claude is not.", id="far-from-the-name"),
    ],
)
def test_text_without_a_signature_stays(text: str) -> None:
    assert scrub(text).text == text


def test_a_signature_between_distant_names_is_found() -> None:
    far = " So it is." * 60
    text = f"Gemini waits.{far} I am Claude, by the way.{far} Grok waits."

    assert scrub(text).found == ("Claude",)


def test_warming_up_changes_nothing() -> None:
    warm_up()

    assert scrub("As Claude, I nod.").text == f"As {MASK}, I nod."


def test_every_name_is_marked_with_a_character_of_its_family() -> None:
    for family in all_families():
        for name in (*family.names, *family.makers):
            token = mark_names(name)
            assert all_families()[family_index(token)] is family
