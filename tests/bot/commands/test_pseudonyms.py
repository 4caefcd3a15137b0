"""People are Person 1, Person 2 to models, and have their names again where people read."""

import pytest

from bot.chat import Asker, Button, Buttons, Heading, Post, Prose, Table
from bot.commands.pseudonyms import Pseudonyms, mention, mentioned_ids, without_marks
from bot.render.people import name_people
from council.people import Person

ADA = Asker("U1", "Ada Lovelace", aliases=("ada",))
BEN = Asker("U2", "ben", aliases=("Ben Bitdiddle",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"ask {mention('U1')}!", "ask @Person 1!"),
        ("ask Ada Lovelace", "ask Person 1"),
        ("Ada's plan, ada", "Person 1's plan, Person 1"),
        ("@ben and U2", "@Person 2 and Person 2"),
        ("Ben said", "Person 2 said"),
        ("ben@acme.com", "Person 2@acme.com"),
        ("Benedict, adab, the bench", "Benedict, adab, the bench"),
        ("```ben = 1```", "```Person 2 = 1```"),
        (mention("U9"), "@somebody"),
    ],
)
def test_mentions_and_whole_words_are_replaced(text: str, expected: str) -> None:
    assert Pseudonyms([ADA, BEN], [text]).replace(text) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Ben", "ben, BEN and _ben_", "Person 1, Person 1 and _Person 1_"),
        ("ben", "see cv_ben.pdf, owner_ben1", "see cv_Person 1.pdf, owner_Person 11"),
        ("Ada Lovelace", "ada, not LOVELACE", "Person 1, not Person 1"),
        ("Jean-Luc O'Brien", "jean-luc, O'Brien, Jean", "Person 1, Person 1, Person 1"),
        ("ben.smith", "mail ben.smith@acme.com, Ben", "mail Person 1@acme.com, Person 1"),
        ("Jürgen", "Ju\u0308rgen", "Person 1"),
        ("ben (he/him, Acme)", "ben asks him at Acme", "Person 1 asks him at Acme"),
        ("Ben", "BenCV.pdf, Bens plan", "BenCV.pdf, Bens plan"),
        ("May Bo", "he may go to bo. May, Bo!", "he may go to bo. Person 1, Person 1!"),
        ("will", "will Will? @will, Will-o", "will Person 1? @Person 1, Will-o"),
        ("An", "an apple, An", "an apple, Person 1"),
        ("ben2", "ben22, ben2", "Person 122, Person 1"),
    ],
)
def test_names_and_their_parts_are_found_in_ordinary_dress_and_common_words_stay(
    name: str, text: str, expected: str
) -> None:
    assert Pseudonyms([Asker("U3", name)], [text]).replace(text) == expected


def test_a_person_called_like_part_of_a_model_leaves_it_its_name() -> None:
    names = Pseudonyms([Asker("U3", "Claude Monet")], [], reserved=["Claude Sonnet 4.6"])

    assert names.replace("Claude or claude monet?") == "Claude or Person 1?"


def test_an_unknown_person_has_only_an_id() -> None:
    assert Pseudonyms([Asker("U0ABC", "U0ABC")], []).replace("abc U0ABC") == "abc Person 1"


def test_all_names_of_two_entries_of_one_person_are_found() -> None:
    known = [Person(3, "U1", "countess")]

    names = Pseudonyms([ADA, Asker("U1", "augusta")], [], known=known)

    assert names.replace("countess, Ada Lovelace, augusta, ada") == ", ".join(["Person 3"] * 4)
    assert names.people == (Person(3, "U1", "Ada Lovelace"),)


def test_a_number_that_somebody_wrote_is_nobodys() -> None:
    text = "Person 1 in the figure, ben"

    names = Pseudonyms([BEN], [text])

    assert names.replace(text) == "person 1 in the figure, Person 2"
    assert names.replace_names("Person 1 asked ben") == "Person 1 asked Person 2"


def test_somebody_called_like_a_pseudonym_has_another() -> None:
    odd = Asker("U3", "Person 1")

    names = Pseudonyms([odd, BEN], ["Person 1 said it"])

    assert names.replace("Person 1 said it to ben") == "Person 2 said it to Person 3"
    assert [one.number for one in names.people] == [2, 3]


def test_somebody_called_like_a_model_does_not_take_its_name() -> None:
    odd = Asker("U3", "Claude Sonnet 4.6")

    names = Pseudonyms([odd], [], reserved=["Claude Sonnet 4.6"])

    assert names.replace(f"{mention('U3')}: Claude Sonnet 4.6?") == "@Person 1: Claude Sonnet 4.6?"
    post = Post((Prose("Person 1 is right."),), "Person 1 is right.")
    shown = name_people(post, names.people, ["Claude Sonnet 4.6"])
    assert shown.summary == "“Claude Sonnet 4.6” (a person) is right."


def test_known_people_keep_their_numbers() -> None:
    known = (Person(4, "U2", "ben"), Person(1, "U8", "gus"))

    names = Pseudonyms([ADA, BEN], [], known=known)

    assert {one.id: one.number for one in names.people} == {"U2": 4, "U8": 1, "U1": 2}
    assert names.replace("gus") == "Person 1"


@pytest.mark.parametrize("name", ["I", "1", "🙂", "…", ""])
def test_a_name_of_hardly_a_letter_is_only_replaced_where_it_is_a_mention(name: str) -> None:
    names = Pseudonyms([Asker("U3", name)], [])

    assert names.replace(f"1. I see 🙂 … {mention('U3')}") == "1. I see 🙂 … @Person 1"


def test_names_of_scripts_without_spaces_are_found() -> None:
    assert Pseudonyms([Asker("U3", "王芳")], []).replace("问王芳吧") == "问Person 1吧"


@pytest.mark.parametrize("name", [r"a.*|b", "(xy", "\\1ab", "[z](http://e)", "x" * 300])
def test_hostile_names_are_only_text(name: str) -> None:
    names = Pseudonyms([Asker("U3", name)], [])

    assert names.replace(f"so {name} says") == "so Person 1 says"
    (shown,) = name_people(Post((Prose("Person 1"),)), names.people).parts
    assert isinstance(shown, Prose)
    assert len(shown.text) <= 60
    assert not set("[]`*<>|\\") & set(shown.text)


def test_marks_that_somebody_typed_are_removed() -> None:
    typed = f"{mention('U1')} hi"

    assert without_marks(typed) == "U1 hi"
    assert mentioned_ids(typed) == ["U1"]


def test_names_come_back_in_every_text_but_those_of_buttons() -> None:
    people = (Person(1, "U1", "Ada"), Person(12, "U2", "ben"))
    button = Buttons((Button("open", "Person 1", "Person 1"),))
    table = Table(("Person 1",), (("Person 12", "Person 2"),))

    post = name_people(Post((Heading("Person 1?"), table, button), "Person 12"), people)

    assert post == Post((Heading("Ada?"), Table(("Ada",), (("ben", "Person 2"),)), button), "ben")
    assert name_people(post, ()) is post
