"""What a room needs beside the report: the question, who asked, and what can be pressed."""

from dataclasses import replace

from bot.chat import Button, Buttons, Caution, Heading, Note, Part, Post
from bot.render.figures import counted
from bot.render.progress import progress_post
from bot.render.report import title_of
from council.rounds import Round

CANCEL = ("cancel", "Cancel")
GO_ON = ("resume", "Go on")


def running_post(round_: Round, seconds: float, draft: str = "") -> Post:
    """Give the question of a running round, how far it is, and a way to stop it."""
    progress = progress_post(round_, seconds, draft)
    parts = (Heading(title_of(round_)), *progress.parts, _button(CANCEL, round_))
    return Post(parts, _summary(round_, progress.summary))


def stopped_post(round_: Round, why: str) -> Post:
    """Give what is left of a round that does not go on by itself, and why."""
    kept = [counted(len(round_.answers), "answer")] if round_.answers else []
    kept += [counted(len(round_.ballots), "ballot")] if round_.ballots else []
    line = f"{why} Kept so far: {' and '.join(kept) or 'nothing'}."
    parts = (Heading(title_of(round_)), Caution(line), _button(GO_ON, round_))
    return Post(parts, _summary(round_, why))


def signed(post: Post, round_: Round, asker: str) -> Post:
    """Give the post with who asked, above its buttons; as it is where nobody needs to be told."""
    if not asker or round_.forgotten:
        return post
    context = len(round_.question.context)
    told = f"Asked by {asker}" + (f", with {context:,} characters of context" if context else "")
    parts: list[Part] = [part for part in post.parts if not isinstance(part, Buttons)]
    buttons = [part for part in post.parts if isinstance(part, Buttons)]
    return replace(post, parts=(*parts, Note(told), *buttons))


def _summary(round_: Round, state: str) -> str:
    return f"{title_of(round_)} · {state}"


def _button(named: tuple[str, str], round_: Round) -> Buttons:
    action, label = named
    return Buttons((Button(action, label, round_.id),))
