"""How much self-identification is found, and how much ordinary text is masked.

The figures stand in docs/research/method.md.

python -m tests.bench.scrub [--packages]

With --packages, the texts and sources of the installed packages are read as well, each paragraph
as an answer: a few minutes.
"""

import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from council.anonymize.names import mark_names
from council.anonymize.scrub import scrub, warm_up
from council.bakeoffs.intervals import wilson_interval
from tests.council.scrub_corpus import GROUPS, LANGUAGES, Texts, texts

LENGTH = 8_000
ATTEMPTS = 20
TEXTS = {".md", ".txt", ".rst", ".py", ".json", ".yaml"}
LARGEST_FILE, PARAGRAPH = 400_000, (20, 4_000)  # characters
ANSWERS = {
    "names nobody": "Use a jobs table read with SKIP LOCKED; it carries that load. ",
    "names models": "It carries that load on one node, as far as we have seen. " * 8
    + "GPT-4o and Claude agree. ",
    "names nothing else": "Compare Claude with GPT-4o, Gemini, Llama 3.1 8B and Mistral. ",
}


def main() -> None:
    print(f"{'':28}  {'found, of signed':32}  masked, of ordinary")
    for half in ("held-out", "tuned"):
        print(half)
        for name in LANGUAGES:
            _row(name, texts(half, name))
        for name, languages in GROUPS.items():
            _row(name, texts(half, *languages))
        _row("all", texts(half))
    _times()
    if "--packages" in sys.argv:
        _packages()


def _row(name: str, of: Texts) -> None:
    found = _rate(sum(bool(scrub(text).found) for text in of.signed), len(of.signed))
    masked = _rate(sum(bool(scrub(text).found) for text in of.ordinary), len(of.ordinary))
    print(f"  {name:26}  {found:32}  {masked}")


def _rate(hits: int, of: int) -> str:
    low, high = wilson_interval(hits, of)
    return f"{hits:4} of {of:4}  {hits / of:.3f} ({low:.3f} to {high:.3f})"


def _times() -> None:
    warm_up()
    print(f"an answer of {LENGTH:,} characters, in milliseconds of a processor:")
    for name, sentence in ANSWERS.items():
        text = (sentence * LENGTH)[:LENGTH]
        print(f"  {name:26}  {min(_milliseconds(text) for _ in range(ATTEMPTS)):.1f}")


def _milliseconds(text: str) -> float:
    start = process_time()
    scrub(text)
    return (process_time() - start) * 1000


def _packages() -> None:
    naming = [text for text in _paragraphs() if mark_names(text)]
    masked = [text for text in naming if scrub(text).found]
    print("paragraphs of the installed packages that name a model or maker, masked:")
    print(f"  {_rate(len(masked), len(naming))}")
    for text in masked:
        print("  -", " / ".join(text.split("\n"))[:90])


def _paragraphs() -> Iterator[str]:
    least, most = PARAGRAPH
    for path in sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*")):
        if path.suffix in TEXTS and path.is_file() and path.stat().st_size < LARGEST_FILE:
            for text in re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace")):
                if least <= len(text.strip()) <= most:
                    yield text.strip()


if __name__ == "__main__":
    main()
