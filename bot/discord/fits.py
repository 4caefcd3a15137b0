"""Whether a post is within all of Discord's limits as one message."""

from collections.abc import Iterator, Sequence

from bot.chat import Post
from bot.discord.buttons import Component
from bot.discord.dress import dressed
from bot.discord.limits import BOLD_HEADING, COMPONENTS, TEXT, WEIGHT, WEIGHT_OF_TEXT
from bot.render.pagination import may_fit


def fits_discord(post: Post) -> bool:
    """Say whether Discord takes the post as one message."""
    return may_fit(post, WEIGHT, BOLD_HEADING) and within_limits(dressed(post).components)


def within_limits(components: Sequence[Component]) -> bool:
    """Say whether a message may hold these components: their number, their letters, their bytes."""
    every = list(_nested(components))
    texts = [str(component["content"]) for component in every if "content" in component]
    weight = sum(len(text.encode()) + WEIGHT_OF_TEXT for text in texts)
    return len(every) <= COMPONENTS and sum(map(_length, texts)) <= TEXT and weight <= WEIGHT


def _nested(components: Sequence[Component]) -> Iterator[Component]:
    for component in components:
        yield component
        yield from _nested(component.get("components", ()))


def _length(text: str) -> int:
    """Give the length as Discord's own program counts it: some signs are two."""
    return len(text.encode("utf-16-le")) // 2
