"""Answers as models write them, graded against references."""

import pytest

from council.bakeoffs.graders import (
    check_reference,
    default_grading,
    default_reference,
    final_answer,
    grade,
    is_correct,
)
from council.bakeoffs.models import Grading, Reference
from council.errors import SuiteError

EXACT = [
    ("Paris", "Paris", True),
    ("Paris", "  paris.  ", True),
    ("Paris", "**Paris**", True),
    ("Paris", "“Paris”!", True),
    ("Paris", "Answer: Paris", True),
    ("Paris", "**Answer:** Paris.", True),
    ("Paris", "## Answer\n\nParis", True),
    ("Paris", "Final answer:\n`paris`", True),
    ("Paris", "The answer is Paris.", True),
    ("Paris", "It was Lyon once.\n\nParis", True),
    ("Paris", "\\boxed{\\text{Paris}}", True),
    ("Paris", "Answer: Lyon\nOn reflection:\nAnswer: Paris", True),
    ("Paris", "(Paris)", True),
    ("Paris", "Pa\u200bris", True),
    ("Paris.", "Paris", True),
    ("New  York", "new york", True),
    ("SELECT 1", "```sql\nselect 1\n```", True),
    ("C#", "C#", True),
    ("Paris", "The capital of France is Paris.", False),
    ("Paris", "Answer: Paris, I think", False),
    ("Paris", "Answer: Paris\nAnswer: Lyon", False),
    ("Paris", "Paris\nLyon", False),
    ("Paris", "The answer is not Paris", False),
    ("Paris", "", False),
    ("C", "C#", False),
    ("5", "-5", False),
    ("...", "", False),
    ("...", "...", True),
]
NUMBER = [
    ("42", 0, "42", True),
    ("42", 0, "The answer is **42**.", True),
    ("42", 0, "6 × 7 = 42", True),
    ("42", 0, "Answer: 6 × 7 = 42", True),
    ("42", 0, "Answer: x = 42 (see step 3)", True),
    ("42", 0, "Answer: 42 km, which is 26 miles", True),
    ("42", 0, "**Answer**\n42", True),
    ("42", 0, "First 40, then 41, at last 42.", True),
    ("42", 0, "$\\boxed{42}$ as shown in 3 steps", True),
    ("42", 0, "42.0", True),
    ("42", 0, "42km", True),
    ("42", 0, "the 42nd", True),
    ("42", 0, "The answer is not 41 but 42", True),
    ("42", 0, "Answer: none\nSo 42", True),
    ("42", 0, "42 of them, of 100", False),
    ("42", 0, "43", False),
    ("42", 0, "CO42", False),
    ("42", 0, "forty-two", False),
    ("42", 0, "", False),
    ("-5", 0, "-5", True),
    ("-5", 0, "−5", True),
    ("-5", 0, "It falls to –5 °C", True),
    ("-5", 0, "5", False),
    ("5", 0, "3-5", True),
    ("5", 0, "- 5", True),
    ("1234567", 0, "1,234,567", True),
    ("1234567", 0, "1 234 567", True),
    ("1234567", 0, "1\u202f234\u202f567", True),
    ("1234567", 0, "1'234'567", True),
    ("1234567", 0, "1.234.567", True),
    ("1234.56", 0, "1.234,56", True),
    ("1234.56", 0, "1,234.56", True),
    ("1234.56", 0, "$1,234.56", True),
    ("-1234.56", 0, "-$1,234.56", True),
    ("100", 0, "US$100", True),
    ("1234", 0, "1{,}234", True),
    ("3.14", 0, "3,14", True),
    ("1234", 0, "1,234", True),
    ("1.234", 0, "1.234", True),
    ("3", 0, "1,2,3", True),
    ("0.5", 0, ".5", True),
    ("0.5", 0, "1/2", True),
    ("0.75", 0, "\\frac{3}{4}", True),
    ("1/3", 0.001, "0.3333", True),
    ("1/3", 0, "0.3333", False),
    ("5", 0, "1/0, so 5", True),
    ("5", 0, "5, and 1/0", True),
    ("3.1", 0.1, "3.2", True),
    ("3.1", 0.1, "3.0", True),
    ("3.1", 0.1, "3.21", False),
    ("0.3", 0.3, "0", True),
    ("602000000000000000000000", 0, "6.02e23", True),
    ("6.02e23", 0, "6.02 × 10^23", True),
    ("6.02e23", 0, "6.02 × 10²³", True),
    ("6.02e23", 0, "$6.02 \\times 10^{23}$", True),
    ("0.001", 0, "1e-3", True),
    ("0.001", 0, "10^−3", True),
    ("1024", 0, "2**10", True),
    ("1024", 0, "2^10 = 1,024", True),
    ("1500000", 0, "1.5 million", True),
    ("25%", 0, "25 %", True),
    ("25%", 0, "25", True),
    ("25%", 0, "0.25", True),
    ("25%", 0, "25 percent", True),
    ("25", 0, "25%", True),
    ("0.25", 0, "25%", True),
    ("25%", 1, "0.26", True),
    ("25%", 0, "26%", False),
    ("0.5%", 0, "50%", False),
    ("5", 0, "1e9999", False),
    ("5", 0, "9" * 5000, False),
    ("5", 0, "0^-1", False),
    ("5", 0, "9999^999", False),
    ("1.5", 0, "version 1.5.2", False),
]
CHOICE = [
    ("B", "B", True),
    ("B", "b", True),
    ("B", "(B)", True),
    ("B", "B.", True),
    ("B", "**B**", True),
    ("B", "B) Paris", True),
    ("B", "b) Paris", True),
    ("B", "B. Vitamin C", True),
    ("B", "B: Paris", True),
    ("B", "The answer is B", True),
    ("B", "The answer is (B).", True),
    ("B", "The answer is option B because A is wrong.", True),
    ("B", "Answer: B\n\nA is wrong, C is older.", True),
    ("B", "Let me think.\n\n- A is too old\n- C is too new\n\n**Answer: B**", True),
    ("B", "A is too old, C too new.\n\nB", True),
    ("B", "B\n\nBecause it is the only one left.", True),
    ("B", "I would go with option B here.", True),
    ("B", "It must be (B).", True),
    ("B", "$\\boxed{B}$", True),
    ("A", "A", True),
    ("A", "A because it is shorter", True),
    ("A", "A good answer needs thought: (A)", True),
    ("B", "I think it is (B)", True),
    ("B", "C", False),
    ("B", "A or B", False),
    ("B", "B and C", False),
    ("B", "(A), (B)", False),
    ("B", "Answer: A\n\nAnswer: B", False),
    ("B", "B\n\nC", False),
    ("B", "It is (B), not (C)", False),
    ("B", "The answer is C, not B", False),
    ("B", "Bananas", False),
    ("A", "A banana", False),
    ("B", "", False),
    ("X", "X-rays", False),
    ("B) Paris", "B", True),
    ("B) Paris", "Paris", True),
    ("B) Paris", "Paris is the capital", True),
    ("(B) Paris", "The answer is Paris.", True),
    ("B) Paris", "C) Paris", False),
    ("B) Paris", "It is London, not Paris", False),
    ("yes", "Yes.", True),
    ("yes", "Yes, because it has no cycle.", True),
    ("yes", "It has no cycle.\nYes", True),
    ("yes", "No.", False),
    ("yes", "Yes and no", False),
    ("yes", "Yes.\n\nNo.", False),
    ("no", "The answer is no.", True),
    ("true", "False", False),
    ("no | yes | perhaps", "Perhaps", False),
    ("less | more | equal", "I would say less.", True),
    ("less | more | equal", "I would say more.", False),
    ("less | more | equal", "Somewhat", False),
    ("a | ab", "ab", False),
    ("Postgres", "Postgres", True),
    ("Postgres", "MySQL, not Postgres", False),
]
REGEX = [
    (r"\bParis\b", "It is Paris.", True),
    (r"\bparis\b", "It is Paris.", False),
    (r"(?i)\bparis\b", "It is Paris.", True),
    (r"\A\d{4}-\d{2}-\d{2}\Z", "2026-11-21", True),
    (r"\A\d{4}-\d{2}-\d{2}\Z", "On 2026-11-21", False),
    (r"(a+)+\Z", "a" * 40 + "!" * 3, False),
    ("(", "(", False),
    (r"\A\w{1,100}-\d{0}\d{4,}\Z", "council-2026", True),
    (r"(?:a{10000}){10000}", "a", False),
]


@pytest.mark.parametrize(("value", "text", "right"), EXACT)
def test_an_exact_answer_says_the_same_words(value: str, text: str, right: bool) -> None:
    assert is_correct(Reference(Grading.EXACT, value), text) is right


@pytest.mark.parametrize(("value", "tolerance", "text", "right"), NUMBER)
def test_a_number_is_read_as_people_write_it(
    value: str, tolerance: float, text: str, right: bool
) -> None:
    assert is_correct(Reference(Grading.NUMBER, value, tolerance), text) is right


@pytest.mark.parametrize(("value", "text", "right"), CHOICE)
def test_a_choice_is_the_one_an_answer_ends_up_with(value: str, text: str, right: bool) -> None:
    assert is_correct(Reference(Grading.CHOICE, value), text) is right


@pytest.mark.parametrize(("value", "text", "right"), REGEX)
def test_a_pattern_is_searched_for_in_the_whole_answer(value: str, text: str, right: bool) -> None:
    assert is_correct(Reference(Grading.REGEX, value), text) is right


@pytest.mark.parametrize(
    ("value", "text", "right"),
    [
        ("SKIP LOCKED", "Use SELECT … FOR UPDATE SKIP LOCKED.", True),
        ("SKIP LOCKED", "Use `SKIP\n  LOCKED`.", True),
        ("New York", "In **New** York", True),
        ("SKIP LOCKED", "Use skip locked.", False),
        ("a*b", "aab", False),
    ],
)
def test_a_text_has_to_occur(value: str, text: str, right: bool) -> None:
    assert is_correct(Reference(Grading.CONTAINS, value), text) is right


@pytest.mark.parametrize(
    ("value", "text", "right"),
    [
        ('{"a": 1, "b": [true, null]}', '{"b":[true,null],"a":1.0}', True),
        ('{"a": 1}', 'Here it is:\n```json\n{"a": 1}\n```\nAnything else?', True),
        ('{"a": 1}', '```\n{"a": 2}\n```\r\n~~~json\r\n{"a": 1}\r\n~~~', True),
        ("[1, 2]", "[2, 1]", False),
        ("1", "true", False),
        ("1", "1e0", True),
        ("1", "1e99999999999999999999", False),
        ("0.1", "0.10000000000000000000000000000000001", False),
        ('{"a": 1}', 'Here it is: {"a": 1}', False),
        ("null", "NaN", False),
        ("any", '{"a": 1}', True),
        ("any", "```json\n[]\n```", True),
        ("any", "any", False),
        ("[]", "[" * 100_000, False),
    ],
)
def test_json_is_compared_by_its_values(value: str, text: str, right: bool) -> None:
    assert is_correct(Reference(Grading.JSON, value), text) is right


def test_a_grader_that_fails_gives_no_grade() -> None:
    assert grade(Reference(Grading.JSON, "{"), "[]") is None
    assert grade(Reference(Grading.JSON, "[]"), "[]") == 1
    assert grade(None, "[]") is None


def test_no_pattern_can_hang_the_bot() -> None:
    slow = Reference(Grading.REGEX, r"(?:(?:a|aa|a?)+)+$\d")

    assert not is_correct(slow, "a" * 5000 + "!")


@pytest.mark.parametrize("words", ["answer: " * 20_000, "answer " * 20_000, "1,234 " * 20_000])
@pytest.mark.parametrize("grading", [*Grading])
@pytest.mark.timeout(10)
def test_a_long_answer_is_graded_at_once(grading: Grading, words: str) -> None:
    grade(Reference(grading, "B"), words)


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        (Reference(Grading.EXACT, " "), "empty"),
        (Reference(Grading.EXACT, "x" * 2001), "2,001 characters"),
        (Reference(Grading.NUMBER, "1", float("nan")), "tolerance"),
        (Reference(Grading.NUMBER, "1", -1.0), "tolerance"),
        (Reference(Grading.EXACT, "1", 0.5), "or grade as a number"),
        (Reference(Grading.NUMBER, "ten"), "'ten' is not a number"),
        (Reference(Grading.NUMBER, "1/0"), "not a number"),
        (Reference(Grading.NUMBER, "x" * 50), "…' is not a number"),
        (Reference(Grading.CHOICE, "yes |"), "has an empty choice"),
        (Reference(Grading.REGEX, "("), "is not a valid regular expression"),
        (Reference(Grading.REGEX, "x" * 501), "501 characters"),
        (Reference(Grading.JSON, "{a: 1}"), "is not valid JSON"),
        (Reference(Grading.REGEX, "(?:(?:a{1000}){1000}){1000}"), "multiply to more than 20,000"),
        (Reference(Grading.REGEX, "a{,999999999}"), "write [+] or [*] instead"),
        (Reference(Grading.REGEX, "a{99999999,}"), "write [+] or [*] instead"),
        (Reference(Grading.REGEX, "(?P<a>x)(?P<a"), "is not a valid regular expression"),
    ],
)
def test_what_cannot_be_graded_is_refused_with_what_to_do(reference: Reference, told: str) -> None:
    with pytest.raises(SuiteError, match=told):
        check_reference(reference)


@pytest.mark.parametrize("grading", [*Grading])
def test_what_can_be_graded_is_let_through(grading: Grading) -> None:
    check_reference(Reference(grading, "42"))


@pytest.mark.parametrize(
    ("value", "grading"),
    [
        ("42", Grading.NUMBER),
        ("-1,234.5", Grading.NUMBER),
        ("25 %", Grading.NUMBER),
        ("$5", Grading.NUMBER),
        ("B", Grading.CHOICE),
        ("b", Grading.EXACT),
        ("Paris", Grading.EXACT),
        ("2026-11-21", Grading.EXACT),
        ("10 km", Grading.EXACT),
    ],
)
def test_the_default_grading_follows_the_answer(value: str, grading: Grading) -> None:
    assert default_grading(value) is grading


@pytest.mark.parametrize(
    ("solution", "value", "grading"),
    [
        ("48 + 24 = 72\n#### 72", "72", Grading.NUMBER),
        ("So many.\n#### 1,080\n", "1,080", Grading.NUMBER),
        ("#### -5", "-5", Grading.NUMBER),
        ("So:\n#### blue", "So:\n#### blue", Grading.EXACT),
        ("#### 72\nor so", "#### 72\nor so", Grading.EXACT),
    ],
)
def test_a_solution_that_ends_in_a_marked_number_is_that_number(
    solution: str, value: str, grading: Grading
) -> None:
    assert default_reference(solution) == Reference(grading, value)


def test_a_missing_grader_grades_nothing() -> None:
    assert grade(Reference(Grading.MISSING, "assert javascript", checks="0 of 1"), "six") is None


def test_checks_say_how_many_of_how_many() -> None:
    check_reference(Reference(Grading.EXACT, "a", checks="2 of 5"))

    with pytest.raises(SuiteError, match="Write them as in '2 of 5'"):
        check_reference(Reference(Grading.EXACT, "a", checks="most"))


@pytest.mark.parametrize(
    ("grading", "value", "text", "said"),
    [
        (Grading.NUMBER, "1", "First 3, then\nAnswer: 1,200", "1200"),
        (Grading.NUMBER, "1", "It is 25 %.", "25%"),
        (Grading.NUMBER, "1", "No idea.", ""),
        (Grading.CHOICE, "B", "**B**, since it fits", "b"),
        (Grading.CHOICE, "yes | no", "Answer: no", "no"),
        (Grading.CHOICE, "yes | no", "Yes.\nNo.", "no yes"),
        (Grading.EXACT, "Paris", "Lyon was it.\nAnswer: **Paris**.", "paris"),
        (Grading.EXACT, "Paris", "Lyon was it.\n\nParis", "paris"),
        (Grading.REGEX, "P.*", "", ""),
    ],
)
def test_answers_that_say_the_same_have_the_same_final_answer(
    grading: Grading, value: str, text: str, said: str
) -> None:
    assert final_answer(Reference(grading, value), text) == said


CITIES = Reference(Grading.EXACT, "Rome", others=("Oslo", "The Hague"))


@pytest.mark.parametrize(("answer", "right"), [("Rome", 1), ("the hague.", 1), ("Paris", 0)])
def test_one_of_several_right_answers_is_enough(answer: str, right: float) -> None:
    assert grade(CITIES, answer) == right


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        (Reference(Grading.NUMBER, "4", others=("four",)), "'four' is not a number"),
        (Reference(Grading.EXACT, "a", others=("",)), "The answer is empty"),
        (Reference(Grading.EXACT, "a", others=("b",) * 101), "more than 100 other answers"),
        (Reference(Grading.JUDGE, "a", others=("b",)), "A rubric has no other answers"),
    ],
)
def test_every_right_answer_is_checked(reference: Reference, why: str) -> None:
    with pytest.raises(SuiteError, match=why):
        check_reference(reference)
