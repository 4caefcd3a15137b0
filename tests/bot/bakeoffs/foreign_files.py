"""Files in the shapes of well-known data sets and tools, with what a suite must make of each.

Every text is our own; only the names of columns and the nesting are those of the shape.
"""

import json
from dataclasses import dataclass, field

from bot.bakeoffs.item_values import HOW_TO_CHOOSE


@dataclass(frozen=True)
class Shape:
    """A file, and what must be asked and graded of its first question.

    `choice` is the text of the right one of several choices. A question whose grader can't be
    imported is `lost`; a file that can't be imported is `refused` with these words.
    """

    filename: str
    text: str
    question: str = ""
    grading: str = ""
    value: str = ""
    others: tuple[str, ...] = ()
    choice: str = ""
    category: str = ""
    context: str = ""
    lost: bool = False
    refused: str = ""
    left_out: frozenset[str] = field(default=frozenset())


def lines(*items: object) -> str:
    """Return JSON Lines."""
    return "\n".join(map(json.dumps, items))


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


RIVER = "Which river flows through Vienna?"
RIVERS = ["Rhine", "Danube", "Elbe", "Oder"]
SUM = "What is 17 + 25?"
WHY = "Why does ice float on water?"
BECAUSE = "Ice is less dense than water, because its molecules form an open lattice."
SAYS = f"Says the same as this reference answer:\n{BECAUSE}"
SIX = "Which month has thirty days and follows May?"
BE_BRIEF = {"role": "system", "content": "Be brief."}

SHAPES: dict[str, Shape] = {
    # --- Choices
    "MMLU": Shape(
        "mmlu.jsonl",
        lines({"question": RIVER, "subject": "geography", "choices": RIVERS, "answer": 1}),
        RIVER,
        choice="Danube",
        category="geography",
    ),
    "MMLU as CSV with columns A to D": Shape(
        "mmlu.csv",
        f",Question,A,B,C,D,Answer,Subject\n0,{RIVER},{','.join(RIVERS)},B,geography\n",
        RIVER,
        choice="Danube",
        category="geography",
    ),
    "MMLU-Pro, ten options": Shape(
        "mmlu_pro.jsonl",
        lines(
            {
                "question_id": 70,
                "question": "Which number is prime?",
                "options": ["4", "6", "8", "9", "10", "12", "14", "15", "17", "18"],
                "answer": "I",
                "answer_index": 8,
                "cot_content": "",
                "category": "math",
                "src": "own",
            }
        ),
        "Which number is prime?",
        choice="17",
        category="math",
        left_out=frozenset({"answer_index"}),
    ),
    "GPQA": Shape(
        "gpqa.csv",
        "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,"
        "Incorrect Answer 3,Explanation,Subdomain,High-level domain\n"
        f"rec1,{RIVER},Danube,Rhine,Elbe,Oder,It is on the map.,Rivers,Geography\n",
        RIVER,
        choice="Danube",
        category="Geography",
        left_out=frozenset({"Explanation", "Subdomain"}),
    ),
    "ARC": Shape(
        "arc.jsonl",
        lines(
            {
                "id": "own_1",
                "question": RIVER,
                "choices": {"text": RIVERS, "label": ["A", "B", "C", "D"]},
                "answerKey": "B",
            }
        ),
        RIVER,
        choice="Danube",
    ),
    "ARC with numbered labels": Shape(
        "arc.jsonl",
        lines(
            {
                "question": RIVER,
                "choices": {"text": RIVERS, "label": ["1", "2", "3", "4"]},
                "answerKey": "2",
            }
        ),
        RIVER,
        choice="Danube",
    ),
    "ARC as first published": Shape(
        "arc.jsonl",
        lines(
            {
                "id": "own_1",
                "question": {
                    "stem": RIVER,
                    "choices": [
                        {"text": text, "label": label}
                        for text, label in zip(RIVERS, "ABCD", strict=True)
                    ],
                },
                "answerKey": "B",
            }
        ),
        RIVER,
        choice="Danube",
    ),
    "OpenBookQA": Shape(
        "obqa.jsonl",
        lines(
            {
                "id": "1-2",
                "question_stem": RIVER,
                "choices": {"text": RIVERS, "label": ["A", "B", "C", "D"]},
                "answerKey": "B",
            }
        ),
        RIVER,
        choice="Danube",
    ),
    "TruthfulQA, multiple choice": Shape(
        "truthful.jsonl",
        lines(
            {
                "question": "What happens if you swallow a seed?",
                "mc1_targets": {"choices": ["Nothing", "A tree grows"], "labels": [1, 0]},
                "mc2_targets": {"choices": ["Nothing", "A tree grows"], "labels": [1, 0]},
            }
        ),
        "What happens if you swallow a seed?",
        choice="Nothing",
        left_out=frozenset({"mc2_targets"}),
    ),
    "TruthfulQA, generation": Shape(
        "truthful.json",
        json.dumps(
            [
                {
                    "type": "Adversarial",
                    "category": "Myths",
                    "question": "What happens if you swallow a seed?",
                    "best_answer": "Nothing",
                    "correct_answers": ["Nothing", "It passes through you"],
                    "incorrect_answers": ["A tree grows", "You fall ill"],
                    "source": "own",
                }
            ]
        ),
        "What happens if you swallow a seed?",
        choice="Nothing",
        category="Myths",
        left_out=frozenset({"correct_answers", "type"}),
    ),
    "TruthfulQA as CSV": Shape(
        "truthful.csv",
        "Type,Category,Question,Best Answer,Best Incorrect Answer,Correct Answers,"
        "Incorrect Answers,Source\n"
        "Adversarial,Myths,What if you swallow a seed?,Nothing,A tree grows,"
        "Nothing; It passes,A tree grows; You fall ill,own\n",
        "What if you swallow a seed?",
        choice="Nothing",
        category="Myths",
        left_out=frozenset({"Correct Answers", "Incorrect Answers", "Type"}),
    ),
    "HellaSwag": Shape(
        "hellaswag.jsonl",
        lines(
            {
                "ind": 4,
                "activity_label": "Cooking",
                "ctx_a": "A man boils water.",
                "ctx_b": "he",
                "ctx": "A man boils water. he",
                "endings": ["flies away.", "adds the pasta.", "sings a car.", "is a spoon."],
                "split": "val",
                "label": "1",
            }
        ),
        "A man boils water. he",
        choice="adds the pasta.",
        category="Cooking",
        left_out=frozenset({"ctx_a", "ctx_b"}),
    ),
    "CommonsenseQA": Shape(
        "csqa.jsonl",
        lines(
            {
                "id": "x",
                "question": "Where do you keep milk cold?",
                "question_concept": "milk",
                "choices": {"label": ["A", "B"], "text": ["oven", "fridge"]},
                "answerKey": "B",
            }
        ),
        "Where do you keep milk cold?",
        choice="fridge",
        left_out=frozenset({"question_concept"}),
    ),
    "PIQA": Shape(
        "piqa.jsonl",
        lines({"goal": "Cool a drink.", "sol1": "Add ice.", "sol2": "Add salt.", "label": 0}),
        "Cool a drink.",
        choice="Add ice.",
    ),
    "Winogrande": Shape(
        "winogrande.jsonl",
        lines(
            {
                "sentence": "The box is in the van because _ is big.",
                "option1": "the box",
                "option2": "the van",
                "answer": "2",
            }
        ),
        "The box is in the van because _ is big.",
        choice="the van",
    ),
    "SciQ": Shape(
        "sciq.jsonl",
        lines(
            {
                "question": RIVER,
                "distractor1": "Rhine",
                "distractor2": "Elbe",
                "distractor3": "Oder",
                "correct_answer": "Danube",
                "support": "Vienna is on the Danube.",
            }
        ),
        RIVER,
        choice="Danube",
        context="Vienna is on the Danube.",
    ),
    "RACE": Shape(
        "race.jsonl",
        lines(
            {
                "example_id": "x",
                "article": "Ann has a dog.",
                "question": "What has Ann?",
                "options": ["A cat", "A dog"],
                "answer": "B",
            }
        ),
        "What has Ann?",
        choice="A dog",
        context="Ann has a dog.",
    ),
    "MedQA, options as a dictionary": Shape(
        "medqa.jsonl",
        lines(
            {
                "question": "Which vitamin prevents scurvy?",
                "options": {"A": "Vitamin A", "B": "Vitamin C", "C": "Vitamin D"},
                "answer_idx": "B",
                "answer": "Vitamin C",
                "meta_info": "step1",
            }
        ),
        "Which vitamin prevents scurvy?",
        choice="Vitamin C",
        left_out=frozenset({"answer_idx", "meta_info"}),
    ),
    "Trivia of a public API": Shape(
        "trivia.json",
        json.dumps(
            {
                "response_code": 0,
                "results": [
                    {
                        "type": "multiple",
                        "difficulty": "easy",
                        "category": "Geography",
                        "question": RIVER,
                        "correct_answer": "Danube",
                        "incorrect_answers": ["Rhine", "Elbe", "Oder"],
                    }
                ],
            }
        ),
        RIVER,
        choice="Danube",
        category="Geography",
        left_out=frozenset({"response_code", "type", "difficulty"}),
    ),
    "inspect_ai, choices": Shape(
        "inspect.jsonl",
        lines({"input": RIVER, "choices": RIVERS, "target": "B", "id": 7}),
        RIVER,
        choice="Danube",
    ),
    # --- Numbers and short answers
    "GSM8K": Shape(
        "gsm8k.jsonl",
        lines({"question": SUM, "answer": "17 + 25 = <<17+25=42>>42\n#### 42"}),
        SUM,
        "number",
        "42",
    ),
    "MATH": Shape(
        "math.jsonl",
        lines(
            {
                "problem": "Solve $x - 1 = 6$.",
                "level": "Level 1",
                "type": "Algebra",
                "solution": r"Add 1, so $x = \boxed{7}$.",
            }
        ),
        "Solve $x - 1 = 6$.",
        "number",
        "7",
        category="Algebra",
        left_out=frozenset({"level"}),
    ),
    "MATH-500": Shape(
        "math500.jsonl",
        lines(
            {
                "problem": "What is half of a third?",
                "solution": r"It is $\boxed{\frac{1}{6}}$.",
                "answer": r"\frac{1}{6}",
                "subject": "Prealgebra",
                "level": 1,
                "unique_id": "own/1.json",
            }
        ),
        "What is half of a third?",
        "number",
        r"\frac{1}{6}",
        category="Prealgebra",
        left_out=frozenset({"level", "solution"}),
    ),
    "AIME": Shape(
        "aime.csv",
        f"ID,Year,Problem Number,Question,Answer,Part\n2030-I-1,2030,1,{SUM},42,I\n",
        SUM,
        "number",
        "42",
        left_out=frozenset({"Year", "Problem Number", "Part"}),
    ),
    "SimpleQA": Shape(
        "simpleqa.csv",
        f"metadata,problem,answer\n\"{{'topic': 'Geography'}}\",{RIVER},Danube\n",
        RIVER,
        "exact",
        "Danube",
    ),
    "SQuAD, flat": Shape(
        "squad.jsonl",
        lines(
            {
                "id": "x",
                "title": "Vienna",
                "context": "Vienna is on the Danube, a river.",
                "question": RIVER,
                "answers": {"text": ["the Danube", "Danube"], "answer_start": [13, 17]},
            }
        ),
        RIVER,
        "exact",
        "the Danube",
        ("Danube",),
        context="Vienna is on the Danube, a river.",
        left_out=frozenset({"title"}),
    ),
    "TriviaQA": Shape(
        "triviaqa.jsonl",
        lines(
            {
                "question": RIVER,
                "question_id": "tc_1",
                "answer": {"value": "Danube", "aliases": ["Donau", "River Danube"]},
            }
        ),
        RIVER,
        "exact",
        "Danube",
        ("Donau", "River Danube"),
    ),
    "Natural Questions, open": Shape(
        "nq.jsonl",
        lines({"question": RIVER, "answer": ["Danube", "Donau"]}),
        RIVER,
        "exact",
        "Danube",
        ("Donau",),
    ),
    "DROP": Shape(
        "drop.jsonl",
        lines(
            {
                "passage": "They scored 3 goals, then 4.",
                "question": "How many goals?",
                "answers_spans": {"spans": ["7"], "types": ["number"]},
            }
        ),
        "How many goals?",
        "number",
        "7",
        context="They scored 3 goals, then 4.",
    ),
    "HotpotQA": Shape(
        "hotpot.jsonl",
        lines(
            {
                "id": "x",
                "question": RIVER,
                "answer": "Danube",
                "type": "bridge",
                "level": "hard",
                "supporting_facts": {"title": ["Vienna"], "sent_id": [0]},
            }
        ),
        RIVER,
        "exact",
        "Danube",
        category="bridge",
        left_out=frozenset({"level", "supporting_facts"}),
    ),
    "BoolQ": Shape(
        "boolq.jsonl",
        lines({"question": "is vienna on the danube", "passage": "It is.", "answer": True}),
        "is vienna on the danube",
        "exact",
        "true",
        ("yes",),
        context="It is.",
    ),
    "BIG-Bench Hard": Shape(
        "bbh.json",
        json.dumps(
            {"canary": "own", "examples": [{"input": "not ( True ) is", "target": "False"}]}
        ),
        "not ( True ) is",
        "exact",
        "False",
        left_out=frozenset({"canary"}),
    ),
    # --- Programs and checks that only their tools can run
    "HumanEval": Shape(
        "humaneval.jsonl",
        lines(
            {
                "task_id": "Own/0",
                "prompt": "def double(x):\n    ...\n",
                "entry_point": "double",
                "canonical_solution": "    return 2 * x\n",
                "test": "def check(f):\n    assert f(2) == 4\n",
            }
        ),
        "def double(x):\n    ...",
        lost=True,
        left_out=frozenset({"entry_point", "canonical_solution", "test"}),
    ),
    "MBPP": Shape(
        "mbpp.jsonl",
        lines(
            {
                "task_id": 1,
                "text": "Double a number.",
                "code": "def d(x): return 2 * x",
                "test_list": ["assert d(2) == 4"],
            }
        ),
        "Double a number.",
        lost=True,
        left_out=frozenset({"code", "test_list"}),
    ),
    "IFEval": Shape(
        "ifeval.jsonl",
        lines(
            {
                "key": 1,
                "prompt": "Write a poem without commas.",
                "instruction_id_list": ["punctuation:no_comma"],
                "kwargs": [{}],
            }
        ),
        "Write a poem without commas.",
        lost=True,
        left_out=frozenset({"instruction_id_list", "key"}),
    ),
    "HealthBench": Shape(
        "health.jsonl",
        lines(
            {
                "prompt": [_user("I have a headache."), _assistant("How long?"), _user("A day.")],
                "rubrics": [{"criterion": "Says to rest.", "points": 5, "tags": []}],
                "prompt_id": "x",
            }
        ),
        "A day.",
        lost=True,
        context="User: I have a headache.\n\nAssistant: How long?",
        left_out=frozenset({"rubrics"}),
    ),
    # --- Open questions
    "MT-bench, one turn": Shape(
        "mt.jsonl",
        lines({"question_id": 81, "category": "writing", "turns": [WHY]}),
        WHY,
        category="writing",
    ),
    "MT-bench, two turns with references": Shape(
        "mt.jsonl",
        lines(
            {
                "question_id": 111,
                "category": "math",
                "turns": [SUM, "Now double it."],
                "reference": ["42", "84"],
            }
        ),
        "Now double it.",
        "number",
        "84",
        category="math",
        context=f"User: {SUM}\n\nAssistant: 42",
    ),
    "Arena-Hard": Shape(
        "arena.jsonl",
        lines(
            {
                "question_id": "x",
                "category": "arena-hard-v0.1",
                "cluster": "Physics",
                "turns": [{"content": WHY}],
            }
        ),
        WHY,
        category="arena-hard-v0.1",
        left_out=frozenset({"cluster"}),
    ),
    "Arena-Hard 2": Shape(
        "arena.jsonl",
        lines({"uid": "x", "category": "hard_prompt", "subcategory": "coding", "prompt": WHY}),
        WHY,
        category="hard_prompt",
        left_out=frozenset({"subcategory"}),
    ),
    "AlpacaEval": Shape(
        "alpaca_eval.json",
        json.dumps(
            [
                {
                    "dataset": "helpful_base",
                    "instruction": WHY,
                    "output": "A model wrote this.",
                    "generator": "text_davinci_003",
                }
            ]
        ),
        WHY,
        category="helpful_base",
        lost=True,
        left_out=frozenset({"output", "generator"}),
    ),
    "Alpaca": Shape(
        "alpaca.json",
        json.dumps(
            [{"instruction": "Translate to French.", "input": "Hello", "output": "Bonjour"}]
        ),
        "Translate to French.",
        "exact",
        "Bonjour",
        context="Hello",
    ),
    "Dolly": Shape(
        "dolly.jsonl",
        lines(
            {"instruction": WHY, "context": "", "response": BECAUSE, "category": "open_qa"},
        ),
        WHY,
        "judge",
        SAYS,
        category="open_qa",
    ),
    "OpenAI chat messages": Shape(
        "chat.jsonl",
        lines({"messages": [BE_BRIEF, _user(SUM), _assistant("42")]}),
        SUM,
        "number",
        "42",
        context="Be brief.",
    ),
    "OpenAI completions": Shape(
        "completions.jsonl",
        lines({"prompt": SUM, "completion": " 42"}),
        SUM,
        "number",
        "42",
    ),
    "ShareGPT": Shape(
        "sharegpt.json",
        json.dumps(
            [
                {
                    "id": "x",
                    "conversations": [
                        {"from": "human", "value": "Hi"},
                        {"from": "gpt", "value": "Hello"},
                        {"from": "human", "value": SUM},
                        {"from": "gpt", "value": "42"},
                    ],
                }
            ]
        ),
        SUM,
        "number",
        "42",
        context="User: Hi\n\nAssistant: Hello",
    ),
    "Preferences": Shape(
        "dpo.jsonl",
        lines({"prompt": WHY, "chosen": "Because.", "rejected": "No idea."}),
        WHY,
        left_out=frozenset({"chosen", "rejected"}),
    ),
    # --- Tools
    "DeepEval": Shape(
        "deepeval.json",
        json.dumps(
            [
                {
                    "input": WHY,
                    "actual_output": "It is cold.",
                    "expected_output": BECAUSE,
                    "context": ["Water expands when it freezes.", "Wood floats too."],
                    "retrieval_context": None,
                    "additional_metadata": {"owner": "me"},
                }
            ]
        ),
        WHY,
        "judge",
        SAYS,
        context="Water expands when it freezes.\n\nWood floats too.",
        left_out=frozenset({"actual_output"}),
    ),
    "Ragas": Shape(
        "ragas.jsonl",
        lines(
            {
                "user_input": WHY,
                "retrieved_contexts": ["Water expands when it freezes."],
                "response": "It is cold.",
                "reference": BECAUSE,
            }
        ),
        WHY,
        "judge",
        SAYS,
        context="Water expands when it freezes.",
        left_out=frozenset({"response"}),
    ),
    "Ragas, older": Shape(
        "ragas.csv",
        f'question,contexts,answer,ground_truth\n{WHY},Water expands.,It is cold.,"{BECAUSE}"\n',
        WHY,
        "judge",
        SAYS,
        context="Water expands.",
        left_out=frozenset({"answer"}),
    ),
    "LangSmith": Shape(
        "langsmith.jsonl",
        lines(
            {
                "id": "x",
                "inputs": {"question": RIVER},
                "outputs": {"answer": "Danube"},
                "metadata": {"dataset_split": ["base"]},
            }
        ),
        RIVER,
        "exact",
        "Danube",
    ),
    "LangSmith, chat": Shape(
        "langsmith.jsonl",
        lines({"inputs": {"messages": [_user(SUM)]}, "outputs": {"message": _assistant("42")}}),
        SUM,
        "number",
        "42",
    ),
    "Langfuse": Shape(
        "langfuse.json",
        json.dumps(
            [
                {
                    "id": "x",
                    "status": "ACTIVE",
                    "input": {"question": RIVER},
                    "expectedOutput": {"answer": "Danube"},
                    "metadata": None,
                    "sourceTraceId": None,
                }
            ]
        ),
        RIVER,
        "exact",
        "Danube",
        left_out=frozenset({"status"}),
    ),
    "Braintrust": Shape(
        "braintrust.jsonl",
        lines({"id": "x", "input": RIVER, "expected": "Danube", "metadata": {}, "tags": ["a"]}),
        RIVER,
        "exact",
        "Danube",
        left_out=frozenset({"tags"}),
    ),
    "Phoenix": Shape(
        "phoenix.csv",
        f"input,output,metadata\n{RIVER},Danube,{{}}\n",
        RIVER,
        "exact",
        "Danube",
    ),
    "HELM": Shape(
        "helm.json",
        json.dumps(
            [
                {
                    "input": {"text": RIVER},
                    "references": [
                        {"output": {"text": "Rhine"}, "tags": []},
                        {"output": {"text": "Danube"}, "tags": ["correct"]},
                    ],
                    "split": "test",
                    "id": "id1",
                }
            ]
        ),
        RIVER,
        choice="Danube",
    ),
    "lm-eval samples": Shape(
        "samples.jsonl",
        lines(
            {
                "doc_id": 0,
                "doc": {"question": SUM, "answer": "So it is 42.\n#### 42"},
                "target": "So it is 42.\n#### 42",
                "arguments": [["Q", {}]],
                "resps": [["42"]],
            }
        ),
        SUM,
        "number",
        "42",
        left_out=frozenset({"target", "arguments", "resps"}),
    ),
    "inspect_ai": Shape(
        "inspect.jsonl",
        lines({"input": [BE_BRIEF, _user(RIVER)], "target": ["Danube", "Donau"], "id": 1}),
        RIVER,
        "exact",
        "Danube",
        ("Donau",),
        context="Be brief.",
    ),
    "OpenAI Evals": Shape(
        "evals.jsonl",
        lines({"input": [BE_BRIEF, _user(RIVER)], "ideal": "Danube"}),
        RIVER,
        "exact",
        "Danube",
        context="Be brief.",
    ),
    "OpenAI Evals, data source": Shape(
        "evals.jsonl",
        lines({"item": {"question": RIVER, "expected_answer": "Danube"}}),
        RIVER,
        "exact",
        "Danube",
    ),
    "MLflow": Shape(
        "mlflow.csv",
        f"inputs,ground_truth\n{RIVER},Danube\n",
        RIVER,
        "exact",
        "Danube",
    ),
    "Data set viewer": Shape(
        "rows.json",
        json.dumps(
            {
                "features": [{"name": "question"}],
                "rows": [{"row_idx": 0, "row": {"question": SUM, "answer": "42"}}],
            }
        ),
        SUM,
        "number",
        "42",
        left_out=frozenset({"features"}),
    ),
    "YAML of question and target": Shape(
        "own.yaml",
        f"- input: {RIVER}\n  target: [Danube, Donau]\n",
        RIVER,
        "exact",
        "Danube",
        ("Donau",),
    ),
    "promptfoo CSV": Shape(
        "promptfoo.csv",
        f"question,__expected,__description\n{RIVER},icontains: danube,A river\n",
        RIVER,
        "regex",
        "(?i)danube",
    ),
    "promptfoo JSON": Shape(
        "promptfoo.json",
        json.dumps(
            {
                "prompts": ["Answer: {{q}}"],
                "providers": ["openai:gpt-5"],
                "tests": [
                    {"vars": {"q": RIVER}, "assert": [{"type": "equals", "value": "Danube"}]}
                ],
            },
            indent=2,
        ),
        f"Answer: {RIVER}",
        "exact",
        "Danube",
    ),
    "promptfoo YAML": Shape(
        "promptfooconfig.yaml",
        "description: Rivers\nproviders: [openai:gpt-5]\nprompts: ['{{q}}']\ntests:\n"
        f"- vars: {{q: '{RIVER}'}}\n  assert: [{{type: contains, value: Danube, metric: m}}]\n",
        RIVER,
        "contains",
        "Danube",
    ),
    "promptfoo tests as JSON Lines": Shape(
        "tests.jsonl",
        lines(
            {
                "vars": {"question": RIVER},
                "assert": [{"type": "equals", "value": "Danube"}, {"type": "cost"}],
            }
        ),
        RIVER,
        lost=True,
        left_out=frozenset({"assert cost"}),
    ),
    # --- What can't be told, or not graded
    "an answer of several parts": Shape(
        "parts.jsonl",
        lines({"inputs": {"question": RIVER}, "outputs": {"answer": "Danube", "sources": ["x"]}}),
        RIVER,
        lost=True,
        left_out=frozenset({"outputs"}),
    ),
    "several choices": Shape(
        "several.jsonl",
        lines({"question": RIVER, "options": RIVERS, "answer": ["A", "B"], "id": 1}),
        f"{RIVER}\n\nA) Rhine\nB) Danube\nC) Elbe\nD) Oder\n\n{HOW_TO_CHOOSE}",
        lost=True,
        left_out=frozenset({"answer"}),
    ),
    "a number that is a choice and an index": Shape(
        "number.jsonl",
        lines({"question": SUM, "options": ["41", "0", "42"], "answer": "0", "id": 1}),
        f"{SUM}\n\nA) 41\nB) 0\nC) 42\n\n{HOW_TO_CHOOSE}",
        lost=True,
        left_out=frozenset({"answer"}),
    ),
    "the number of a class": Shape(
        "classes.jsonl",
        lines({"text": WHY, "label": 1}),
        WHY,
        lost=True,
        left_out=frozenset({"label"}),
    ),
    "an answer of 20,000 characters": Shape(
        "long.jsonl",
        lines({"question": WHY, "expected_output": "x" * 20_000}),
        WHY,
        lost=True,
        left_out=frozenset({"expected_output"}),
    ),
    "an answer that is null": Shape("null.jsonl", lines({"input": WHY, "expected": None}), WHY),
    "answers of two models": Shape(
        "pairs.jsonl",
        lines({"prompt": WHY, "answer_a": "Cold.", "answer_b": "Air.", "winner": "b"}),
        WHY,
        left_out=frozenset({"answer_a", "answer_b", "winner"}),
    ),
    "choices that are no texts": Shape(
        "odd.jsonl",
        lines({"question": RIVER, "choices": "Rhine or Danube", "answer": "B"}),
        refused="no usable question.*its choices are no list of 2 to 26 texts",
    ),
    "two questions": Shape(
        "two.csv",
        f"prompt,query,answer\n{RIVER},{SUM},42\n",
        refused="Line 2 has two columns that could be the question: prompt and query",
    ),
    "no question": Shape("none.csv", "name,age\nAnn,42\n", refused="no column with a question"),
    "indices that count from 1": Shape(
        "one.jsonl",
        lines(
            {"question": RIVER, "choices": RIVERS, "answer": 2},
            {"question": SUM, "choices": ["40", "41", "43", "42"], "answer": 4},
        ),
        refused="Line 2: the answer 4 is none of the 4 choices",
    ),
    "SWE-bench": Shape(
        "swe.jsonl",
        lines({"problem_statement": "Fix it.", "patch": "-a\n+b", "test_patch": "x"}),
        "Fix it.",
        lost=True,
        left_out=frozenset({"patch", "test_patch"}),
    ),
    # --- Shapes that once came in wrong
    "TruthfulQA, scores of choices": Shape(
        "truthful.json",
        json.dumps([{"question": RIVER, "mc1_targets": {"Rhine": 0, "Danube": 1, "Elbe": 0}}]),
        RIVER,
        choice="Danube",
    ),
    "scores without a right choice": Shape(
        "truthful.json",
        json.dumps([{"question": RIVER, "mc1_targets": {"choices": RIVERS}}]),
        refused="its mc1_targets say of no single choice that it is right",
    ),
    "BIG-bench, scores of choices": Shape(
        "task.json",
        json.dumps({"examples": [{"input": RIVER, "target_scores": {"Elbe": 0, "Danube": 1}}]}),
        RIVER,
        choice="Danube",
    ),
    "an index past choices that are numbers": Shape(
        "number.jsonl",
        lines({"question": SUM, "choices": ["41", "42"], "answer": 42}),
        SUM,
        choice="42",
    ),
    "a number among numbers, or an index": Shape(
        "number.jsonl",
        lines({"question": SUM, "choices": [2, 42, 1], "answer": 1}),
        f"{SUM}\n\nA) 2\nB) 42\nC) 1\n\n{HOW_TO_CHOOSE}",
        lost=True,
        left_out=frozenset({"answer"}),
    ),
    "choices that begin with their letters": Shape(
        "letters.jsonl",
        lines({"question": RIVER, "options": ["A) Rhine", "B) Danube"], "answer": "Danube"}),
        RIVER,
        choice="Danube",
    ),
    "DROP, parts of an answer": Shape(
        "drop.jsonl",
        lines({"question": SUM, "answer": {"number": "42", "date": {"day": ""}, "spans": []}}),
        SUM,
        "number",
        "42",
    ),
    "SQuAD 2, no answer": Shape(
        "squad.jsonl",
        lines({"question": WHY, "context": "Ice.", "answers": {"text": [], "answer_start": []}}),
        WHY,
        context="Ice.",
    ),
    "SVAMP": Shape(
        "svamp.jsonl",
        lines({"ID": "1", "Body": "Ann has 17 and Bo 25.", "Question": SUM, "Answer": 42.0}),
        SUM,
        "number",
        "42.0",
        context="Ann has 17 and Bo 25.",
    ),
    "an answer without a number": Shape("nan.jsonl", '{"prompt": "Why?", "answer": NaN}', "Why?"),
    "a list of Python": Shape(
        "pandas.csv",
        f"prompt,answers\n{WHY},\"['Ice', 'Air']\"\n",
        WHY,
        lost=True,
        left_out=frozenset({"answers"}),
    ),
    "DeepEval, expected tools": Shape(
        "tools.json",
        json.dumps([{"input": SUM, "expected_output": "42", "expected_tools": [{"name": "sum"}]}]),
        SUM,
        lost=True,
        left_out=frozenset({"expected_tools"}),
    ),
    "MLflow, expected facts": Shape(
        "facts.jsonl",
        lines({"inputs": {"question": WHY}, "expectations": {"expected_facts": ["Ice", "Air"]}}),
        WHY,
        lost=True,
        left_out=frozenset({"expected_facts"}),
    ),
    "Bedrock": Shape(
        "bedrock.jsonl", lines({"prompt": SUM, "referenceResponse": "42"}), SUM, "number", "42"
    ),
    "calls of tools": Shape(
        "calls.jsonl",
        lines({"messages": [_user(SUM), {"role": "assistant", "content": "", "tool_calls": [1]}]}),
        refused="it has more than text",
    ),
    "results of tools": Shape(
        "calls.jsonl",
        lines({"messages": [_user(SUM), {"role": "tool", "content": "42"}]}),
        refused="it has more than text",
    ),
    "JSON Lines with the ending of JSON": Shape(
        "lines.json", lines({"prompt": SUM, "target": 42}, {"prompt": WHY}), SUM, "number", "42"
    ),
    "a line for spreadsheets": Shape("s.csv", "sep=;\nquestion;answer\n", refused="Remove it"),
    "columns of other names after semicolons": Shape(
        "s.csv", "Frage;Antwort\nWarum?;Darum\n", refused="Line 1 is no header"
    ),
    "a quiz with flags": Shape(
        "quiz.json",
        json.dumps(
            [
                {
                    "question": RIVER,
                    "answers": [
                        {"text": "Rhine", "isCorrect": False},
                        {"text": "Danube", "isCorrect": True},
                    ],
                }
            ]
        ),
        RIVER,
        choice="Danube",
    ),
    "a quiz with an index": Shape(
        "quiz.jsonl",
        lines({"question": RIVER, "answers": RIVERS, "correct": 1}),
        RIVER,
        choice="Danube",
    ),
    "indices from 0 of columns from 1": Shape(
        "options.csv",
        f"question,option1,option2,answer\n{RIVER},Danube,Rhine,0\n",
        refused="Line 2: the answer 0 is none of the 2 choices, which count from 1",
    ),
    "the number of a choice without choices": Shape(
        "index.jsonl",
        lines({"question": RIVER, "correct_index": 1}),
        RIVER,
        lost=True,
        left_out=frozenset({"correct_index"}),
    ),
    "what an answer cites": Shape(
        "cited.jsonl",
        lines({"question": SUM, "references": ["https://a.example/"], "answer": "42", "id": 1}),
        SUM,
        "number",
        "42",
        left_out=frozenset({"references"}),
    ),
    "OlympiadBench": Shape(
        "olympiad.jsonl",
        lines({"question": SUM, "solution": ["Add them. Done"], "final_answer": ["42"]}),
        SUM,
        "number",
        "42",
        left_out=frozenset({"solution"}),
    ),
    "a question with a picture": Shape(
        "picture.jsonl",
        lines({"question": RIVER, "image": "map.png", "answer": "Danube"}),
        refused="it has image, and models get only text",
    ),
    "BBQ": Shape(
        "bbq.jsonl",
        lines({"question": RIVER, "ans0": "Rhine", "ans1": "Danube", "ans2": "Elbe", "label": 1}),
        RIVER,
        choice="Danube",
    ),
    "outputs with scores": Shape(
        "scores.csv",
        f"input,output,score\n{SUM},43,0.0\n",
        SUM,
        lost=True,
        left_out=frozenset({"output", "score"}),
    ),
    # --- Answers that are texts, and answers of models
    "a text that looks like a list": Shape(
        "list.jsonl",
        lines({"problem": "Solve |x - 2| < 5.", "answer": "[-2,7]"}),
        "Solve |x - 2| < 5.",
        "exact",
        "[-2,7]",
    ),
    "a cell that looks like a list": Shape(
        "list.csv", f'prompt,target\n{WHY},"[1, 2, 3]"\n', WHY, "exact", "[1, 2, 3]"
    ),
    "a list of texts as a text": Shape(
        "list.jsonl",
        lines({"problem": WHY, "answers": '["Ice", "Air"]'}),
        WHY,
        lost=True,
        left_out=frozenset({"answers"}),
    ),
    "a list of choices as a text": Shape(
        "list.csv",
        f'question,choices,answer\n{RIVER},"[""Rhine"", ""Danube""]",B\n',
        RIVER,
        choice="Danube",
    ),
    "more than 101 answers": Shape(
        "many.jsonl",
        lines({"prompt": WHY, "target": [f"{n}" for n in range(102)]}),
        WHY,
        lost=True,
        left_out=frozenset({"target"}),
    ),
    "not a number, in our own columns": Shape(
        "nan.jsonl", '{"question": "Why?", "answer": NaN}', "Why?"
    ),
    "infinity, in YAML": Shape("inf.yaml", "- prompt: Why?\n  target: -.inf\n", "Why?"),
    "a box without braces": Shape(
        "box.jsonl",
        lines({"problem": SUM, "solution": r"So $x = \boxed 42$."}),
        SUM,
        "number",
        "42",
    ),
    "a box without an end": Shape(
        "box.jsonl",
        lines({"problem": SUM, "solution": r"So it is \boxed 4 or 2"}),
        SUM,
        lost=True,
        left_out=frozenset({"solution"}),
    ),
    "an answer beside its model": Shape(
        "model.csv",
        f"question,answer,model_id,latency_ms\n{SUM},43,gpt,12\n",
        SUM,
        lost=True,
        left_out=frozenset({"answer", "model_id", "latency_ms"}),
    ),
    "an output that was graded": Shape(
        "graded.csv",
        f"question,output,correct\n{SUM},43,FALSE\n",
        SUM,
        lost=True,
        left_out=frozenset({"output", "correct"}),
    ),
    "an output beside the answer that was expected": Shape(
        "graded.csv",
        f"question,output,model,expected\n{SUM},43,gpt,42\n",
        SUM,
        "number",
        "42",
        left_out=frozenset({"output", "model"}),
    ),
    # --- Which choice is right
    "a number that is a choice and a column": Shape(
        "options.csv",
        f"question,option1,option2,option3,option4,answer\n{SUM},3,4,5,6,4\n",
        f"{SUM}\n\nA) 3\nB) 4\nC) 5\nD) 6\n\n{HOW_TO_CHOOSE}",
        lost=True,
        left_out=frozenset({"answer"}),
    ),
    "a number that is a choice only": Shape(
        "options.csv",
        f"question,option1,option2,answer\n{SUM},41,42,42\n",
        SUM,
        choice="42",
    ),
    "a quiz sheet": Shape(
        "sheet.csv",
        f"Question,Option A,Option B,Option C,Correct\n{RIVER},Rhine,Danube,Elbe,Option B\n",
        RIVER,
        choice="Danube",
    ),
    "a quiz sheet with numbers": Shape(
        "sheet.csv",
        f"Question,Choice 1,Choice 2,Correct Answer\n{RIVER},Rhine,Danube,Choice 2\n",
        RIVER,
        choice="Danube",
    ),
    "MedMCQA as letters": Shape(
        "medmcqa.jsonl",
        lines({"question": RIVER, "opa": "Rhine", "opb": "Danube", "opc": "Elbe", "cop": "b"}),
        RIVER,
        choice="Danube",
    ),
    "MedMCQA as numbers that count from 0 or 1": Shape(
        "medmcqa.jsonl",
        lines({"question": RIVER, "opa": "Rhine", "opb": "Danube", "cop": 1}),
        f"{RIVER}\n\nA) Rhine\nB) Danube\n\n{HOW_TO_CHOOSE}",
        lost=True,
        left_out=frozenset({"cop"}),
    ),
    **{
        f"the right choice as {name}": Shape(
            "key.jsonl",
            lines({"question": RIVER, "choices": RIVERS, name: 1}),
            RIVER,
            choice="Danube",
        )
        for name in ("right_index", "solution_idx", "key")
    },
    "the right choice as an unknown id": Shape(
        "key.jsonl",
        lines({"question": RIVER, "choices": RIVERS, "best_choice_id": "c2"}),
        f"{RIVER}\n\nA) Rhine\nB) Danube\nC) Elbe\nD) Oder\n\n{HOW_TO_CHOOSE}",
        lost=True,
        left_out=frozenset({"best_choice_id"}),
    ),
    "a column of numbers": Shape(
        "numbers.csv",
        f"#,question,answer,level\n7,{SUM},42,x\n",
        SUM,
        "number",
        "42",
        left_out=frozenset({"#", "level"}),
    ),
    # --- Who says what
    **{
        f"messages with {speaker}, {human} and {ai}": Shape(
            "chat.jsonl",
            lines({"messages": [{speaker: human, "content": SUM}, {speaker: ai, "content": "42"}]}),
            SUM,
            "number",
            "42",
        )
        for speaker, human, ai in (
            ("role", "User", "ASSISTANT"),
            ("type", "human", "ai"),
            ("sender", "human", "chatgpt"),
            ("from", "user", "bot"),
        )
    },
    "messages by somebody unknown": Shape(
        "chat.jsonl",
        lines({"messages": [_user(SUM), {"role": "critic", "content": "43"}]}),
        refused="a message with an unknown role",
    ),
    "messages that end with the system": Shape(
        "chat.jsonl",
        lines({"messages": [_user(SUM), BE_BRIEF]}),
        refused="last message before a reply is not by a user",
    ),
    # --- Not only texts, or not whole
    **{
        f"a question with {name}": Shape(
            "media.jsonl",
            lines({"question": RIVER, name: value, "answer": "Danube"}),
            refused=f"it has {name}, and models get only text",
        )
        for name, value in {
            "image_1": {"bytes": "x"},
            "decoded_image": "x",
            "file_name": "map.png",
            "tools": [{"name": "search"}],
        }.items()
    },
    "cells that were cut off": Shape(
        "rows.json",
        json.dumps({"rows": [{"row": {"question": SUM}, "truncated_cells": ["question"]}]}),
        refused="its cells were cut off",
    ),
    "test and train": Shape(
        "splits.json",
        json.dumps({"train": [{"question": WHY}], "test": [{"question": SUM, "answer": "42"}]}),
        SUM,
        "number",
        "42",
        left_out=frozenset({"train"}),
    ),
    "an object": Shape(
        "one.json", lines({"question": SUM}), refused="Write . before the first question"
    ),
    "a comma too many": Shape(
        "comma.json", '[{"question": "Why?"},\n]', refused="Line 2 .*Remove the comma"
    ),
    "JSON that is nested deeply": Shape(
        "deep.json",
        '[{"question": "Why?"},\n{"question": "How?", "x": ' + "[" * 60 + "]" * 60 + "}]",
        refused="Line 2 .*nested more than 50 deep",
    ),
}
