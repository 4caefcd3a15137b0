"""Every kind of tampering with a chain is reported, except rewriting it up to its end."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from council.integrity.hash_chain import LINK_VERSION, Link, StoredLink, next_link
from council.integrity.verification import ChainWalk, chain_name, walk_stretches

Tamper = Callable[[list[Link]], Sequence[Link]]


def a_chain(length: int, scope: str = "slack/T1") -> list[Link]:
    links: list[Link] = []
    for number in range(1, length + 1):
        links.append(next_link(links[-1] if links else None, scope, f"r{number}", f"d{number}"))
    return links


def walk_chain(links: Sequence[Link], known: str = "", gone: str = "") -> ChainWalk:
    walk = ChainWalk("slack/T1", known_heads=frozenset({known}))
    for link in links:
        walk.past(StoredLink(link, link.round_id != gone))
    return walk


CHAIN = a_chain(5)


def at(index: int, **changes: Any) -> Tamper:  # noqa: ANN401 - of any field
    """Change what one link holds, and leave its hash."""
    return lambda links: [
        *links[:index],
        replace(links[index], **changes),
        *links[index + 1 :],
    ]


def rehashed(links: list[Link]) -> list[Link]:
    """Change the third link's digest, and give it the hash that it then has."""
    changed = next_link(links[1], "slack/T1", "r3", "another")
    return [*links[:2], changed, *links[3:]]


@pytest.mark.parametrize(
    ("tamper", "findings"),
    [
        pytest.param(at(2, digest="x"), ["link 3 was changed"], id="digest"),
        pytest.param(at(4, origin="x"), ["link 5 was changed"], id="last"),
        pytest.param(
            at(2, hash="x"),
            ["link 3 was changed", "link 4 does not follow what is before it"],
            id="hash",
        ),
        pytest.param(rehashed, ["link 4 does not follow what is before it"], id="hash-made-anew"),
        pytest.param(lambda links: links[1:], ["link 1 is missing"], id="first-gone"),
        pytest.param(
            lambda links: [links[0], *links[3:]], ["links 2 to 3 are missing"], id="two-gone"
        ),
        pytest.param(
            lambda links: [replace(links[0], number=0), *links],
            [
                "link 0 has no place in it",
                "link 0 was changed",
                "link 1 does not follow what is before it",
            ],
            id="one-put-before",
        ),
        pytest.param(
            at(4, version=LINK_VERSION + 1),
            ["link 5 was made by another version of the program"],
            id="version",
        ),
    ],
)
def test_a_changed_chain_names_the_link(tamper: Tamper, findings: list[str]) -> None:
    assert walk_chain(tamper(CHAIN)).findings == findings


def test_a_deleted_round_is_named_and_breaks_no_link() -> None:
    walk = walk_chain(CHAIN, gone="r4")

    assert (walk.findings, walk.is_broken) == (["round 'r4' of link 4 was deleted"], False)


def test_a_known_head_is_reached_if_nothing_before_it_changed() -> None:
    head = CHAIN[2].hash

    assert walk_chain(CHAIN, head).met == [head]
    assert walk_chain(at(3, digest="x")(CHAIN), head).met == [head]
    assert walk_chain(at(1, digest="x")(CHAIN), head).met == []


def test_a_fully_rewritten_chain_misses_only_its_known_head() -> None:
    head = CHAIN[-1].hash
    rewritten = CHAIN[:2]
    for number in (3, 4, 5):
        rewritten.append(next_link(rewritten[-1], "slack/T1", f"r{number}", "another"))

    walk = walk_chain(rewritten, head)

    assert (walk.findings, walk.met) == ([], [])


def test_a_stretch_trusts_what_precedes_it() -> None:
    other = a_chain(2, "")

    walks = walk_stretches([*CHAIN[1:3], CHAIN[4], *other])

    assert [(walk.scope, walk.length) for walk in walks] == [
        ("", 2),
        ("slack/T1", 3),
        ("slack/T1", 5),
    ]
    assert not any(walk.findings for walk in walks)


def test_unconnected_links_of_a_stretch_are_named() -> None:
    (walk,) = walk_stretches(rehashed(CHAIN)[1:4])

    assert walk.findings == ["link 4 does not follow what is before it"]


def test_a_chain_is_named_after_its_workspace() -> None:
    assert chain_name("slack/T1") == "the hash chain of slack/T1"
    assert chain_name("") == "the main hash chain"
