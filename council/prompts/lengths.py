"""One length for all: what fits a judge's context is cut for every answer alike."""

from collections.abc import Sequence

BYTES_PER_TOKEN = 3  # low on purpose: English has about four, Chinese three
FEWEST_TOKENS = 40  # an answer shorter than this cannot be judged


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


def shortened(text: str, tokens: int) -> str:
    """Give the start of a text, at most so many tokens long, never half a character."""
    return text.encode()[: tokens * BYTES_PER_TOKEN].decode(errors="ignore")
