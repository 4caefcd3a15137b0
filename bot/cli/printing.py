"""Posts printed as they are read in a chat."""

from collections.abc import Iterable

from bot.chat import File, Post


def print_posts(posts: Iterable[Post]) -> None:
    """Print posts, save those that are files."""
    # A command that prints JSON does not wait for these.
    from rich.console import Console

    from bot.terminal import dressed

    console = Console(highlight=False)
    for post in posts:
        if not any(isinstance(part, File) for part in post.parts):
            console.print(dressed(post))
