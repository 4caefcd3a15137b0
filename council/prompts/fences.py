"""The fence round an answer, so that nothing in it reads as an instruction."""

from council.draws import digest
from council.imitations import defused
from council.scrub import scrub

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
