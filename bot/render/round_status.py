"""Renderer of a round before and while it runs: accepted, progress, stopped."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from bot.chat import (
    Button,
    Buttons,
    Caution,
    Heading,
    Line,
    Note,
    Post,
    Prose,
    Step,
    Steps,
    StepState,
)
from bot.render.formatting import (
    add_note,
    count_noun,
    duration,
    join_words,
    max_cost_text,
    rough_duration,
    seat_names,
)
from bot.render.round_report.rankings import ranking_number
from bot.render.round_report.thread import menu_buttons, round_title
from bot.render.voting import READ_AND_VOTE, VOTE, takes_blind_votes
from council.answers import Role
from council.budget import Estimate
from council.methods import shown_method
from council.money import cap_micro_usd
from council.panel import THIS_MACHINE, Member, Panel
from council.people import ThreadReading
from council.providers import OLLAMA_ROUTES
from council.rounds import Round, Stage

WRITING = "Writing the answer"

_PROVIDER_NAMES = {
    "anthropic": "Anthropic",
    "azure": "Microsoft Azure",
    "bedrock": "Amazon",
    "cohere": "Cohere",
    "deepseek": "DeepSeek",
    "gemini": "Google",
    "groq": "Groq",
    "mistral": "Mistral AI",
    "ollama": "Ollama",
    "ollama_chat": "Ollama",
    "openai": "OpenAI",
    "scripted": "scripted models",
    "openrouter": "OpenRouter",
    "vertex_ai": "Google",
    "xai": "xAI",
}


def accepted_post(round_: Round, estimate: Estimate, usual_seconds: float | None) -> Post:
    """Return the private confirmation that the question was accepted."""
    names = seat_names(round_.panel)
    members = join_words(names[seat.key] for seat in round_.panel.members)
    line = f"Asking {members}."
    terms = terms_line(round_, estimate, usual_seconds)
    return Post((Line(line), Note(f"{terms} Round `{round_.id}`.")), f"{line} {terms}")


def terms_line(round_: Round, estimate: Estimate, usual_seconds: float | None) -> str:
    """Return who receives the text, what the round may cost, and how long it takes.

    The time is the usual time if it is known, else the maximum.
    """
    return f"{receipt_line(round_, estimate)} It {_time_text(round_.panel, usual_seconds)}."


def receipt_line(round_: Round, estimate: Estimate) -> str:
    """Return who receives the text, and what the round may cost."""
    panel, names, cap = round_.panel, seat_names(round_.panel), round_.panel.terms.max_round_usd
    micro = estimate.micro if cap is None else min(cap_micro_usd(cap), estimate.micro)
    cost = max_cost_text(micro, (names[key] for key in estimate.unknown))
    return f"{sent_text(panel)}. {cost}."


def _time_text(panel: Panel, usual_seconds: float | None) -> str:
    """Return how long a round takes: "usually takes about 40 s", "takes 3 min at most"."""
    if usual_seconds is not None:
        return f"usually takes about {rough_duration(usual_seconds)}"
    terms = panel.terms
    chairman_seconds = terms.synthesis_seconds * len(panel.chair_order)
    max_seconds = terms.answer_seconds + terms.ballot_seconds + chairman_seconds
    return f"takes {duration(min(max_seconds, terms.round_seconds or max_seconds))} at most"


def receivers(panel: Panel) -> str:
    """Return the names of all providers and the addresses that receive the text."""
    return seat_receivers(panel.seats)


def seat_receivers(seats: Iterable[Member]) -> str:
    """Return the names of the providers and the addresses of some seats."""
    return join_words(dict.fromkeys(map(_receiver, seats)))


def receiver_names(panel: Panel) -> tuple[str, ...]:
    """Return the name or address of each that receives the text, once."""
    return tuple(dict.fromkeys(map(_receiver, panel.seats)))


def sent_text(panel: Panel) -> str:
    """Return "Sent only to OpenAI"; without "only" to an address, which may be a proxy."""
    only = "" if any(map(_address, panel.seats)) else "only "
    return f"Sent {only}to {receivers(panel)}"


def _receiver(seat: Member) -> str:
    if address := _address(seat):
        return address
    if seat.receiver:
        return "models on the Council server"
    return provider_name(seat.model_id.partition("/")[0])


def provider_name(provider: str) -> str:
    """Return the name of a provider, for people."""
    return _PROVIDER_NAMES.get(provider, provider)


def _address(seat: Member) -> str:
    """Return the address that receives the text; "" for a provider or this machine's own models."""
    if seat.receiver != THIS_MACHINE:
        return seat.receiver
    # Earlier versions stored this for every server on loopback.
    is_ours = seat.demonstration or seat.model_id.partition("/")[0] in OLLAMA_ROUTES
    return "" if is_ours else "localhost"


def progress_post(round_: Round, seconds: float, draft: str = "") -> Post:
    """Return the progress of a running round, `seconds` after it began.

    `draft` is the answer as far as it is written.
    """
    writing = StepState.RUNNING if round_.tally else StepState.WAITING
    synthesis_step = Step(WRITING, StepState.DONE if round_.synthesis else writing)
    steps = [*_answer_steps(round_), *ballot_steps(round_), synthesis_step]
    summary = progress_summary(round_)
    written = (Prose(draft),) if draft else ()
    return Post((Steps(summary, tuple(steps)), Note(duration(seconds)), *written), summary)


def progress_summary(round_: Round) -> str:
    """Return how many have answered or voted: "2 of 3 models answered"."""
    if round_.stage is Stage.OPEN:
        members = count_noun(len(round_.panel.members), "model")
        # An answer counts once people may read it: names in it are masked then.
        readable = sum(answer.scrubbed is not None for answer in round_.answers)
        return f"{readable} of {members} answered"
    if round_.draw and round_.stage is Stage.ANSWERED:
        voted = sum(ballot.counts for ballot in round_.ballots)
        slates = shown_method(round_).slates(round_, round_.draw)
        if not slates:
            return shown_method(round_).summary
        if len(slates) > len({slate.judge for slate in slates}):
            return f"{voted} of {len(slates)} rankings are in"
        return f"{voted} of {count_noun(len(slates), 'judge')} voted"
    return WRITING


def progress_parts(round_: Round) -> tuple[int, int]:
    """Return how many parts of a round are done, and of how many.

    A part is an answer, a ranking, or what the chairman writes; one that fails is done.
    """
    panel, method = round_.panel, shown_method(round_)
    absent = Counter(absence.role for absence in round_.absences)
    rankings = len(panel.judges) * method.passes if method.is_ranked else 0
    if round_.draw:
        rankings = len(method.slates(round_, round_.draw))
    total = len(panel.members) + rankings + 1
    if round_.closing:
        return total, total
    answered = min(len(round_.answers) + absent[Role.ANSWER], len(panel.members))
    counted = sum(ballot.counts for ballot in round_.ballots)
    return answered + min(counted + absent[Role.BALLOT], rankings), total


def _answer_steps(round_: Round) -> list[Step]:
    names = seat_names(round_.panel)
    answered = {answer.member: answer for answer in round_.answers}
    steps = []
    for seat in round_.panel.members:
        title = f"{names[seat.key]} answers"
        if seat.key in answered:
            time = duration(answered[seat.key].reply.seconds)
            steps.append(Step(title, StepState.DONE, time))
        elif absence := round_.absence(seat.key, Role.ANSWER):
            steps.append(Step(names[seat.key], StepState.MISSING, absence.reason))
        else:
            steps.append(Step(title, StepState.RUNNING))
    return steps


def ballot_steps(round_: Round) -> list[Step]:
    """Return a step for each judge; one for all until the answers are in."""
    if round_.draw is None:
        return [Step("Ranking without names", StepState.WAITING)]
    names = seat_names(round_.panel)
    voted = {ballot.voter for ballot in round_.ballots if ballot.counts}
    steps = []
    for slate in shown_method(round_).slates(round_, round_.draw):
        number = ranking_number(round_, slate)
        again = "" if number == 1 else f" again ({number})"
        title = f"{names[slate.judge]} ranks{again}"
        spoiled = [ballot for ballot in round_.spoiled if ballot.voter == slate.voter]
        if slate.voter in voted:
            steps.append(Step(title, StepState.DONE))
        elif absence := round_.absence(slate.judge, Role.BALLOT):
            steps.append(Step(title, StepState.MISSING, absence.reason))
        elif spoiled and round_.tally:
            steps.append(Step(title, StepState.MISSING, "its rankings were invalid"))
        else:
            again = f"asked again: {spoiled[-1].fault}" if spoiled else ""
            steps.append(Step(title, StepState.RUNNING, again))
    return steps


def running_post(round_: Round, seconds: float, draft: str = "", terms: str = "") -> Post:
    """Return a running round for a room: the question, its progress and terms, and buttons."""
    progress = progress_post(round_, seconds, draft)
    vote = Button(VOTE, READ_AND_VOTE, round_.id)
    parts = (
        Heading(round_title(round_)),
        *progress.parts,
        *([Note(terms)] if terms else []),
        Buttons(
            (*([vote] if takes_blind_votes(round_) else []), Button("cancel", "Cancel", round_.id))
        ),
    )
    return Post(parts, f"{round_title(round_)} · {progress.summary}")


def stopped_post(round_: Round, reason: str) -> Post:
    """Return a round that stopped: the question, why, what is saved, and what to do with it."""
    saved = [count_noun(len(round_.answers), "answer")] if round_.answers else []
    saved += [count_noun(len(round_.ballots), "ranking")] if round_.ballots else []
    line = f"{reason} Saved so far: {' and '.join(saved) or 'nothing'}."
    again, *_, forget = menu_buttons(round_.id)
    parts = (
        Heading(round_title(round_)),
        Caution(line),
        Buttons((Button("resume", "Resume", round_.id), again, forget)),
    )
    return Post(parts, f"{round_title(round_)} · {reason}")


def without_heading(post: Post) -> Post:
    """Return the post without its headings: the question stands above it already."""
    return replace(post, parts=tuple(x for x in post.parts if not isinstance(x, Heading)))


_UNREAD = {
    "shared": "people of other organisations are in this channel",
    "guest": "a guest takes part in it",
    "unreadable": "I can't read it here",
    "consent": "nobody has allowed that in this channel yet",
    "busy": "Slack does not show it right now",
}
_ONE_LOOK = "Slack allows this app one look at a thread a minute: asked without it."
_NO_MORE = "Slack shows me no more now"


def reading_line(reading: ThreadReading | None) -> str:
    """Return "With 14 messages of this thread", or why it was not read; "" where nothing was."""
    if reading is None:
        return ""
    if reading.unread == "limited":
        return _ONE_LOOK
    if reading.unread:
        return f"Without this thread, because {_UNREAD[reading.unread]}."
    if reading.hidden and not reading.messages:
        hidden = count_noun(reading.hidden, "message")
        return f"Without this thread: {hidden} there can't be read by me."
    line = f"With {messages_read(reading)}"
    if reading.left_out:
        line += f"; {reading.left_out:,} older left out"
    if reading.hidden:
        line += f"; {reading.hidden:,} can't be read by me"
    if reading.part:
        line += f"; {_NO_MORE}"
    return f"{line}." if reading.messages else ""


def messages_read(reading: ThreadReading) -> str:
    """Return "14 messages of this thread", or which of its messages the chat showed."""
    count = count_noun(reading.messages, "message")
    first = "the first " if reading.part.startswith("first") else ""
    where = "since the last answer" if reading.part.endswith("since") else "of this thread"
    return f"{first}{count} {where}"


def add_asker(post: Post, round_: Round, asker: str) -> Post:
    """Return the post with who asked, above its buttons; unchanged without a name."""
    if not asker or round_.forgotten:
        return post
    context = len(round_.question.context)
    text = f"Asked by {asker}" + (f", with {context:,} characters of context" if context else "")
    return add_note(post, text)
