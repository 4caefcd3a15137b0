"""Which fields of a round its digest rests on, beside its texts.

They are named one by one, so that a field that is added later changes no digest of before: what
it is to rest on from then on is a new version (`council.links.VERSION`).
"""

from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import UTC, datetime

from council.answers import Absence, Answer
from council.ballots import Ballot, Paper, SpoiledBallot
from council.calls import Prompt, Reply
from council.labels import LabelMap
from council.panel import Member, Panel, Rubric, Terms
from council.places import Place
from council.rounds import Closing, Draw, Question, Synthesis
from council.slates import Slate
from council.tally import Standing, Tally, Verdict
from council.tally.agreement import Agreement

COVERED: Mapping[type, tuple[str, ...]] = {
    Question: ("asked_by", "place"),
    Place: ("chat", "workspace", "channel", "thread", "private"),
    Panel: ("name", "members", "rubric", "outside_judges", "chairmen", "terms"),
    Member: (
        *("key", "model_id", "display", "family"),
        *("temperature", "receiver", "demonstration"),
    ),
    Rubric: ("name", "version", "criteria"),
    Terms: (
        *("method", "quorum", "audit_share", "max_round_usd"),
        *("answer_seconds", "ballot_seconds", "synthesis_seconds", "round_seconds"),
        *("answer_temperature", "ballot_temperature", "synthesis_temperature"),
    ),
    Answer: ("member", "prompt", "reply", "scrubbed", "suspicions"),
    Prompt: (),
    Reply: ("cut", "tokens_in", "tokens_out", "cost_usd", "seconds", "attempts"),
    Absence: ("member", "role", "reason"),
    Draw: ("labels", "slates"),
    LabelMap: ("pairs",),
    Slate: ("judge", "shown"),
    Ballot: ("judge", "shown", "ranking", "paper", "audit"),
    Paper: ("nonce", "prompt", "reply", "attempt", "cut_to"),
    SpoiledBallot: ("judge", "fault", "paper"),
    Tally: ("standings", "verdict"),
    Standing: (
        *("label", "place", "share", "points"),
        *("max_points", "first_votes", "mean_rank"),
    ),
    Verdict: ("strength", "p", "first_on", "too_few_judges", "agreement", "n_eff", "flags"),
    Agreement: ("tau_b", "kendall_w", "alpha"),
    Synthesis: ("chairman", "fallback", "drawn_on", "departs", "prompt", "reply"),
    Closing: ("seconds", "failure"),
}
# The texts, which enter as digests of their own; see council.forgetting.
TEXTS: Mapping[type, tuple[str, ...]] = {
    Question: ("text", "context", "reference"),
    Prompt: ("system", "user"),
    Reply: ("text",),
    Ballot: ("reason",),
    Synthesis: ("text", "why"),
}


def plain(value: object) -> object:
    """Give a value of a round without its texts, as what JSON knows; moments in UTC.

    Whole numbers are the same whether they were kept as such or not.
    """
    if is_dataclass(value):
        return {name: plain(getattr(value, name)) for name in COVERED[type(value)]}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
