"""Kept until every import names `bot.context`."""

from bot.context import AppContext as AppContext
from bot.context import checked_question as checked_question
from bot.context import versions as versions
