"""Composition objects: text, options, confirmations, images."""

from tests.wire.slack.blocks.shapes import (
    Check,
    all_of,
    anything,
    choice,
    flag,
    many,
    one_key_of,
    shape,
    string,
    typed,
)

url = string(3000)
action_id = string(255)
block_id = string(255)


def plain(most: int, least: int = 1) -> Check:
    """Accept a plain_text object of at most so many characters."""
    return typed({"plain_text": _plain_text(most, least)})


def text(most: int, least: int = 1) -> Check:
    """Accept a text object, plain or mrkdwn, of at most so many characters."""
    mrkdwn = shape({"type": anything, "text": string(most, least)}, {"verbatim": flag})
    return typed({"plain_text": _plain_text(most, least), "mrkdwn": mrkdwn})


def _plain_text(most: int, least: int) -> Check:
    return shape({"type": anything, "text": string(most, least)}, {"emoji": flag})


confirm = shape(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": choice("primary", "danger")},
)


def option(label: Check) -> Check:
    """Accept an option whose label is in this shape."""
    return shape({"text": label, "value": string(150)}, {"description": text(75), "url": url})


options = many(option(plain(75)), 100)
option_groups = many(shape({"label": plain(75), "options": options}), 100)
few_options = many(option(text(75)), 10)  # radio buttons and checkboxes

_source = {"image_url": url, "slack_file": anything}

image = all_of(
    shape({"type": anything, "alt_text": string(2000)}, _source),
    one_key_of("image_url", "slack_file"),
)
