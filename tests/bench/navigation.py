"""How easily a newcomer finds a place: `python -m tests.bench.navigation [CHECKOUT]`.

Counts what the names of the product's files answer. A search is answered when some file's path
below its package holds every word of one of its spellings, as a file finder would match it.
"""

import ast
import sys
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

PACKAGES = ("bot", "council", "storage")

# What a bot developer types to find a place; "|" separates spellings of the same term.
SEARCHES = """
slack listener; discord listener; slash command; block kit; modal; discord component; rich text
ephemeral; message action; slack thread; slack file; app manifest; slack client; markdown
pagination; chart; leaderboard table; json export; bias report; round report
command registry; dispatch; permission|access; rate limit; circuit breaker; retry; backoff
outbox; job queue; worker; pubsub|publish; lock; leader; clock; background task|tasks; heartbeat
scheduler; cron; settings; environment; log; metric; tracing; migration; transaction; engine
middleware; csrf; auth; template
"""


def searches() -> tuple[str, ...]:
    """Return the fifty searches."""
    return tuple(term.strip() for term in SEARCHES.replace("\n", ";").split(";") if term.strip())


def modules(root: Path) -> dict[str, Path]:
    """Return the product's modules by dotted name, without packages and schema versions."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            if path.stem != "__init__" and "versions" not in path.parts:
                found[".".join(path.relative_to(root).with_suffix("").parts)] = path
    return found


def is_answered(term: str, names: list[str]) -> bool:
    """Return whether a file's name has all words of one spelling, in any form: limit, limiter."""
    return any(
        all(any(is_form(word, part) for part in name.split()) for word in spelling.split())
        for spelling in term.split("|")
        for name in names
    )


def is_form(word: str, part: str) -> bool:
    """Return whether a part of a name is the word with at most three letters more."""
    return part.startswith(word) and len(part) <= len(word) + 3


def importers(found: dict[str, Path]) -> dict[str, set[str]]:
    """Return for each module the modules that import it or a name of it."""
    result: defaultdict[str, set[str]] = defaultdict(set)
    for name, path in found.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for target in (node.module, *(f"{node.module}.{a.name}" for a in node.names)):
                    if target in found:
                        result[target].add(name)
    return result


def main() -> None:
    """Print the figures of a checkout."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]
    found = modules(root)
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in found.items()}
    # A template is found by the name of its folder.
    names = [name.partition(".")[2].replace("_", " ").replace(".", " ") for name in found]
    names += ["web templates" for _ in [0] if (root / "bot/web/templates").is_dir()]
    stems = Counter(name.rpartition(".")[2] for name in found)
    used_by = importers(found)
    single = [name for name in found if len(used_by.get(name, ())) == 1]
    gerunds = [stem for stem in stems if stem.endswith("ing")]
    unanswered = [term for term in searches() if not is_answered(term, names)]
    answered = len(searches()) - len(unanswered)
    figures = {
        "product files": len(found),
        "lines: median": round(median(lines.values())),
        "lines: largest": max(lines.values()),
        "lines: all": sum(lines.values()),
        "base names in two folders": sum(count > 1 for count in stems.values()),
        "with one importer": f"{len(single)} ({len(single) / len(found):.0%})",
        "names in -ing": f"{len(gerunds)} ({len(gerunds) / len(stems):.0%})",
        "searches answered by a file name": f"{answered} of {len(searches())}",
    }
    for what, figure in figures.items():
        print(f"{what:34} {figure}")
    print("not answered:", ", ".join(unanswered))


if __name__ == "__main__":
    main()
