"""Suites as promptfoo's documentation describes them: what is imported of each, and what is not."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A configuration: its questions with grader and value, and the names of what is left out.

    Without questions, the whole file is refused. A question that lost a check has the grader
    "missing", and what it lost as value.
    """

    yaml: str
    questions: tuple[tuple[str, str, str], ...] = ()
    left_out: tuple[str, ...] = ()


CAPITAL = "prompts: ['What is the capital of {{country}}?']\n"
FRANCE = "What is the capital of France?"
SIX = "prompts: [Six?]\ntests:\n- assert:\n"


def _six(assertions: str, grading: str, value: str, *left_out: str) -> Example:
    lines = "".join(f"  - {line}\n" for line in assertions.strip().split("\n"))
    return Example(SIX + lines, (("Six?", grading, value),), left_out)


def _lost(assertions: str, *names: str) -> Example:
    return _six(assertions, "missing", ", ".join(dict.fromkeys(names)), *names)


EXAMPLES = {
    "equals": Example(
        CAPITAL + "tests:\n- vars: {country: France}\n  assert: [{type: equals, value: Paris}]\n",
        ((FRANCE, "exact", "Paris"),),
    ),
    "providers": Example(
        CAPITAL + "providers: [openai:gpt-5-mini]\ntests: [{vars: {country: France}}]\n",
        ((FRANCE, "", ""),),
    ),
    "two prompts, two tests": Example(
        "prompts: ['{{a}}?', 'So {{a}}?']\ntests: [{vars: {a: x}}, {vars: {a: y}}]\n",
        (("x?", "", ""), ("So x?", "", ""), ("y?", "", ""), ("So y?", "", "")),
    ),
    "default test": Example(
        CAPITAL
        + "defaultTest: {vars: {country: France}, assert: [{type: contains, value: Paris}]}\n"
        "tests: [{}, {vars: {country: Italy}, assert: []}]\n".replace("[{}, ", "[{vars: {}}, "),
        ((FRANCE, "contains", "Paris"), ("What is the capital of Italy?", "contains", "Paris")),
    ),
    "variable in an assertion": Example(
        "prompts: ['Repeat {{word}}.']\ntests:\n"
        "- {vars: {word: blue}, assert: [{type: contains, value: '{{word}}'}]}\n",
        (("Repeat blue.", "contains", "blue"),),
    ),
    "list of values": Example(
        "prompts: ['{{a}} in {{b}}?']\ntests: [{vars: {a: [1, 2], b: [x, y]}}]\n",
        (("1 in x?", "", ""), ("1 in y?", "", ""), ("2 in x?", "", ""), ("2 in y?", "", "")),
    ),
    "icontains": _six("{type: icontains, value: New York}", "regex", "(?i)New York"),
    "contains-any": _six("{type: contains-any, value: [six, '6']}", "regex", "six|6"),
    "icontains-any of a line": _six("{type: icontains-any, value: 'a, b'}", "regex", "(?i)a|b"),
    "contains-all": _six(
        "{type: contains-all, value: [a, b]}",
        "regex",
        r"\A(?=[\s\S]*?(?:a))(?=[\s\S]*?(?:b))",
    ),
    "starts-with": _six("{type: starts-with, value: Six}", "regex", r"\A(?=Six)"),
    "regex": _six(r"{type: regex, value: '\d{3}-\d{4}'}", "regex", r"\d{3}-\d{4}"),
    "not-contains": _six("{type: not-contains, value: AI}", "regex", r"\A(?![\s\S]*?AI)"),
    "several assertions": _six(
        "{type: contains, value: six}\n{type: not-icontains, value: sorry}",
        "regex",
        r"\A(?=[\s\S]*?six)(?![\s\S]*?(?i:sorry))",
    ),
    "is-json": _six("{type: is-json}", "json", "any"),
    "equals an object": _six(
        "{type: equals, value: {a: 1, b: [x]}}", "json", '{"a": 1, "b": ["x"]}'
    ),
    "is-json with a schema": _lost("{type: is-json, value: {type: object}}", "assert is-json"),
    "equals and contains": _lost(
        "{type: equals, value: six}\n{type: contains, value: s}", "assert contains"
    ),
    "llm-rubric": _six("{type: llm-rubric, value: is polite}", "judge", "is polite"),
    "llm-rubric and equals": _lost(
        "{type: llm-rubric, value: is polite}\n{type: equals, value: six}",
        "assert equals",
    ),
    "javascript and python": _lost(
        "{type: javascript, value: output.length < 9}\n{type: python, value: file://a.py}",
        "assert javascript",
        "assert python",
    ),
    "similar": _lost("{type: similar, value: six, threshold: 0.8}", "assert similar"),
    "cost and latency": _lost(
        "{type: cost, threshold: 0.1}\n{type: latency, threshold: 9}\n{type: contains, value: x}",
        "assert cost",
        "assert latency",
    ),
    "weight and metric": _six(
        "{type: contains, value: x, weight: 2, metric: Tone}", "contains", "x"
    ),
    "weight 0": _six("{type: contains, value: x, weight: 0}", "", "", "assert contains"),
    "transform of an answer": _lost(
        "{type: contains, value: x, transform: output.text}", "assert contains"
    ),
    "assert-set": _six("{type: assert-set, assert: [{type: contains, value: x}]}", "contains", "x"),
    "assertion template": _lost(
        "{$ref: '#/assertionTemplates/a'}\n{type: contains, value: x}",
        "assert $ref",
    ),
    "value in a file": _lost("{type: contains, value: file://x.txt}", "assert contains"),
    "invalid pattern": _lost("{type: regex, value: '('}", "assert regex"),
    "flags in a combination": _lost(
        "{type: regex, value: '(?i)a'}\n{type: contains, value: b}",
        "assert regex",
        "assert contains",
    ),
    "no value": _lost("{type: contains}", "assert contains"),
    "a list for one text": _lost("{type: contains, value: [a, b]}", "assert contains"),
    "metadata": Example(
        "prompts: [Six?]\ntests: [{metadata: {category: maths, source: a}, description: Sums}]\n",
        (("Six?", "", ""),),
    ),
    "prompt with a label": Example(
        "prompts: [{label: short, raw: 'Six?'}, {label: long, raw: 'Six, please?'}]\n",
        (("Six?", "", ""), ("Six, please?", "", "")),
    ),
    "chat messages": Example(
        'prompts:\n- \'[{"role": "system", "content": "Be brief."}, '
        '{"role": "user", "content": "{{q}}?"}]\'\ntests: [{vars: {q: Why}}]\n',
        (("Why?", "", ""),),
    ),
    "anchors and merge keys": Example(
        "prompts: ['{{a}}?']\ntests:\n- &one\n  vars: &v {a: x}\n"
        "  assert: [{type: contains, value: x}]\n- {<<: *one, vars: {<<: *v, a: y}}\n",
        (("x?", "contains", "x"), ("y?", "contains", "x")),
    ),
    "a prompt in a file": Example(
        "prompts: [file://prompt.txt, 'Six?']\ntests: [{vars: {a: 1}}]\n",
        (("Six?", "", ""),),
        ("prompt file://prompt.txt",),
    ),
    "tests in a file": Example(
        "prompts: [Six?, Seven?]\ntests: [file://tests.csv, {vars: {a: 1}}]\n",
        (("Six?", "", ""), ("Seven?", "", "")),
        ("test file://tests.csv",),
    ),
    "a variable in a file": Example(
        "prompts: ['{{a}}?', 'Six?']\ntests: [{vars: {a: file://a.txt}}]\n",
        (("Six?", "", ""),),
        ("variable a file://a.txt", "question"),
    ),
    "an object as variable": Example(
        "prompts: ['{{a.b}}?', 'Six?']\ntests: [{vars: {a: {b: 1}}}]\n",
        (("Six?", "", ""),),
        ("variable a", "question"),
    ),
    "filters and conditions": Example(
        "prompts: ['{{a | upper}}?', '{% if a %}x{% endif %}', 'Six?']\ntests: [{vars: {a: x}}]\n",
        (("Six?", "", ""),),
        ("question", "question"),
    ),
    "the same question twice": Example(
        "prompts: [Six?]\ntests: [{vars: {a: 1}}, {vars: {a: 2}}]\n",
        (("Six?", "", ""),),
        ("question",),
    ),
    "scenarios": Example(
        "prompts: ['{{a}}?']\n"
        "scenarios: [{config: [{vars: {a: x}}, {vars: {a: y}}], tests: [{metadata: {}}]}]\n",
        (("x?", "", ""), ("y?", "", "")),
    ),
    "everything elsewhere": Example("prompts: file://prompts.txt\ntests: file://tests.csv\n"),
    "no prompts": Example("tests: [{vars: {a: 1}}]\n"),
    "only a red team": Example("prompts: ['{{prompt}}']\nredteam: {plugins: [harmful]}\n"),
}
