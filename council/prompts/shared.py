"""The fence round an answer, so that nothing in it reads as an instruction."""

from collections.abc import Sequence

from council.anonymize.scrub import scrub
from council.panel import Rubric
from council.prompt_injection import defused
from council.randomness import digest

# --- The fence round an answer, so that nothing in it reads as an instruction.

CUT_MARK = "[this answer ended at its token limit]"
SHORTENED_MARK = "[all answers are shown up to this length]"


def nonce_for(seed: str, reader: str, audit: str | None = None) -> str:
    """Give the nonce of one reader of a round: authors cannot know it, verify can recompute it.

    For an audit ballot the same reader gets another one.
    """
    return digest(seed, f"nonce of audit {audit}" if audit else "nonce", reader)[:16]


def fenced(text: str, letter: str, nonce: str) -> str:
    """Give an answer's text in its fence; the text must be defused already."""
    return f'<response label="{letter}" nonce="{nonce}">\n{text}\n</response nonce="{nonce}">'


def blind(text: str, own: tuple[str, ...]) -> str:
    """Give an answer as others may see it: its author's traces masked, its imitations defused."""
    return defused(scrub(text, own).text)


# --- One length for all: what fits a judge's context is cut for every answer alike.

BYTES_PER_TOKEN = 3  # low on purpose: English has about four, Chinese three
MIN_TOKENS = 40  # an answer shorter than this cannot be judged


def estimated_tokens(text: str) -> int:
    """Give how many tokens a text takes at most, in any common tokenizer of ordinary prose."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def common_length(texts: Sequence[str], budget: int) -> int | None:
    """Give the greatest length in tokens that lets all texts fit; None if they fit as they are."""
    sizes, budget = sorted(estimated_tokens(text) for text in texts), max(0, budget)
    for i, size in enumerate(sizes):
        share = budget // (len(sizes) - i)
        if size > share:
            return share
        budget -= size
    return None


def truncate(text: str, tokens: int) -> str:
    """Give the start of a text, at most so many tokens long, never half a character."""
    return text.encode()[: tokens * BYTES_PER_TOKEN].decode(errors="ignore")


# --- The rubric judges follow where a panel names none of its own.

_DEFAULT = (
    "Correct: what it claims is true, and code or figures hold up.",
    "Complete: it answers the question that was asked, with nothing needed left out.",
    "Useful: the asker can act on it.",
    "Honest about doubt: it says what it does not know and claims no more than it can.",
)


def rubric(name: str, criteria: tuple[str, ...]) -> Rubric:
    """Give a rubric whose version follows from its text."""
    return Rubric(name, digest("rubric", name, "\n".join(criteria))[:8], criteria)


DEFAULT_RUBRIC = rubric("default", _DEFAULT)
