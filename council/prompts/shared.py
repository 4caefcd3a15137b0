"""Parts shared by prompts: nonces, fences, anonymized texts, truncation, the default rubric."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from council.anonymize.scrub import MaskedText, mask_names, scrub
from council.answers import Source
from council.confusables import remove_invisible
from council.panel import Rubric
from council.prompt_injection import mask_pleas, neutralise
from council.randomness import digest

CUT_MARK = "[this answer ended at its token limit]"
SHORTENED_MARK = "[all answers are shown up to this length]"
# What providers add to the addresses that their searches find.
_TRACKING = re.compile(r"utm_[a-z]+=[\w.-]*&|[?&]utm_[a-z]+=[\w.-]*(?![\w.&-])")
_FENCE = re.compile(
    r'<response label="[A-Z]" nonce="([^"\n]{1,99})">\n.*?\n</response nonce="\1">', re.DOTALL
)
_INSTRUCTIONS = """

The person who asks has set the following for your answer. Carry it out, unless it contradicts \
what stands above:
"""
_REDIRECT = "grounding-api-redirect"
BYTES_PER_TOKEN = 3  # a low estimate: English has about four, Chinese three
MIN_TOKENS = 40  # a shorter answer cannot be judged


def nonce_for(seed: str, reader: str, audit: str | None = None) -> str:
    """Return a reader's nonce, one for each kind of audit: unknown to authors, recomputable."""
    return digest(seed, f"nonce of audit {audit}" if audit else "nonce", reader)[:16]


def object_schema(properties: Mapping[str, object]) -> dict[str, object]:
    """Return the JSON schema of an object with exactly these keys."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [*properties],
        "additionalProperties": False,
    }


def with_instructions(rules: str, instructions: str) -> str:
    """Return a system prompt with what the asker set; our own rules come first, and win."""
    return f"{rules}{_INSTRUCTIONS}{instructions}" if instructions else rules


def without_instructions(system: str) -> str:
    """Return a system prompt without what the asker set."""
    return system.partition(_INSTRUCTIONS)[0]


def fence(text: str, letter: str, nonce: str) -> str:
    """Return an answer inside its fence; the text must be neutralised already."""
    return f'<response label="{letter}" nonce="{nonce}">\n{text}\n</response nonce="{nonce}">'


def fenced_answers(prompt: str) -> str:
    """Return the answers in a prompt, each inside its fence, without anything else."""
    return "\n\n".join(found[0] for found in _FENCE.finditer(prompt))


def fence_reason(text: str, nonce: str) -> str:
    """Return a judge's reason inside its fence; the text must be neutralised already."""
    return f'<reason nonce="{nonce}">\n{text}\n</reason nonce="{nonce}">'


def anonymize_answer(
    text: str, own: tuple[str, ...], sources: Sequence[Source] = (), families: Sequence[str] = ()
) -> MaskedText:
    """Return an answer for other models: author and pleas masked, imitations neutralised.

    Its sources follow by title and domain, without the names of these families and their makers.
    """
    masked = scrub(_TRACKING.sub("", remove_invisible(text)), own)
    parts = [mask_pleas(masked.text)]
    if sources:
        lines = "\n".join(f"- {_source_line(source)}" for source in sources)
        parts.append(f"Sources:\n{mask_pleas(mask_names(remove_invisible(lines), families).text)}")
    return MaskedText(neutralise("\n\n".join(parts)), masked.found)


def _source_line(source: Source) -> str:
    # Some providers' searches link through their own domain; the page's own is in the title.
    is_redirect = _REDIRECT in source.url
    return (
        source.title if is_redirect else f"{source.title} ({urlsplit(source.url).hostname or ''})"
    )


def estimate_tokens(text: str) -> int:
    """Return an upper bound for a text's tokens in any common tokenizer, for ordinary prose."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def common_length(texts: Sequence[str], budget: int) -> int | None:
    """Return the greatest common length in tokens at which all fit; None if they fit whole."""
    sizes, budget = sorted(estimate_tokens(text) for text in texts), max(0, budget)
    for i, size in enumerate(sizes):
        share = budget // (len(sizes) - i)
        if size > share:
            return share
        budget -= size
    return None


def truncate(text: str, tokens: int) -> str:
    """Return the start of a text, at most so many tokens, ending at a whole character."""
    return text.encode()[: tokens * BYTES_PER_TOKEN].decode(errors="ignore")


def make_rubric(name: str, criteria: tuple[str, ...]) -> Rubric:
    """Return a rubric whose version is a digest of its text."""
    return Rubric(name, digest("rubric", name, "\n".join(criteria))[:8], criteria)


_DEFAULT_CRITERIA = (
    "Correct: what it claims is true, and code or figures hold up.",
    "Complete: it answers the question that was asked, with nothing needed left out.",
    "Useful: the asker can act on it.",
    "Honest about doubt: it says what it does not know and claims no more than it can.",
)
DEFAULT_RUBRIC = make_rubric("default", _DEFAULT_CRITERIA)
