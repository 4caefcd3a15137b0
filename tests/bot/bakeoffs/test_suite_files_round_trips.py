"""A suite that is written parses to the same suite."""

import json

import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.bakeoffs.suite_files import parse_suite_file, question_fields, suite_csv, suite_document
from bot.chat import clean_text
from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion

_TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).map(clean_text).filter(bool)
_LABELS = st.sampled_from(["", "maths", "sql joins"])
_REFERENCES = st.one_of(
    st.none(),
    st.builds(Reference, st.just(Grading.EXACT), _TEXTS),
    st.builds(
        Reference,
        st.just(Grading.EXACT),
        _TEXTS,
        others=st.lists(_TEXTS, min_size=1, max_size=3).map(tuple),
    ),
    st.builds(
        Reference,
        st.just(Grading.NUMBER),
        st.integers(-(10**9), 10**9).map(str),
        st.floats(0, 1e6, allow_nan=False),
    ),
    st.builds(Reference, st.just(Grading.CHOICE), st.sampled_from(["B", "yes | no", "C) Paris"])),
    st.builds(Reference, st.just(Grading.CONTAINS), _TEXTS),
    st.builds(Reference, st.just(Grading.JSON), st.sampled_from(["any", '{"a": [1, "=x"]}', "-1"])),
    st.builds(Reference, st.just(Grading.REGEX), st.sampled_from([r"\d+", "(?i)a,b", '"x"'])),
)
_QUESTIONS = st.builds(SuiteQuestion, _TEXTS, _LABELS, _REFERENCES, st.one_of(st.just(""), _TEXTS))


def _key(question: SuiteQuestion) -> tuple[str, str]:
    return (
        " ".join(question.text.casefold().split()),
        " ".join(question.context.casefold().split()),
    )


SUITES = st.lists(_QUESTIONS, min_size=1, max_size=8, unique_by=_key).map(
    lambda questions: Suite("sql", tuple(questions))
)


@given(SUITES)
def test_csv(suite: Suite) -> None:
    assert parse_suite_file("sql", "sql.csv", suite_csv(suite).encode()) == suite


@given(SUITES)
def test_json_lines(suite: Suite) -> None:
    lines = (json.dumps(question_fields(question)) for question in suite.questions)

    assert parse_suite_file("sql", "sql.jsonl", "\n".join(lines).encode()) == suite


@given(SUITES)
def test_json(suite: Suite) -> None:
    text = json.dumps(suite_document(suite)["questions"], ensure_ascii=False, indent=2)

    assert parse_suite_file("sql", "sql.json", text.encode()) == suite


@given(SUITES)
def test_yaml(suite: Suite) -> None:
    text = yaml.safe_dump([question_fields(question) for question in suite.questions])

    assert parse_suite_file("sql", "sql.yaml", text.encode()) == suite
