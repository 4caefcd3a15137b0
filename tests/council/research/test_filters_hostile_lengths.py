"""The check of markup stays fast on long hostile texts."""

from tests.council.research.hostile_readers import check_markup
from tests.council.test_prompt_injection_hostile_lengths import (
    IMITATIONS,
    LENGTHS,
    assert_reads_fast,
    many,
)

MARKUP = [
    many("<a "),
    many("]("),
    many("[a]("),
    many("!["),
    many("[ "),
    many("\n[a]: "),
    many("\\["),
    many("$ "),
    many("``` ~~~ "),
    many("\n> > >"),
    many("* _"),
    many("a1B2"),
    many("A1"),
    many("bcdfg"),
    many("<!- <img src "),
    many('<p style="color: '),
]


@LENGTHS
def test_no_hostile_text_blocks_the_check_of_markup(length: int) -> None:
    assert_reads_fast(check_markup, [*MARKUP, *IMITATIONS], length)
