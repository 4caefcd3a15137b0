"""A map of agreement says only what the answers say."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from council.analysis import (
    Analysis,
    Dispute,
    Position,
    UniquePoint,
    all_agree,
    analyse,
    check_claims,
    is_quoted,
)
from council.answers import Reply
from council.labels import Label
from council.prompts.synthesis import JudgesReport, chair_prompt, split_reply, visible_draft
from council.rounds import Round, Synthesis
from tests.builders import a_question, a_round

K, M, T = Label("K"), Label("M"), Label("T")
ANSWERS = {
    K: "Use Postgres itself: a jobs table read with **SKIP LOCKED** carries 2,000 jobs a second.",
    M: "Rely on LISTEN/NOTIFY alone; polling is not needed. Keep the payload below 8,000 bytes.",
    T: "Poll the table every second as a backstop, because notifications are lost on a reconnect.",
}


@pytest.mark.parametrize(
    ("quote", "label", "expected"),
    [
        pytest.param("polling is not needed", M, True, id="exact"),
        pytest.param("Polling is NOT needed.", M, True, id="case-and-stop"),
        pytest.param("read with SKIP LOCKED carries", K, True, id="without-decoration"),
        pytest.param("polling is not neded", M, True, id="typo"),
        pytest.param("a jobs table … carries 2,000 jobs", K, True, id="ellipsis"),
        pytest.param("polling is needed", M, False, id="negation-dropped"),
        pytest.param("carries 9,000 jobs a second", K, False, id="another-number"),
        pytest.param("Poll the queue every second as a backstop", T, False, id="another-word"),
        pytest.param("polling is not needed", K, False, id="of-another-answer"),
        pytest.param("polling is not needed", Label("Z"), False, id="no-such-answer"),
        pytest.param("Use", K, False, id="too-short"),
        pytest.param("", K, False, id="nothing"),
        pytest.param("x" * 500, K, False, id="longer-than-the-answer"),
    ],
)
def test_a_quote_is_in_its_answer_or_nearly(quote: str, label: Label, expected: bool) -> None:
    assert is_quoted(quote, ANSWERS.get(label, "")) is expected


def claims(**changed: object) -> Mapping[str, object]:
    return {"agreed": [], "disputed": [], "unique": [], "open": [], **changed}


def a_dispute(*positions: tuple[object, object]) -> dict[str, object]:
    return {
        "point": "Is polling needed?",
        "positions": [{"labels": labels, "says": says} for labels, says in positions],
    }


def test_a_dispute_names_who_says_what() -> None:
    found = check_claims(
        claims(
            agreed=["Postgres can be the queue."],
            disputed=[
                a_dispute(
                    (["M"], "polling is not needed"),
                    (["Response T"], "Poll the table every second as a backstop"),
                )
            ],
            unique=[{"label": "m", "point": "Keep the payload below 8,000 bytes"}],
            open=["How large are the jobs?"],
        ),
        ANSWERS,
    )

    assert found == Analysis(
        agreed=("Postgres can be the queue.",),
        disputed=(
            Dispute(
                "Is polling needed?",
                (
                    Position((M,), "polling is not needed"),
                    Position((T,), "Poll the table every second as a backstop"),
                ),
            ),
        ),
        unique=(UniquePoint(M, "Keep the payload below 8,000 bytes"),),
        open=("How large are the jobs?",),
    )


@pytest.mark.parametrize(
    "positions",
    [
        pytest.param([(["M"], "polling is not needed")], id="one-position"),
        pytest.param(
            [(["M"], "polling is not needed"), (["K"], "polling is a must")], id="an-invention"
        ),
        pytest.param(
            [(["M"], "polling is not needed"), (["Q"], "Poll the table every second")],
            id="no-such-label",
        ),
        pytest.param(
            [(["M"], "polling is not needed"), (["M"], "Rely on LISTEN/NOTIFY alone")],
            id="one-answer-against-itself",
        ),
        pytest.param([("M", "polling is not needed"), (7, 8)], id="of-another-shape"),
    ],
)
def test_a_dispute_that_the_answers_do_not_bear_out_is_left_out(
    positions: list[tuple[object, object]],
) -> None:
    found = check_claims(claims(disputed=[a_dispute(*positions), "polling", {}]), ANSWERS)

    assert found == Analysis()


@pytest.mark.parametrize(
    "unique",
    [
        {"label": "K", "point": "polling is not needed"},
        {"label": "Q", "point": "polling is not needed"},
        {"label": None, "point": None},
        "polling",
    ],
)
def test_a_unique_point_is_in_its_answer(unique: object) -> None:
    assert check_claims(claims(unique=[unique]), ANSWERS) == Analysis()


def test_what_two_answers_say_is_not_unique() -> None:
    both = {K: "Use a jobs table in Postgres.", M: "I would use a jobs table in Postgres, too."}

    found = check_claims(
        claims(unique=[{"label": "K", "point": "Use a jobs table in Postgres"}]), both
    )

    assert found == Analysis()


def test_a_statement_that_names_a_maker_or_a_label_is_left_out_or_changed() -> None:
    found = check_claims(
        claims(agreed=["Claude is right.", "Response K is right.", 3, ""], open=["x" * 400]),
        ANSWERS,
        {"anthropic"},
    )

    assert found
    assert found.agreed == ("One of the answers is right.",)
    assert len(found.open[0]) == 300


@pytest.mark.parametrize("nothing", [{}, {"agreed": "x"}, {"drawn_on": ["K"]}])
def test_without_a_list_there_is_no_map(nothing: Mapping[str, object]) -> None:
    assert check_claims(nothing, ANSWERS) is None


# --- Two hundred planted contradictions

_SUBJECTS = ("cache", "queue", "index", "replica", "backup", "gateway", "worker", "certificate")
_VERBS = ("expires after", "handles", "needs", "loses", "grows by", "restarts within")
_UNITS = ("seconds", "megabytes", "requests", "percent", "connections", "minutes")
_FILLER = (
    "It depends on the load.",
    "Measure before you decide.",
    "The team must agree on it first.",
    "Most installations never reach that limit.",
)


def a_fact(chance: random.Random) -> str:
    subject, verb, unit = map(chance.choice, (_SUBJECTS, _VERBS, _UNITS))
    return (
        f"the {subject} in zone {chance.randrange(10, 99)} {verb} {chance.randrange(2, 900)} {unit}"
    )


def test_every_planted_contradiction_is_kept_and_no_invention_is_shown() -> None:
    """Of 200: a third are quotes, a third half-truths, a third inventions."""
    chance = random.Random("map")
    kept, shown = {"truth": 0, "half": 0, "invention": 0}, {"truth": 0, "half": 0, "invention": 0}
    for n in range(200):
        one, other = a_fact(chance), a_fact(chance)
        answers = {
            K: f"{chance.choice(_FILLER)} In short, {one}. {chance.choice(_FILLER)}",
            M: f"{chance.choice(_FILLER)} However, {other}. {chance.choice(_FILLER)}",
        }
        kind = ("truth", "half", "invention")[n % 3]
        said = {
            "truth": other.upper() if n % 2 else f"{other}.",
            "half": other.replace(chance.choice(_UNITS), "items").replace("zone", "no zone"),
            "invention": a_fact(chance),
        }[kind]
        found = check_claims(claims(disputed=[a_dispute((["K"], one), (["M"], said))]), answers)
        kept[kind] += 1
        shown[kind] += bool(found and found.disputed)

    assert shown["truth"] == kept["truth"]
    assert shown["half"] + shown["invention"] <= 0.02 * (kept["half"] + kept["invention"])


# --- The object in the reply

FULL = {"drawn_on": ["K"], "departs": False, "why": "", **claims()}


@pytest.mark.parametrize(
    ("reply", "text", "trailer"),
    [
        pytest.param(f"Use it.\n{json.dumps(FULL)}", "Use it.\n", FULL, id="whole"),
        pytest.param(
            f"Use it.\n```json\n{json.dumps(FULL)}\n```\n", "Use it.\n", FULL, id="fenced"
        ),
        pytest.param('Use it.\n{"drawn_on": ["K"], "agreed": ["a', "Use it.", {}, id="cut-off"),
        pytest.param('Use {"open": true} here.', 'Use {"open": true} here.', {}, id="in-the-text"),
        pytest.param('{"drawn_on": []}', "", {"drawn_on": []}, id="only-an-object"),
        pytest.param('{"agreed": []}', '{"agreed": []}', {}, id="an-answer-in-json"),
        pytest.param("Use it.", "Use it.", {}, id="none"),
        pytest.param('x {"why": ' + "[" * 5_000, 'x {"why": ' + "[" * 5_000, {}, id="deep"),
    ],
)
def test_the_object_is_split_from_the_answer(
    reply: str, text: str, trailer: Mapping[str, object]
) -> None:
    assert split_reply(reply) == (text, trailer)


def test_a_draft_never_shows_a_part_of_the_object() -> None:
    reply = f"Use it.\n{json.dumps({**FULL, 'agreed': ['All say so.']})}"

    drafts = {visible_draft(reply[:end]) for end in range(len("Use it."), len(reply) + 1)}

    assert drafts == {"Use it."}


# --- A stored round


def a_synthesized_round(reply: str, question: str = "Which queue?") -> Round:
    """Return a round whose chairman saw ANSWERS and replied this."""
    asked = replace(a_question(), text=question)
    prompt = chair_prompt(asked, ANSWERS, JudgesReport(), "nonce-1")
    written = Synthesis("Use it.", "k", prompt=prompt, reply=Reply(reply))
    return replace(a_round(question=asked), synthesis=written)


def test_a_rounds_map_is_read_from_what_is_stored() -> None:
    unique = [{"label": "M", "point": "polling is not needed"}]
    reply = f"Use it.\n{json.dumps(claims(drawn_on=[], unique=unique))}"

    found = analyse(a_synthesized_round(reply))

    assert found == Analysis(unique=(UniquePoint(M, "polling is not needed"),))


@pytest.mark.parametrize(
    ("question", "agreed"),
    [("Which queue?", ()), ("Is Claude a good queue?", ("Claude is fine.",))],
)
def test_a_maker_is_named_only_where_the_question_names_one(
    question: str, agreed: tuple[str, ...]
) -> None:
    reply = f"Use it.\n{json.dumps(claims(agreed=['Claude is fine.']))}"

    found = analyse(a_synthesized_round(reply, question))

    assert found
    assert found.agreed == agreed


@pytest.mark.parametrize(
    ("changed", "agree"),
    [
        ({"agreed": ["Start small."]}, True),
        ({"agreed": []}, False),
        ({"agreed": ["Start small."], "disputed": [{"point": "Which queue?"}]}, False),
        ({"agreed": ["Start small."], "unique": [{"label": "M", "point": "buy one"}]}, False),
        ({"agreed": ["Start small."], "unique": "none"}, False),
    ],
)
def test_all_agree_only_if_nothing_else_was_claimed_or_all_of_it_holds(
    changed: dict[str, object], agree: bool
) -> None:
    reply = f"Use it.\n{json.dumps(claims(**changed))}"

    assert all_agree(a_synthesized_round(reply)) is agree


@pytest.mark.parametrize("written", [None, Synthesis("Use it.", None)])
def test_a_round_without_a_chairmans_reply_has_no_map(written: Synthesis | None) -> None:
    assert analyse(replace(a_round(), synthesis=written)) is None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("use TLS 1.2 anywhere", "I would never use TLS 1.2 anywhere."),
        ("rotate keys yearly", "Do not rotate keys yearly."),
        ("200 euros in 2019", "It cost 1,200 euros in 2019."),
        ("The costs were 1", "The costs were 1,200."),
    ],
)
def test_a_quote_that_leaves_out_a_negation_or_a_part_of_a_number_is_none(
    quote: str, text: str
) -> None:
    assert not is_quoted(quote, text)


def test_a_quote_after_a_negation_elsewhere_still_counts() -> None:
    assert is_quoted("use TLS 1.3 anywhere", "Never use SSL. Use TLS 1.3 anywhere; not SSL.")
    assert is_quoted("rotate keys", "Do not rotate keys daily, but do rotate keys yearly.") is True


def test_what_both_sides_say_is_no_dispute() -> None:
    said = {"labels": ["K"], "says": "Use Postgres for it"}
    claims = {
        "disputed": [{"point": "Which database?", "positions": [said, said | {"labels": ["L"]}]}]
    }
    answers = {Label(x): f"{x}: Use Postgres for it, says {x}." for x in "KL"}

    found = check_claims(claims, answers)

    assert found
    assert found.disputed == ()
