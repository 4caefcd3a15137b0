"""The prompts of the staged threads as a Markdown table.

    pytest -k nobodys_name -o junit_family=xunit1 --junitxml=threads.xml \\
        tests/bot/slack/test_listeners_threads.py tests/bot/discord/test_threads.py
    python -m tests.bench.threads_table threads.xml
"""

import re
import sys
from xml.etree import ElementTree

LENGTH = 150  # of a prompt's beginning and end in a cell


def shown(prompt: str) -> str:
    """Return what a prompt says of the thread, then the question, on one line."""
    line = " ⏎ ".join(filter(None, map(str.strip, prompt.splitlines()))).replace("|", "\\|")
    return line if len(line) <= 2 * LENGTH else f"{line[:LENGTH]} […] {line[-LENGTH:]}"


def main() -> None:
    print("| chat | thread | passed | what the answer says of it | prompt |\n|---|---|---|---|---|")
    for case in ElementTree.parse(sys.argv[1]).iter("testcase"):  # noqa: S314
        name = re.search(r"\[(.*)\]", case.get("name", ""))
        found = {one.get("name"): one.get("value", "") for one in case.iter("property")}
        if not name or "prompt" not in found:
            continue
        chat = "Slack" if "slack" in case.get("classname", "") else "Discord"
        passed = "no" if case.find("failure") is not None else "yes"
        cells = (chat, name[1], passed, found["line"], shown(found["prompt"]))
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
