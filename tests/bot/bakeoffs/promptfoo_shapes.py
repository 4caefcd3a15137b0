"""Configurations of promptfoo with the files beside them, and what must be lost of each.

Every text is our own. A configuration comes in whole, or each check that is lost is named.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

_CHECK = "[{type: contains, value: Danube}]"
_RIVER = f"- vars: {{q: Vienna}}\n  assert: {_CHECK}\n"
_PROMPT = "prompts: ['Which river is in {{q}}?']\n"


@dataclass(frozen=True)
class Config:
    """A configuration, the files in its folder, how many questions it makes, and what is lost.

    `graded` of the questions get a grade. Without questions, the file is refused.
    """

    yaml: str
    files: Mapping[str, str] = field(default_factory=dict)
    questions: int = 1
    graded: int = 1
    lost: tuple[str, ...] = ()


def _setting(line: str) -> Config:
    return Config(f"{_PROMPT}{line}\ntests:\n{_RIVER}")


def _test(line: str, *lost: str, graded: int = 1) -> Config:
    return Config(f"{_PROMPT}tests:\n{_RIVER}  {line}\n", graded=graded, lost=lost)


def _assertion(check: str, *lost: str) -> Config:
    text = f"{_PROMPT}tests:\n- vars: {{q: Vienna}}\n  assert: [{check}]\n"
    return Config(text, graded=0 if lost else 1, lost=lost)


CONFIGS: Mapping[str, Config] = {
    # --- Settings without meaning here
    "description": _setting("description: Rivers"),
    "providers": _setting("providers: [openai:gpt-5, {id: 'anthropic:x', config: {a: 1}}]"),
    "targets": _setting("targets: [{id: http, config: {url: x}}]"),
    "evaluateOptions": _setting("evaluateOptions: {maxConcurrency: 3}"),
    "commandLineOptions": _setting("commandLineOptions: {verbose: true}"),
    "outputPath and sharing": _setting("outputPath: out.html\nsharing: false"),
    "schema and tags": _setting("$schema: x\ntags: {team: a}\nenv: {A: b}"),
    "derived metrics": _setting("derivedMetrics: [{name: f1, value: a/b}]"),
    "description of a test": _test("description: A river"),
    "provider of a test": _test("provider: openai:gpt-5"),
    "options of a test": _test("options: {provider: openai:gpt-5, repeat: 2}"),
    "metadata": _test("metadata: {category: rivers, owner: me}"),
    "metric and provider of a check": _assertion(
        "{type: contains, value: Danube, metric: a, provider: openai:x}"
    ),
    # --- Settings that change what is asked or graded
    "extensions": Config(
        f"{_PROMPT}extensions: [file://hook.js:extension]\ntests:\n{_RIVER}", lost=("extensions",)
    ),
    "prefix": _test("options: {prefix: 'Be brief. '}", "prefix", "assert contains", graded=0),
    "a list that is no several values": _test(
        "options: {disableVarExpansion: true}", "disableVarExpansion", "assert contains", graded=0
    ),
    "tests as CSV with a prefix": Config(
        f"{_PROMPT}tests: file://t.csv\n",
        {"t.csv": "q,__expected,__prefix\nVienna,contains: Danube,Be brief.\n"},
        graded=0,
        lost=("prefix", "assert contains"),
    ),
    "more checks than fit one grader": Config(
        f"{_PROMPT}tests:\n- vars: {{q: Vienna}}\n  assert:\n"
        + "  - {type: contains, value: D}\n" * 41,
        graded=0,
        lost=("assert contains",) * 41,
    ),
    "a chat without a user": Config(
        """prompts: ['[{"role": "system", "content": "Why?"}]']""", questions=0
    ),
    "prompts of a test": _test("prompts: [short]", "prompts"),
    "transform of answers": _test(
        "options: {transform: output.trim()}", "assert contains", graded=0
    ),
    "transform of variables": _test(
        "options: {transformVars: x}", "transformVars", "assert contains", graded=0
    ),
    "rubric prompt": Config(
        f"{_PROMPT}defaultTest: {{options: {{rubricPrompt: x}}}}\ntests:\n"
        "- {vars: {q: Vienna}, assert: [{type: llm-rubric, value: polite}]}\n",
        graded=0,
        lost=("assert llm-rubric",),
    ),
    # --- Variables and templates
    "several variables": Config(
        "prompts: ['{{a}}, {{b}}?']\ntests:\n"
        f"- {{vars: {{a: [1, 2], b: [3, 4]}}, assert: {_CHECK}}}\n",
        questions=4,
        graded=4,
    ),
    "a variable in a variable": Config(
        "prompts: ['{{a}}?']\ntests: [{vars: {a: '{{b}}', b: x}}]\n",
        questions=0,
        lost=("question",),
    ),
    "a filter": Config("prompts: ['{{a | upper}}?']\ntests: [{vars: {a: x}}]\n", questions=0),
    "a loop": Config("prompts: ['{% for a in b %}{{a}}{% endfor %}']\n", questions=0),
    "environment": Config("prompts: ['{{env.HOME}}?']\n", questions=0),
    "a missing variable": Config("prompts: ['{{a}}?']\ntests: [{vars: {b: x}}]\n", questions=0),
    # --- Other files
    "a prompt": Config(
        f"prompts: file://p.txt\ntests:\n{_RIVER}", {"p.txt": "Which river is in {{q}}?"}
    ),
    "two prompts in a text": Config(
        f"prompts: [file://p.txt]\ntests:\n{_RIVER}",
        {"p.txt": "Which river is in {{q}}?\n---\nName the river of {{q}}."},
        questions=2,
        graded=2,
    ),
    "a prompt without file://": Config(
        f"prompts: [prompts/p.md]\ntests:\n{_RIVER}", {"prompts/p.md": "River in {{q}}?"}
    ),
    "a chat as JSON": Config(
        f"prompts: [{{id: file://p.json, label: chat}}]\ntests:\n{_RIVER}",
        {
            "p.json": '[{"role": "system", "content": "Be brief."}, '
            '{"role": "user", "content": "River in {{q}}?"}]'
        },
    ),
    "a chat as YAML": Config(
        f"prompts: [file://p.yaml]\ntests:\n{_RIVER}",
        {"p.yaml": "- role: user\n  content: River in {{q}}?\n"},
    ),
    "a prompt that a program makes": Config(
        f"prompts: [file://p.py, 'River in {{{{q}}}}?']\ntests:\n{_RIVER}",
        {"p.py": "print(1)"},
        lost=("prompt file://p.py",),
    ),
    "tests as CSV": Config(
        f"{_PROMPT}tests: file://t.csv\n",
        {"t.csv": "q,__expected,__description\nVienna,contains: Danube,x\nParis,Seine,y\n"},
        questions=2,
        graded=2,
    ),
    "tests as CSV with several checks": Config(
        f"{_PROMPT}tests: t.csv\n",
        {"t.csv": "q,__expected1,__expected2\nVienna,contains: Danube,not-contains: Rhine\n"},
    ),
    "tests as CSV with a lost check": Config(
        f"{_PROMPT}tests: file://t.csv\n",
        {"t.csv": "q,__expected1,__expected2\nVienna,contains: Danube,latency(200)\n"},
        graded=0,
        lost=("assert latency",),
    ),
    "tests as CSV with a threshold": Config(
        f"{_PROMPT}tests: file://t.csv\n",
        {
            "t.csv": "q,__expected1,__expected2,__threshold\n"
            "Vienna,contains: Danube,contains: Donau,0.5\n"
        },
    ),
    "tests as CSV with an unknown column": Config(
        f"{_PROMPT}tests: file://t.csv\n",
        {"t.csv": "q,__expected,__config:__expected:threshold\nVienna,contains: Danube,0.4\n"},
        graded=0,
        lost=("assert __config:__expected:threshold",),
    ),
    "tests as YAML": Config(f"{_PROMPT}tests: file://t.yaml\n", {"t.yaml": _RIVER}),
    "tests as JSON": Config(
        f"{_PROMPT}tests: [file://t.json]\n",
        {
            "t.json": '[{"vars": {"q": "Vienna"}, '
            '"assert": [{"type": "contains", "value": "Danube"}]}]'
        },
    ),
    "tests as JSON Lines": Config(
        f"{_PROMPT}tests: [file://t.jsonl]\n",
        {
            "t.jsonl": '{"vars": {"q": "Vienna"}, "assert": [{"type": "equals", "value": "a"}]}\n'
            '{"vars": {"q": "Rome"}}\n'
        },
        questions=2,
    ),
    "tests as CSV with a column twice": Config(
        f"{_PROMPT}tests: file://t.csv\n",
        {"t.csv": "q,__expected,__expected\nVienna,contains: Danube,contains: Donau\n"},
        questions=0,
    ),
    "tests as CSV with a cell too many": Config(
        f"{_PROMPT}tests: file://t.csv\n", {"t.csv": "q\nVienna,contains: Danube\n"}, questions=0
    ),
    "tests as broken JSON Lines": Config(
        f"{_PROMPT}tests: file://t.jsonl\n", {"t.jsonl": '{"vars"'}, questions=0
    ),
    "tests of a program": Config(
        f"{_PROMPT}tests: [file://t.py, {{vars: {{q: Vienna}}, assert: {_CHECK}}}]\n",
        lost=("test file://t.py",),
    ),
    "tests of a sheet": Config(
        f"{_PROMPT}tests: https://docs.google.com/spreadsheets/d/x\n",
        questions=0,
        graded=0,
    ),
    "a variable": Config(
        f"{_PROMPT}tests: [{{vars: {{q: file://q.txt}}, assert: {_CHECK}}}]\n", {"q.txt": "Vienna"}
    ),
    "all variables": Config(
        f"{_PROMPT}tests: [{{vars: file://v.yaml, assert: {_CHECK}}}]\n", {"v.yaml": "q: Vienna\n"}
    ),
    "the value of a check": Config(
        f"{_PROMPT}tests: [{{vars: {{q: Vienna}}, assert: [{{type: contains, "
        "value: file://a.txt}]}]\n",
        {"a.txt": "Danube\n"},
    ),
    "a program as the value of a check": Config(
        f"{_PROMPT}tests: [{{vars: {{q: Vienna}}, assert: [{{type: llm-rubric, "
        "value: file://a.js}]}]\n",
        {"a.js": "x"},
        graded=0,
        lost=("assert llm-rubric",),
    ),
    "the default test": Config(
        f"{_PROMPT}defaultTest: file://d.yaml\ntests: [{{vars: {{q: Vienna}}}}]\n",
        {"d.yaml": f"assert: {_CHECK}\n"},
    ),
    "a missing file": Config(
        f"prompts: [file://none.txt, 'River in {{{{q}}}}?']\ntests:\n{_RIVER}",
        lost=("prompt file://none.txt",),
    ),
    "a default test that is missing": Config(
        f"{_PROMPT}defaultTest: file://none.yaml\ntests: [{{vars: {{q: Vienna}}}}]\n",
        graded=0,
        lost=("defaultTest file://none.yaml", "assert defaultTest"),
    ),
    # --- Scenarios
    "scenarios": Config(
        f"{_PROMPT}scenarios:\n- config: [{{vars: {{q: Vienna}}}}, {{vars: {{q: Ulm}}}}]\n"
        f"  tests: [{{assert: {_CHECK}}}, {{assert: [{{type: regex, value: D}}]}}]\n",
        questions=2,
        graded=2,
        lost=("question",),
    ),
    "scenarios in a file": Config(
        f"{_PROMPT}scenarios: [file://s.yaml]\n",
        {"s.yaml": f"- config: [{{vars: {{q: Vienna}}}}]\n  tests: [{{assert: {_CHECK}}}]\n"},
    ),
    "scenarios in a missing file": Config(
        f"{_PROMPT}tests:\n{_RIVER}scenarios: file://s.yaml\n", lost=("test file://s.yaml",)
    ),
    "a scenario without tests": Config(
        f"{_PROMPT}tests:\n{_RIVER}scenarios: [{{config: [{{vars: {{q: Ulm}}}}]}}]\n",
        lost=("scenario",),
    ),
    "a file in a list of values": _assertion(
        "{type: not-contains-any, value: [file://a.txt]}", "assert not-contains-any"
    ),
    "a red team": Config("prompts: ['{{p}}']\nredteam: {plugins: [x]}\n", questions=0),
    # --- Types of checks
    "contains": _assertion("{type: contains, value: a}"),
    "icontains": _assertion("{type: icontains, value: a}"),
    "contains-any": _assertion("{type: contains-any, value: [a, b]}"),
    "contains-all": _assertion("{type: contains-all, value: 'a, b'}"),
    "icontains-all": _assertion("{type: icontains-all, value: [a, b]}"),
    "not-icontains": _assertion("{type: not-icontains, value: a}"),
    "equals": _assertion("{type: equals, value: a}"),
    "equals an object": _assertion("{type: equals, value: {a: [1, null]}}"),
    "not-equals": _assertion("{type: not-equals, value: a}", "assert not-equals"),
    "starts-with": _assertion("{type: starts-with, value: a}"),
    "regex": _assertion("{type: regex, value: '^a+$'}"),
    "is-json": _assertion("{type: is-json}"),
    "is-json with a schema": _assertion("{type: is-json, value: {a: 1}}", "assert is-json"),
    "contains-json": _assertion("{type: contains-json}", "assert contains-json"),
    "is-sql": _assertion("{type: is-sql}", "assert is-sql"),
    "is-xml": _assertion("{type: is-xml}", "assert is-xml"),
    "javascript": _assertion("{type: javascript, value: output.length}", "assert javascript"),
    "python": _assertion("{type: python, value: len(output)}", "assert python"),
    "webhook": _assertion("{type: webhook, value: 'https://a.b'}", "assert webhook"),
    "similar": _assertion("{type: similar, value: a, threshold: 0.8}", "assert similar"),
    "levenshtein": _assertion("{type: levenshtein, value: a, threshold: 5}", "assert levenshtein"),
    "rouge-n": _assertion("{type: rouge-n, value: a}", "assert rouge-n"),
    "bleu": _assertion("{type: bleu, value: a}", "assert bleu"),
    "perplexity": _assertion("{type: perplexity, threshold: 2}", "assert perplexity"),
    "cost": _assertion("{type: cost, threshold: 0.1}", "assert cost"),
    "latency": _assertion("{type: latency, threshold: 10}", "assert latency"),
    "llm-rubric": _assertion("{type: llm-rubric, value: is polite}"),
    "llm-rubric with a score": _assertion(
        "{type: llm-rubric, value: polite, threshold: 0.8}", "assert llm-rubric"
    ),
    "closed QA": _assertion("{type: model-graded-closedqa, value: names the Danube}"),
    "factuality": _assertion("{type: factuality, value: The Danube is in Vienna}"),
    "g-eval": _assertion("{type: g-eval, value: polite}", "assert g-eval"),
    "answer-relevance": _assertion(
        "{type: answer-relevance, threshold: 0.8}", "assert answer-relevance"
    ),
    "context-recall": _assertion("{type: context-recall, value: a}", "assert context-recall"),
    "classifier": _assertion("{type: classifier, value: a}", "assert classifier"),
    "moderation": _assertion("{type: moderation}", "assert moderation"),
    "select-best": _assertion("{type: select-best, value: a}", "assert select-best"),
    "guardrails": _assertion("{type: guardrails}", "assert guardrails"),
    "function call": _assertion(
        "{type: is-valid-openai-tools-call}", "assert is-valid-openai-tools-call"
    ),
    "weights and a threshold": Config(
        f"{_PROMPT}tests:\n- vars: {{q: Vienna}}\n  threshold: 0.5\n"
        "  assert: [{type: contains, value: a, weight: 2}, {type: contains, value: b}]\n"
    ),
    "a set": _assertion("{type: assert-set, assert: [{type: contains, value: a}]}"),
    "a template": Config(
        f"{_PROMPT}assertionTemplates: {{river: {{type: contains, value: Danube}}}}\n"
        "tests: [{vars: {q: Vienna}, assert: [{$ref: '#/assertionTemplates/river'}]}]\n"
    ),
    "transform of a provider": Config(
        f"{_PROMPT}providers: [{{'openai:gpt-5': {{transform: output.trim()}}}}]\ntests:\n{_RIVER}",
        graded=0,
        lost=("assert contains",),
    ),
    "a list with quotes": _assertion(
        """{type: contains-any, value: '"Danube, Wien", Inn'}""", "assert contains-any"
    ),
    "a chat that ends with a reply": Config(
        """prompts: ['[{"role": "user", "content": "Why?"}, {"role": "assistant"}]']""", questions=0
    ),
    "a chat in YAML": Config('prompts: ["- role: user\\n  content: Why?"]', graded=0),
    "front matter": Config(
        f"prompts: [file://p.md]\ntests:\n{_RIVER}", {"p.md": "---\na: b\n---\nIn {{q}}?"}
    ),
    "a pattern of files": Config(f"{_PROMPT}tests: file://*.csv", questions=0),
    "a hidden file": Config("prompts: [file://.env]", {".env": "KEY=1"}, questions=0),
    "JSON with surrogates": Config(
        f"{_PROMPT}tests: file://t.json",
        {"t.json": '[{"vars": {"q": "\\ud83d\\ude00"}, "assert": [{"type": "is-json"}]}]'},
    ),
}
