"""Solve first: a judge ranks with its own solution of the question in view.

An outside judge writes one before it sees the answers; a member's is its answer.
Zheng et al. 2023 (reference-guided judging).
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from council.answers import Answer, Exchange, Prompt
from council.methods import Method
from council.panel import Panel
from council.pipeline.exchanges import Request, exchange_all
from council.pipeline.session import RoundSession
from council.pipeline.stages import collect_ballots, images_for
from council.prompts.answer import answer_prompt
from council.prompts.shared import nonce_for
from council.rounds import Draw, Round

SOLUTION = "solution"


def _solutions(panel: Panel) -> Mapping[str, int]:
    return dict.fromkeys((seat.key for seat in panel.outside_judges), 1)


def read_solution(_round: Round, exchange: Exchange) -> Exchange:
    """Return the exchange as verification recomputes it: any text is a solution."""
    return replace(exchange, kind=SOLUTION, subject="", nonce="", scores=(), fault="")


def _asked(prompt: Prompt, _fault: str | None) -> Prompt:
    return prompt


def solution_note(text: str, nonce: str) -> str:
    """Return the paragraph that shows a judge its own solution, which is neutralised already."""
    return (
        "Before you saw these answers, you solved the question yourself. Your solution may be "
        "wrong; use it to check the answers, and rank none higher for being like it.\n"
        f'<solution nonce="{nonce}">\n{text}\n</solution nonce="{nonce}">'
    )


async def solve_then_rank(session: RoundSession, draw: Draw) -> None:
    """Ask the outside judges for their solutions, then every judge for its ballot.

    A judge without a solution ranks without one.
    """
    round_ = session.round_
    brief = any(seat.demonstration for seat in round_.panel.members)
    judges = {slate.judge for slate in draw.slates}
    requests = []
    for seat in round_.panel.outside_judges:
        if seat.key in judges:
            reader = await session.reader(seat)
            prompt = answer_prompt(round_.question, brief=brief, role=seat.role, reader=reader)
            images = images_for(round_, reader)
            requests.append(Request(SOLUTION, seat, partial(_asked, prompt), images=images))
    solved = await exchange_all(session, requests, round_.panel.terms.answer_seconds)
    own = {answer.member: (await session.mask(answer)).text for answer in round_.answers}
    for (_, key, _), exchange in solved.items():
        own[key] = (await session.mask(Answer(key, exchange.prompt, exchange.reply))).text
    notes = {
        slate.voter: (solution_note(own[slate.judge], nonce_for(round_.seed, slate.voter)),)
        for slate in draw.slates
        if slate.judge in own
    }
    await collect_ballots(session, draw, notes=notes)


SOLVE_FIRST = Method(
    "solve-first",
    "Outside judges first solve the question themselves; every judge ranks with its own in view.",
    exchanges=_solutions,
    read=read_solution,
    extra_texts=1,
    collect=solve_then_rank,
)
