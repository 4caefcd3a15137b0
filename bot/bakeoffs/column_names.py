"""Column names of data sets and other tools: one table, and what stands next to questions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice

COLUMNS = (
    "question",
    "category",
    "answer",
    "other_answers",
    "grading",
    "tolerance",
    "rubric",
    "context",
    "checks",
)
# The names of each column elsewhere, in lower case with underscores. The first one that an item
# has counts; but an item with two that could be the question is refused.
_TABLE = {
    "question": """
        question questions prompt prompts input inputs problem problem_statement instruction query
        user_input question_stem stem sentence goal ctx text ticket_text turns messages
        conversation conversations conversation_input""",
    "answer": """
        correct_answer best_answer correct_label correct_option correct_index
        correct_answer_index answer_key final_answer final_decision exact_answer short_answer
        possible_answers ground_truth ground_truths gold gold_answer answer_number expected
        expected_answer expected_output expected_response reference_answer reference_response
        reference_output reference_outputs ideal reference references answer target targets
        answers answers_spans correct_answers solution label answer_idx answer_index output
        outputs completion right_answer correct_choice correct_letter correct""",
    "choices": "choices options endings answer_choices mc1_targets target_scores",
    "wrong choices": "incorrect_answers wrong_answers distractors",
    "category": """
        category subject subset topic task domain high_level_domain subdomain task_name
        activity_label type dataset""",
    "context": """
        context contexts passage article support paragraph background document documents story
        premise body puzzle narrative system_prompt system
        retrieved_contexts reference_contexts retrieval_context""",
    # What only its own tool can check, so that a question with one has no grade here.
    "check": """
        test tests test_list test_cases test_patch unit_tests input_output public_tests
        private_tests canonical_solution entry_point code patch instruction_id_list kwargs assert
        assertions asserts rubrics checklist grader graders scorer scorers evaluator evaluators
        criteria expected_tools expected_tool_calls expected_outcome expected_facts
        expected_chunks""",
}
NAMES: Mapping[str, Sequence[str]] = {column: names.split() for column, names in _TABLE.items()}
# Names that mean something else next to another column.
NEXT_TO: Mapping[tuple[str, str], str] = {
    ("input", "instruction"): "context",  # Alpaca
    ("response", "instruction"): "answer",  # Dolly
    ("correct", "answers"): "correct_answer",  # of a quiz
    ("answers", "correct_answer"): "choices",
    ("answers", "correct_index"): "choices",
}
# Columns that are no part of a question, and can't be its answer.
_IGNORED_NAMES = """
    id ids ind idx index uid uuid question_id example_id sample_id item_id doc_id task_id prompt_id
    record_id row_id unique_id row_idx row_index question_index source source_id source_file
    source_trace_id src url metadata additional_metadata split split_type created_at updated_at
    unnamed_0"""
IGNORED = {"", *_IGNORED_NAMES.split()}
# Which choice is right, in columns that mean this only next to choices.
KEY = re.compile(
    r"key|cop|(?:right|correct|true|best|gold|answer|solution|target|label)(?:_[a-z]+)*"
    r"_(?:i[dx]|idx|index|letter|key|number|no|label)"
)
MEDIA = re.compile(
    r"(?:[a-z]+_)?(?:image|picture|photo|audio|video)s?(?:_(?:[0-9]+|url|path|bytes|file))?"
    r"|file_name|tools"
)
# What a model wrote, if there is a column such as its model, its score or its time.
WRITTEN = {"output", "outputs", "completion", "answer", "response"}
MODEL = re.compile(r"model|model_id|model_name|generator|score|latency.*")
# Choices in columns of their own: A to J, or numbered; and columns with wrong answers.
LETTERED = re.compile(r"(?:(?:option|choice|op|answer)_?)?([a-j])")
NUMBERED = re.compile(r"(?:option|choice|sol|ending|ans)_?([0-9])")
WRONG = re.compile(r"(?:(?:best_)?incorrect_answer|wrong_answer|distractor)(?:_?[0-9])?")
MAX_NAMED = 50  # columns that are left out of a file
NO_QUESTION = (
    "it has no column with a question, such as question, prompt or input; name yours, as in "
    "`--question title`"
)


@lru_cache(maxsize=4096)
def normalize_name(name: str) -> str:
    """Return a column's name in lower case with underscores: "correct_answer"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()[:100])
    return re.sub(r"\W+", "_", spaced.lower()).strip("_") or spaced


def columns_sentence(names: Iterable[str]) -> str:
    """Return a sentence with the names of columns."""
    shown = [name.strip()[:40] for name in islice(names, MAX_NAMED)]
    return f"The columns are: {', '.join(filter(None, shown)) or 'none'}."
