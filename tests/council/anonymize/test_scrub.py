"""scrub masks the author of an answer; models the answer only mentions stay."""

import pytest

from council.anonymize.scrub import MASK, mask_names, scrub
from tests.builders import CLAUDE, GPT, NAMES
from tests.council.anonymize.scrub_cases import ORDINARY, SIGNED, Ordinary, Signed


@pytest.mark.parametrize("case", SIGNED, ids=lambda case: case.id)
def test_no_name_of_the_author_survives(case: Signed) -> None:
    masked = scrub(case.text).text.casefold()

    assert [name for name in case.names if name.casefold() in masked] == []


@pytest.mark.parametrize("case", SIGNED, ids=lambda case: case.id)
def test_what_is_masked_is_recorded(case: Signed) -> None:
    scrubbed = scrub(case.text)

    assert MASK in scrubbed.text
    assert all(found in case.text for found in scrubbed.found)
    assert scrubbed.found


@pytest.mark.parametrize("case", ORDINARY, ids=lambda case: case.id)
def test_models_that_are_only_mentioned_stay(case: Ordinary) -> None:
    scrubbed = scrub(case.text)

    assert scrubbed.text == case.text
    assert scrubbed.found == ()


def test_an_author_that_names_itself_once_is_masked_everywhere() -> None:
    scrubbed = scrub("As Claude, I think so. Claude 3 Opus and Anthropic agree; GPT-4 does not.")

    assert scrubbed.text == f"As {MASK}, I think so. {MASK} and {MASK} agree; GPT-4 does not."
    assert scrubbed.found == ("Claude", "Claude 3 Opus", "Anthropic")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        pytest.param(f"See {CLAUDE} for it.", f"See {MASK} for it.", id="key"),
        pytest.param("HOUSE-BLEND says yes", f"{MASK} says yes", id="whatever-case"),
        pytest.param("my house-blends and x/house-blend/y", None, id="part-of-a-word"),
    ],
)
def test_the_authors_ids_are_masked_everywhere(text: str, masked: str | None) -> None:
    assert scrub(text, ("house-blend", CLAUDE)).text == (masked or text)


def test_a_seat_without_a_name_masks_nothing() -> None:
    assert scrub("Yes.", ("", "")).text == "Yes."


def test_names_are_matched_literally() -> None:
    assert scrub("I like C++ (v2).", ("C++ (v2)",)).text == f"I like {MASK}."


def test_reasons_lose_all_names_of_panel_families() -> None:
    reason = "B sounds like GPT-4o by OpenAI; A like Claude; C cites Google."

    scrubbed = mask_names(reason, ["openai", "anthropic"])

    assert scrubbed.text == f"B sounds like {MASK} by {MASK}; A like {MASK}; C cites Google."
    assert scrubbed.found == ("Claude", "GPT-4o", "OpenAI")


def test_reasons_keep_names_of_other_families() -> None:
    assert mask_names("Like Claude.", ["unknown:acme"]).text == "Like Claude."


@pytest.mark.parametrize(("key", "display"), NAMES.items(), ids=NAMES)
def test_a_member_that_signs_with_its_display_name_is_masked(key: str, display: str) -> None:
    own = (key, key, display)

    masked = scrub(f"Use Postgres.\n\n— {display} ({key})", own).text

    assert display not in masked
    assert key not in masked


def test_masking_twice_changes_nothing_more() -> None:
    once = scrub(f"I'm {NAMES[GPT]}. — GPT", (GPT,)).text

    assert scrub(once, (GPT,)).text == once
