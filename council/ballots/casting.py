"""From a judge's reply to a ballot: convening and verifying read it the same way."""

from council.ballots.ballot import Ballot, Paper, SpoiledBallot
from council.ballots.reading import Fault, read_ballot
from council.ballots.reasons import in_public_labels
from council.slates import Slate


def cast(
    slate: Slate, nonce: str, paper: Paper, audit: str | None = None
) -> Ballot | SpoiledBallot:
    """Give the ballot the paper's reply holds, in public labels, or a spoiled one."""
    reading = read_ballot(paper.reply.text, nonce, slate.letters)
    if isinstance(reading, Fault):
        return SpoiledBallot(slate.judge, reading.value, paper)
    return Ballot(
        judge=slate.judge,
        shown=slate.shown,
        ranking=tuple(tuple(map(slate.label_at, place)) for place in reading.ranking),
        reason=in_public_labels(reading.reason, dict(zip(slate.letters, slate.shown, strict=True))),
        paper=paper,
        audit=audit,
    )
