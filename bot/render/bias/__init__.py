"""The bias of judges as people see it: in chats, on the page, in the terminal, as files."""

from bot.render.bias.shown import ShownBias, shown
from bot.render.bias.thread import bias_thread

__all__ = ["ShownBias", "bias_thread", "pictures_of", "shown", "whole_picture_of"]


def pictures_of(bias: ShownBias) -> tuple[bytes, ...]:
    """Give each figure as a PNG; it takes a moment, so do it in a thread."""
    from bot.render.bias.figures import drawings_of
    from bot.render.drawing.png import png_of

    return tuple(png_of(drawing.figure) for drawing in drawings_of(bias))


def whole_picture_of(bias: ShownBias) -> bytes:
    """Give all figures as one PNG, one under another."""
    from bot.render.bias.figures import drawings_of, nothing_drawn
    from bot.render.drawing.png import png_of
    from bot.render.drawing.stacking import stacked

    figures = [drawing.figure for drawing in drawings_of(bias)]
    return png_of(stacked(figures or [nothing_drawn()]))
