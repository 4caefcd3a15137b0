"""Self-preference by grades, as people and programs read it."""

from bot.render.grades.document import grades_document
from bot.render.grades.posts import grades_post
from bot.render.grades.words import finding_lines

__all__ = ["finding_lines", "grades_document", "grades_post"]
