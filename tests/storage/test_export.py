"""An exported round, suite, bake-off or schedule is one line, and is read back unchanged."""

import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from pydantic import TypeAdapter

from council.errors import StoreError
from council.feedback import Feedback, HumanVote
from council.methods import BLIND_RANKING
from council.panel import Member, ModelId
from council.registry import NO_PLUGINS
from council.rounds import Round, sort_by_panel
from storage.export import ExportedRound, MissingPluginError, dump_round, parse_item
from tests.builders import ASKED_AT, an_answer
from tests.council.integrity.test_seal_fields import NewerMember
from tests.registries import a_registry
from tests.storage.builders import a_closed_round
from tests.storage.strategies import rounds_or_forgotten
from tests.storage.test_rounds import SHARED


def read_round(line: bytes | str) -> ExportedRound:
    found = parse_item(line)
    assert isinstance(found, ExportedRound)
    return found


@SHARED
@given(rounds_or_forgotten())
def test_an_exported_round_is_read_back_equal(round_: Round) -> None:
    line = dump_round(round_)

    assert read_round(line).round_ == sort_by_panel(round_)
    assert read_round(line.encode()).round_ == sort_by_panel(round_)
    assert "\n" not in line
    assert json.loads(line)["format"] == 1


def test_an_unpaired_surrogate_is_refused_in_one_sentence() -> None:
    round_ = replace(a_closed_round(), answers=(an_answer(text="cut off \ud83e"),))

    with pytest.raises(StoreError, match="Round 'r1' can't be written as JSON"):
        dump_round(round_)


RATED = (
    Feedback("r1", "web:1", helpful=False, reason="It missed\nthe point.", at=ASKED_AT),
    Feedback("r1", "web:2", helpful=True, reason="", at=ASKED_AT),
)


def test_ratings_are_exported_with_the_round() -> None:
    line = dump_round(a_closed_round(), RATED)

    assert read_round(line) == ExportedRound(a_closed_round(), RATED)
    assert "ratings" not in json.loads(dump_round(a_closed_round()))


def label_pairs() -> list[tuple[str, str]]:
    """Return the authors and labels of the closed round."""
    draw = a_closed_round().draw
    assert draw
    return [*draw.labels.pairs]


AUTHOR, LABEL = label_pairs()[0]
CAST = (HumanVote("r1", "web:1", LABEL, AUTHOR, ASKED_AT),)


def test_votes_are_exported_with_the_round() -> None:
    line = dump_round(a_closed_round(), RATED, CAST)

    assert read_round(line) == ExportedRound(a_closed_round(), RATED, CAST)
    assert "votes" not in json.loads(dump_round(a_closed_round(), RATED))


def test_a_vote_on_another_round_is_refused() -> None:
    line = dump_round(a_closed_round(), votes=(replace(CAST[0], round_id="r2"),))

    with pytest.raises(StoreError, match=r"votes\.0\.round_id: it belongs to another round"):
        read_round(line)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"label": "A"}, id="a letter that the round does not have"),
        pytest.param({"member": "somebody else"}, id="another author"),
        pytest.param({"ranking": ((label_pairs()[1][1],),)}, id="another best answer"),
        pytest.param({"ranking": ((LABEL,), (LABEL,))}, id="an answer twice"),
        pytest.param({"ranking": ((LABEL,), ("A",))}, id="an unknown second"),
        pytest.param({"ranking": ((LABEL,), ())}, id="an empty place"),
    ],
)
def test_a_vote_that_does_not_match_the_answers_is_refused(wrong: dict[str, Any]) -> None:
    line = dump_round(a_closed_round(), votes=(replace(CAST[0], **wrong),))

    with pytest.raises(StoreError, match=r"votes\.0: it does not match the round's answers"):
        read_round(line)


def rated(**fields: object) -> list[dict[str, object]]:
    known = {"round_id": "r1", "by": "U1", "helpful": True, "reason": "", "at": str(ASKED_AT)}
    return [known | fields]


def changed_line(**fields: object) -> str:
    return json.dumps(json.loads(dump_round(a_closed_round())) | fields)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        pytest.param("{broken", "it is not valid JSON", id="broken"),
        pytest.param(b"\xff", "it is not valid JSON", id="bytes"),
        pytest.param("[1]", "it has no format", id="list"),
        pytest.param("{}", "it has no format", id="empty"),
        pytest.param(changed_line(format=2), "use a newer version", id="newer"),
        pytest.param(changed_line(seed=None), "seed: ", id="seed"),
        pytest.param(changed_line(answers=[{}]), r"answers\.0\.member: ", id="answer"),
        pytest.param(changed_line(panel={}), r"panel\.name: ", id="panel"),
        pytest.param(changed_line(asked_at="2026-11-21T09:00:00"), "asked_at: ", id="no-zone"),
        pytest.param(changed_line(ratings=7), "ratings: ", id="ratings"),
        pytest.param(
            changed_line(ratings=rated(round_id="r2")),
            r"ratings\.0\.round_id: it belongs to another round",
            id="rating-of-another",
        ),
        pytest.param(
            changed_line(ratings=rated(at="2026-11-21T09:00:00")),
            r"ratings\.0\.at: ",
            id="rating-no-zone",
        ),
        pytest.param(
            changed_line(ratings=rated(helpful="?")), r"ratings\.0\.helpful: ", id="helpful"
        ),
    ],
)
def test_an_invalid_round_is_named(line: str | bytes, named: str) -> None:
    with pytest.raises(StoreError, match=named):
        read_round(line)


def test_an_invalid_panel_is_named() -> None:
    document = json.loads(dump_round(a_closed_round()))
    document["panel"]["members"] = document["panel"]["members"][:1]

    with pytest.raises(StoreError, match="has 1 member"):
        read_round(json.dumps(document))


def test_a_newer_setting_of_a_member_is_stored_only_where_it_is_set() -> None:
    named = ("gpt", ModelId("openai/gpt-5.1"), "GPT-5.1", "gpt")
    stored = TypeAdapter(NewerMember)

    assert "tools" not in stored.dump_python(NewerMember(*named), mode="json")
    assert stored.dump_python(NewerMember(*named, tools=("search",)), mode="json")["tools"]
    assert stored.validate_python(asdict(Member(*named))) == NewerMember(*named)


def test_a_line_without_a_kind_is_a_round() -> None:
    assert parse_item(dump_round(a_closed_round())) == ExportedRound(a_closed_round())


def test_a_line_of_a_plug_in_that_is_absent_names_it() -> None:
    document = {"format": 1, "kind": "haiku.poem", "text": "An old pond"}

    with pytest.raises(MissingPluginError, match="needs the plug-in haiku"):
        parse_item(json.dumps(document))
    with pytest.raises(MissingPluginError, match="needs the plug-in bakeoffs"):
        parse_item(json.dumps(document | {"kind": "schedule"}))


def test_a_round_gets_the_registry_of_its_reader_and_none_from_a_file() -> None:
    line = dump_round(replace(a_closed_round(), registry=a_registry(BLIND_RANKING)))
    method_of_the_file = {"methods": {"evil": {"plugin": "x", "address": "os:system"}}}
    changed = json.dumps({**json.loads(line), "registry": method_of_the_file})
    registry = a_registry(BLIND_RANKING)
    read = [parse_item(changed), parse_item(changed, registry=registry)]

    assert "registry" not in json.loads(line)
    assert [x.round_.registry for x in read if isinstance(x, ExportedRound)] == [
        NO_PLUGINS,
        registry,
    ]
