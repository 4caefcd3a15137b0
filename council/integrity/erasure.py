"""Forget what was said in a round, and keep how it was judged.

Gone are the question, what it refers to and the reference its judges read, answers, prompts,
ballots' raw texts and reasons, spoiled texts and the synthesis. What stays is who sat, the draw,
rankings, standings, verdict, tokens, cost and times, and which model names were masked: what
leaderboards and reports rest on.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from council.answers import Answer, Prompt, Reply
from council.ballots import Ballot, BallotExchange, SpoiledBallot
from council.digests import Digests, Forgotten, salted_digest
from council.errors import ForgottenError
from council.feedback import Feedback
from council.rounds import Round, Synthesis

ReplaceText = Callable[
    [str, str], str
]  # is handed a text's name and the text, and gives what is left


def forget(round_: Round, at: datetime, salt: str) -> Round:
    """Give the round without its texts; one that was forgotten before stays as it is."""
    if round_.forgotten:
        return round_
    forgotten = Forgotten(at, salt, text_digests(round_, salt))
    return replace(_emptied(round_, _nothing), forgotten=forgotten)


def text_digests(round_: Round, salt: str) -> Digests:
    """Give a digest of every text by its name, or those that a forgotten round kept."""
    if round_.forgotten:
        return round_.forgotten.digests
    return tuple((name, salted_digest(salt, text)) for name, text in texts_of(round_))


def texts_of(round_: Round) -> tuple[tuple[str, str], ...]:
    """Give every text that forgetting removes, by name; empty ones are left out."""
    found: list[tuple[str, str]] = []

    def note(name: str, text: str) -> str:
        if text:
            found.append((name, text))
        return text

    _emptied(round_, note)
    return tuple(found)


def names_of_text(round_: Round, text: str) -> tuple[str, ...]:
    """Name the texts of the round that this one is, whether they are still kept or forgotten."""
    if round_.forgotten:
        return round_.forgotten.names_of_text(text)
    return tuple(name for name, kept in texts_of(round_) if kept == text)


def check_remembered(round_: Round) -> None:
    """Raise ForgottenError for a round whose texts are gone: nothing can go on from it."""
    if round_.forgotten:
        raise refusal(round_.id, round_.forgotten.at)


def check_wordless(feedback: Feedback, at: datetime | None) -> None:
    """Raise ForgottenError for words on a round that was forgotten then; a bare verdict is none."""
    if at and feedback.reason:
        raise ForgottenError(
            f"Round {feedback.round_id!r} was forgotten on {at:%Y-%m-%d}, so no words on it are "
            "kept: say whether it helped, without a reason."
        )


def refusal(round_id: str, at: datetime) -> ForgottenError:
    """Give the error for whoever wants to go on with a forgotten round."""
    return ForgottenError(
        f"Round {round_id!r} was forgotten on {at:%Y-%m-%d}, so nobody can go on with it: ask the "
        "question anew."
    )


def _nothing(*_: str) -> str:
    return ""


def _emptied(round_: Round, take: ReplaceText) -> Round:
    """Give the round with each text replaced by what is left of it."""
    asked = round_.question
    return replace(
        round_,
        question=replace(
            asked,
            text=take("question", asked.text),
            context=take("context", asked.context),
            reference=take("reference", asked.reference),
        ),
        answers=tuple(_answer(answer, take) for answer in round_.answers),
        ballots=tuple(_ballot(ballot, take) for ballot in round_.ballots),
        spoiled=tuple(_spoiled(spoiled, take) for spoiled in round_.spoiled),
        synthesis=round_.synthesis and _synthesis(round_.synthesis, take),
    )


def _answer(answer: Answer, take: ReplaceText) -> Answer:
    name = f"answers[{answer.member}]"
    prompt, reply = _prompt(answer.prompt, name, take), _reply(answer.reply, name, take)
    return replace(answer, prompt=prompt, reply=reply)


def _ballot(ballot: Ballot, take: ReplaceText) -> Ballot:
    audit = f" {ballot.audit}" if ballot.audit else ""
    name = f"ballots[{ballot.judge}{audit}]"
    reason = take(f"{name}.reason", ballot.reason)
    return replace(ballot, reason=reason, paper=ballot.paper and _paper(ballot.paper, name, take))


def _spoiled(spoiled: SpoiledBallot, take: ReplaceText) -> SpoiledBallot:
    name = f"spoiled[{spoiled.judge} #{spoiled.paper.attempt}]"
    return replace(spoiled, paper=_paper(spoiled.paper, name, take))


def _synthesis(written: Synthesis, take: ReplaceText) -> Synthesis:
    why = take("synthesis.why", written.why or "")
    return replace(
        written,
        text=take("synthesis", written.text),
        why=why or None,
        prompt=written.prompt and _prompt(written.prompt, "synthesis", take),
        reply=written.reply and _reply(written.reply, "synthesis.reply", take),
    )


def _paper(paper: BallotExchange, name: str, take: ReplaceText) -> BallotExchange:
    prompt, reply = _prompt(paper.prompt, name, take), _reply(paper.reply, name, take)
    return replace(paper, prompt=prompt, reply=reply)


def _prompt(prompt: Prompt, name: str, take: ReplaceText) -> Prompt:
    system, user = f"{name}.prompt.system", f"{name}.prompt.user"
    return Prompt(take(system, prompt.system), take(user, prompt.user))


def _reply(reply: Reply, name: str, take: ReplaceText) -> Reply:
    return replace(reply, text=take(name, reply.text))
