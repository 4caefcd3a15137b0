"""Suite files that exhaust careless parsers: each at most as large as a suite may be."""

import json
from collections.abc import Mapping

SIZE = 1_990_000


def filled(start: str, unit: str, end: str = "") -> str:
    """Repeat a unit until the file is as large as a suite may be."""
    return start + unit * ((SIZE - len(start) - len(end)) // len(unit.encode())) + end


def laughs(levels: int = 20, width: int = 9) -> str:
    """Return YAML whose aliases multiply at each level."""
    lines = ['- &a0 ["ha"]']
    lines += [f"- &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join([*lines, f"- *a{levels - 1}", ""])


def shared_context() -> str:
    """Return YAML whose ten thousand questions share one long context by alias."""
    context = f"- question: q\n  context: &c {'x' * 15_000}\n"
    return context + "".join(f"- {{question: q{n}, context: *c}}\n" for n in range(9_999))


BOMBS: Mapping[str, tuple[str, str]] = {
    "yaml-laughs": ("s.yaml", laughs()),
    "yaml-laughs-in-mappings": ("s.yaml", laughs().replace("[", "{k: [").replace("]", "]}")),
    "yaml-shared-context": ("s.yaml", shared_context()),
    "yaml-aliases": ("s.yaml", filled("- &a Why?\n", "- *a\n")),
    "yaml-merge-keys": ("s.yaml", filled("- &a {question: q}\n", "- {<<: *a, question: r}\n")),
    "yaml-itself": ("s.yaml", "&a\n- *a\n- question: *a\n"),
    "yaml-deep-lists": ("s.yaml", filled("", "[")),
    "yaml-deep-dashes": ("s.yaml", filled("", "- ")),
    "yaml-deep-mappings": ("s.yaml", filled("", "{a: ")),
    "yaml-anchors": ("s.yaml", "".join(f"- &a{n} q{n}\n" for n in range(130_000))),
    "yaml-one-scalar": ("s.yaml", filled("- ", "x")),
    "yaml-tags": ("s.yaml", filled("", "- !!python/object/apply:os.system [id]\n")),
    "yaml-documents": ("s.yaml", filled("", "---\n")),
    "yaml-keys": ("s.yaml", filled("- ? ", "? ")),
    "promptfoo-laughs": ("s.yaml", f"prompts: [q]\ntests:\n{laughs()}"),
    "promptfoo-merge-keys": (
        "s.yaml",
        filled("prompts: [q]\ntests:\n- &a {vars: {a: b}}\n", "- {<<: *a}\n"),
    ),
    "promptfoo-long-variable": (
        "s.yaml",
        filled(f"tests: [{{vars: {{a: {'x' * 19_000}}}}}]\nprompts: ['", "{{a}}", "']\n"),
    ),
    "promptfoo-many-questions": (
        "s.yaml",
        filled("prompts: ['{{a}}{{b}}']\ntests:\n", "- vars: {a: [1, 2, 3], b: [1, 2, 3]}\n"),
    ),
    "promptfoo-braces": ("s.yaml", filled("prompts: ['", "{{", "']\n")),
    "evals-many-fields": (
        "s.jsonl",
        json.dumps({"input": "q", **{f"k{n}": "" for n in range(130_000)}}),
    ),
    "promptfoo-scenarios": (
        "s.yaml",
        "prompts: [q]\nscenarios:\n- config:\n"
        + "  - {vars: {a: 1}}\n" * 8_000
        + "  tests:\n"
        + "  - {threshold: 1}\n" * 8_000,
    ),
    "yaml-most-values": (
        "s.yaml",
        "".join(f"- {{question: q{n}, answer: {n}, category: c, x: y}}\n" for n in range(9_990)),
    ),
    "json-most-choices": (
        "s.jsonl",
        "".join(
            json.dumps({"question": f"q{n}", "options": [f"{m}" for m in range(26)], "answer": 0})
            + "\n"
            for n in range(9_990)
        ),
    ),
    "json-most-columns": (
        "s.json",
        json.dumps([{"question": f"q{n}", **{f"k{m}": 1 for m in range(180)}} for n in range(900)]),
    ),
    "json-nested-columns": ("s.jsonl", '{"item":' * 30_000 + "1" + "}" * 30_000),
    "json-text-in-text": ("s.jsonl", json.dumps({"item": "[" * 900_000 + "]" * 900_000})),
    "promptfoo-csv": ("s.csv", filled("question,__expected\n", "q,contains: a\n")),
    "csv-one-cell": ("s.csv", filled('question\n"', "x", '"\n')),
    "csv-many-columns": ("s.csv", filled("question", ",")),
    "csv-open-quote": ("s.csv", filled('question\n"', '""')),
    "csv-many-rows": ("s.csv", filled("question\n", "q\n")),
    "json-deep-lists": ("s.json", filled("", "[")),
    "json-deep-objects": ("s.jsonl", filled("", '{"a":')),
    "json-huge-number": ("s.json", filled('[{"question":"q","answer":', "9", "}]")),
    "json-keys": ("s.json", json.dumps([{f"k{n}": "" for n in range(130_000)}])),
    "json-escapes": ("s.json", filled('["', "\\u0301", '"]')),
    "text-lines": ("s.txt", filled("", "\r")),
    "text-combining": ("s.txt", filled("a", "\u0301")),
    "toml-dotted-keys": ("s.toml", ".".join(["a"] * 30_000) + " = 1\n"),
}
