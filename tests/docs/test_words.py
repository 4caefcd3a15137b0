"""No sentence that people read is one of those that were found stiff or obscure."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUFFIXES = {".py", ".html", ".js", ".md", ".toml", ".yaml", ".example"}
# Parts of sentences that were rewritten; "…" and names in them varied.
STIFF = (
    "Borda counting makes the standings",
    "and everything else that has what it needs",
    "nothing that was paid for is asked again",
    "beside them what weighed judges would say",
    "may stand before a line or not",
    "The line under the answer is honest",
    "a word when a model changed",
    "Hold a suite now",
    "Have the demonstration models at hand",
    "what there is is kept",
    "cannot be listened on",
    "Nobody can be asked",
    "are as recomputed",
    "of the chain of the house",
    "it is no JSON",
    "look after it",
    "written by AI, check what matters",
    "Who put whom where",
    "open here when the round closes",
    "Until then nobody knows",
    "That did not work",
    "To the first page",
    "See what it comes to",
    '"Leave it"',
    ">Leave it<",
    '"Flag: ',
    "The leaderboard has a say from",
    "Suite: one there is, or a new name",
    "Your text goes to this machine",
    "The judges that are neither also put",
    "Cheapest model not measurably",
    "can lower its rival",
    "Had all met",
    "to tell that from chance",
    "so there are fewer to judge it by",
    "more rankings by a judge would settle",
    "Nothing changed beyond noise",
    "was not counted: it held",
    "one of them in two seats",
    "would still occur in",
    "models answered, and",
    "It costs about",
    "also of promptfoo",
    "cannot be read exactly",
    "shows where its own answer",
    "chairmen that see them",
    "The brackets hold",
    "or if only one of both",
    "A priced seat",
    "Open its first question",
    "demonstration model",
)
# Old entries, and the words of models that ask judges for a vote.
NOT_OURS = {"CHANGELOG.md", "pleas.toml", "signatures.toml"}
STIFF_TURNS = re.compile(r"\b[Ww]hoever\b|\bgoes on with\b|\bgo on with\b|\bGo on with\b")


def product_files() -> list[Path]:
    """Return the files with sentences for people."""
    listed = subprocess.run(
        ["git", "ls-files", "bot", "council", "storage", "docs", "*.md", "*.example"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    paths = (ROOT / name for name in listed)
    return [path for path in paths if path.suffix in SUFFIXES and path.name not in NOT_OURS]


def test_no_stiff_sentence_is_left() -> None:
    found = []
    for path in product_files():
        # A sentence may be divided between two lines of code.
        text = re.sub(r'"\s*f?"|\s+', " ", path.read_text(encoding="utf-8"))
        left = [stiff for stiff in STIFF if stiff in text] + STIFF_TURNS.findall(text)
        found += [f"{path.relative_to(ROOT)}: {stiff}" for stiff in left]

    assert not found
