"""Registry: what plug-ins bring, under which names, and what is said where it is missing."""

import json
from dataclasses import replace

import pytest

from council.errors import PanelError
from council.filters import check_filters, find_filters, find_suspects
from council.integrity.verification import verify
from council.methods import (
    BLIND_RANKING,
    METHODS,
    Method,
    check_panel_rules,
    find_method,
    known_methods,
    method_of,
    method_summary,
    missing_rules,
    offered_methods,
    shown_method,
)
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices, RoundSession
from council.pipeline.stages import collect_ballots
from council.plugin import Plugin
from council.registry import NO_PLUGINS, Registry, build_registry
from council.round_rules import CONSISTENCY, weighted_standings
from council.rounds import Draw, Round
from tests.builders import (
    KEYS,
    TERMS,
    a_member,
    a_panel,
    a_round,
    with_answers,
    with_ballots,
)
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore
from tests.registries import a_registry, address_of

HAIKU = Method("haiku-first", "Haiku come first.")
CHATS = {"pager": "c:C"}
FIRST = Plugin(name="first", methods={"haiku-first": address_of(HAIKU)})


def a_round_by(method: str, registry: Registry = NO_PLUGINS) -> Round:
    return a_round(a_panel(3, terms=replace(TERMS, method=method)), registry=registry)


def test_a_plug_ins_method_is_known_and_offered() -> None:
    registry = build_registry([FIRST], methods=METHODS)

    assert find_method("haiku-first", registry) is HAIKU
    assert offered_methods([], registry) == (*METHODS, "haiku-first")
    assert known_methods(registry) == tuple(sorted([*METHODS, "haiku-first"]))
    assert method_summary("haiku-first", registry) == "Haiku come first."
    assert registry.conflicts == ()


def test_a_plug_in_can_leave_the_offer_to_panels() -> None:
    registry = build_registry([replace(FIRST, offers_methods=False)], methods=METHODS)
    named = a_round_by("haiku-first").panel

    assert "haiku-first" not in offered_methods([], registry)
    assert "haiku-first" in offered_methods([named], registry)


def test_a_suite_format_is_found_by_its_ending_and_a_disabled_one_is_named() -> None:
    plugin = Plugin(name="haiku", suite_formats={".haiku": "nowhere:READ"})

    registry, without = build_registry([plugin]), build_registry([], disabled=[plugin])

    assert registry.suite_formats[".haiku"].plugin == "haiku"
    assert without.suite_formats == {}
    assert "the plug-in haiku" in without.missing_part("suite_formats", ".haiku")


def test_built_in_names_win_and_the_conflict_is_named() -> None:
    plugin = Plugin(
        name="bold",
        methods={"blind-ranking": address_of(HAIKU)},
        graders={"exact": "nowhere:EXACT"},
        gateways={"local": "nowhere:LOCAL"},
    )

    registry = build_registry([plugin], methods=METHODS, graders=["exact"], gateways=["local"])

    assert find_method("blind-ranking", registry) is BLIND_RANKING
    assert registry.graders == {}
    assert tuple(map(str, registry.conflicts)) == (
        "The method 'blind-ranking' of the plug-in bold is left out: the built-in one has this "
        "name.",
        "The grader 'exact' of the plug-in bold is left out: the built-in one has this name.",
        "The gateway 'local' of the plug-in bold is left out: the built-in one has this name.",
    )


def test_of_two_plug_ins_the_first_wins_and_the_conflict_is_named() -> None:
    other = Plugin(
        name="second", methods={"haiku-first": "nowhere:AT_ALL"}, filters=("b:B",), chats=CHATS
    )
    first = replace(FIRST, filters=("a:A",), chats=CHATS)

    registry = build_registry([first, other], methods=METHODS)

    assert find_method("haiku-first", registry) is HAIKU
    assert registry.filters
    assert registry.filters.plugin == "first"
    assert [(conflict.kind, conflict.name) for conflict in registry.conflicts] == [
        ("method", "haiku-first"),
        ("filter", "filter"),
        ("chat", "pager"),
    ]
    assert all("the plug-in first has this name" in str(one) for one in registry.conflicts)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("nowhere.at_all:HAIKU", "No module named 'nowhere'"),
        ("council.methods:HAIKU", "has no attribute 'HAIKU'"),
        ("council.methods", "can't be loaded"),
        (address_of("a text"), "is a str, not a Method"),
        (address_of(replace(HAIKU, name="tanka")), "has the name 'tanka'"),
    ],
)
def test_a_broken_method_names_its_plug_in_and_why(address: str, why: str) -> None:
    registry = build_registry([Plugin(name="haiku", methods={"haiku-first": address})])

    with pytest.raises(PanelError, match="The plug-in haiku can't be used") as raised:
        find_method("haiku-first", registry)
    assert why in str(raised.value)
    assert why in method_summary("haiku-first", registry)


def test_a_method_of_a_disabled_plug_in_says_whose_it_is() -> None:
    registry = build_registry([], disabled=[Plugin(name="other"), FIRST])

    with pytest.raises(PanelError, match="It belongs to the plug-in first, which is disabled"):
        find_method("haiku-first", registry)


def test_a_missing_part_names_the_plug_ins_that_failed() -> None:
    registry = build_registry([], failed=["haiku", "tanka"])

    with pytest.raises(PanelError, match="A plug-in that failed may have it: haiku, tanka."):
        find_method("haiku-first", registry)


async def run(round_: Round, gateway: FakeGateway) -> Round:
    store = MemoryStore()
    await store.open(round_)
    return await run_round(round_.id, RoundServices(gateway, store))


async def test_a_plug_ins_method_runs_and_verifies_with_what_it_collects() -> None:
    collected: list[str] = []

    async def collect(session: RoundSession, draw: Draw) -> None:
        collected.append(session.round_.id)
        await collect_ballots(session, draw)

    registry = a_registry(replace(HAIKU, collect=collect))

    round_ = await run(a_round_by("haiku-first", registry), FakeGateway())

    assert collected == ["r1"]
    assert round_.tally
    assert round_.registry is registry
    assert verify(round_) == ()


@pytest.mark.parametrize(
    "asked",
    [a_round_by("haiku-first"), a_round(a_panel(3, terms=replace(TERMS, text_checks=True)))],
)
async def test_a_round_without_its_method_or_filters_asks_nobody(asked: Round) -> None:
    gateway = FakeGateway()

    with pytest.raises(PanelError, match="haiku-first|No plug-in here has filters"):
        await run(asked, gateway)
    assert gateway.asked == []


def test_a_stored_round_of_an_unknown_method_is_shown_and_says_which_one_it_needs() -> None:
    known = with_ballots(with_answers(a_round_by("haiku-first", a_registry(HAIKU))))
    weights = (CONSISTENCY, json.dumps(dict(zip(KEYS[:3], (0.9, 0.3, 0.2), strict=True))))
    stored = replace(known, versions=(*known.versions, weights), registry=NO_PLUGINS)

    needs = "Install or enable the plug-in that has the method haiku-first to recompute this round."
    with pytest.raises(PanelError, match=needs):
        method_of(stored)
    assert shown_method(stored).summary == missing_rules(stored) == needs
    assert missing_rules(known) == ""
    assert not shown_method(stored).is_blind
    assert shown_method(known) is HAIKU
    assert weighted_standings(stored) == ()
    assert weighted_standings(replace(stored, registry=known.registry)) != ()


def test_a_stored_round_of_a_disabled_plug_in_names_it() -> None:
    registry = build_registry([], disabled=[Plugin(name="other"), FIRST])

    needs = missing_rules(a_round_by("haiku-first", registry))

    assert needs == "Method haiku-first is part of the plug-in first, which is not on."


def test_a_panel_without_its_filters_is_refused_and_its_rounds_are_shown_without() -> None:
    plain = a_panel(3)
    filtered = replace(plain, filter=a_member("xai/filter"))

    check_panel_rules(plain, NO_PLUGINS)
    for panel in (
        filtered,
        replace(plain, terms=replace(TERMS, text_checks=True)),
        replace(plain, terms=replace(TERMS, canary_share=0.1)),
    ):
        with pytest.raises(PanelError, match="No plug-in here has filters"):
            check_filters(panel, NO_PLUGINS)
        assert missing_rules(a_round(panel)).startswith("Install or enable the plug-in that has f")
    assert find_suspects(a_round(filtered)) == ()
    broken = build_registry([Plugin(name="odd", filters=(address_of(HAIKU),))])
    with pytest.raises(PanelError, match="is a Method, not a Filters"):
        find_filters(broken)


def test_the_registry_is_no_part_of_a_rounds_value() -> None:
    round_ = a_round()

    other = replace(round_, registry=a_registry(HAIKU))

    assert other == round_
    assert "haiku" not in repr(other)
    assert replace(other, seed="s").registry is other.registry


def test_a_round_keeps_the_rules_of_its_version() -> None:
    newest = replace(HAIKU, version="2", earlier=(HAIKU,))
    old = a_round_by("haiku-first", a_registry(newest))

    assert method_of(replace(old, versions=())) is HAIKU
    assert method_of(replace(old, versions=(("method", "2"),))) is newest
    with pytest.raises(PanelError, match="version 3"):
        method_of(replace(old, versions=(("method", "3"),)))
