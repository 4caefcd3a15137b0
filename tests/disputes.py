"""Closed rounds whose answers contradict each other, and chairmen that obey a decision or not."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from council.answers import Prompt, Reply
from council.prompts.shared import nonce_for
from council.prompts.synthesis import JudgesReport, chair_prompt, parse_chair_reply
from council.rounds import Choice, Closing, Decision, Round
from tests.builders import (
    ASKED_AT,
    CLAUDE,
    GEMINI,
    GPT,
    a_question,
    a_round,
    with_answers,
    with_ballots,
)
from tests.fakes.gateway import FakeGateway, ReadPrompt

BROKER = "Is a broker needed now?"
YES, NO = "A broker is needed from the first day", "Postgres alone carries this load for years"
DISPUTES = ((BROKER, (YES, NO)),)
OLD_TEXT = "Start with what you run already, and measure."
ASKER = "U1"
_DECIDED = re.compile(r'^(\d+)\. On "(.*)": "(.*)"$', re.MULTILINE)

Disputes = Sequence[tuple[str, Sequence[str]]]


def disputed(round_: Round, disputes: Disputes = DISPUTES) -> Round:
    """Return a round of three models, closed, whose answers take the positions of each dispute."""
    members = (GPT, CLAUDE, GEMINI)
    said = {
        member: " ".join(f"{positions[i % len(positions)]}." for _, positions in disputes)
        for i, member in enumerate(members)
    }
    round_ = with_ballots(with_answers(round_, said))
    labels = round_.draw.labels if round_.draw else None
    assert labels
    texts = {label: text for member, text in said.items() if (label := labels.label_of(member))}
    claims = [
        {
            "point": point,
            "positions": [
                {"labels": [x for x, text in texts.items() if f"{says}." in text], "says": says}
                for says in positions
            ],
        }
        for point, positions in disputes
    ]
    reply = f"{OLD_TEXT}\n{json.dumps({'drawn_on': [], 'disputed': claims})}"
    fenced = {label: texts[label] for label in sorted(texts)}
    prompt = chair_prompt(
        round_.question, fenced, JudgesReport(), nonce_for(round_.seed, "chairman")
    )
    written = parse_chair_reply(reply, labels.labels)
    written = replace(written, chairman=GPT, prompt=prompt, reply=Reply(reply, cost_usd=0.01))
    return replace(round_, synthesis=written, closing=Closing(31.5))


def a_disputed_round(disputes: Disputes = DISPUTES, round_id: str = "r1") -> Round:
    """Return a closed round with these disputes, asked by ASKER."""
    asked = replace(a_question(), asked_by=ASKER)
    return disputed(replace(a_round(question=asked), id=round_id), disputes)


def a_decision(
    text: str = f"Well then. {YES}.", *, by: str = ASKER, says: str = YES, key: str = "e1"
) -> Decision:
    """Return a decision on BROKER, with the text that a chairman wrote for it."""
    claims = json.dumps({"drawn_on": [], "followed": [{"decision": 1, "quote": f"{says}."}]})
    written = parse_chair_reply(f"{text}\n{claims}", ())
    reply = Reply(f"{text}\n{claims}", cost_usd=0.02)
    written = replace(written, chairman=GPT, prompt=chair_prompt_of(), reply=reply)
    return Decision(key, by, ASKED_AT, (Choice(BROKER, says),), written)


def chair_prompt_of() -> Prompt:
    """Return any chairman's prompt."""
    return chair_prompt(a_question(), {}, JudgesReport(), "0" * 16)


def decided_in(prompt: str) -> list[tuple[str, str]]:
    """Return the points and positions that a chairman's prompt gives."""
    return [(point, says) for _, point, says in _DECIDED.findall(prompt)]


def obedient_reply(prompt: str) -> str:
    """Return what a chairman writes that takes every decision of its prompt as given."""
    says = [position for _, position in decided_in(prompt)]
    followed = [{"decision": i, "quote": words} for i, words in enumerate(says, start=1)]
    text = " ".join(f"Settled: {words}." for words in says)
    return f"{text}\n{json.dumps({'drawn_on': [], 'followed': followed})}"


def take_positions(gateway: FakeGateway, members: Sequence[str] = (CLAUDE, GPT, GEMINI)) -> None:
    """Script models to take YES and NO in turn; their chairman maps that, then obeys a decision."""
    taken = {member: f"{(YES, NO)[i % 2]}." for i, member in enumerate(members)}
    gateway.answers = taken
    gateway.chairmen = dict.fromkeys(members, (_map_of, f"Settled: {YES}."))


def _map_of(shown: ReadPrompt) -> str:
    positions = [
        {"labels": [x for x, text in shown.texts.items() if says in text], "says": says}
        for says in (YES, NO)
    ]
    claims = {"drawn_on": [], "disputed": [{"point": BROKER, "positions": positions}]}
    return f"{OLD_TEXT}\n{json.dumps(claims)}"
