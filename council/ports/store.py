"""Where rounds are kept."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from council.ballots import Ballot
from council.feedback import Feedback
from council.human_votes import HumanVote
from council.ports.listing import EVERY, RoundLine, Wanted
from council.rounds import Artefact, Round
from council.sealing import Seal


class Store(Protocol):
    """Where rounds are kept; each call is one transaction. Raises StoreError when it cannot."""

    async def open(self, round_: Round) -> bool:
        """Keep a new round with all it holds; change nothing and give False if its id is kept."""
        ...

    async def take_in(self, round_: Round, seal: Seal | None) -> bool:
        """Keep a round as `open` does, with what was noted of it where it closed, if anything was.

        One that is at its end joins its chain here as one that comes from elsewhere.
        """
        ...

    async def save(self, round_id: str, artefact: Artefact) -> None:
        """Keep what a round has come to; the same artefact twice is kept once.

        With its closing a round joins its chain, and nothing is added to it any more: what comes
        later is passed over. Raises ForgottenError for a round that was forgotten meanwhile.
        """
        ...

    async def load(self, round_id: str) -> Round:
        """Give a round with its parts in panel order; raise RoundNotFoundError if there is none."""
        ...

    async def seal(self, round_id: str) -> Seal | None:
        """Give what was noted of a round as it closed, and its link; None where nothing ever was.

        A round that is not at its end has none, nor one that closed before the chain began.
        """
        ...

    async def find(self, start: str) -> str:
        """Give the one round id that starts so; raise RoundNotFoundError for none or several."""
        ...

    async def recent(
        self, limit: int | None = None, wanted: Wanted = EVERY
    ) -> tuple[RoundLine, ...]:
        """Give the stored rounds that are wanted, newest first."""
        ...

    async def line(self, round_id: str) -> RoundLine:
        """Give a round in one line; raise RoundNotFoundError if there is none."""
        ...

    async def pause(self, round_id: str, *, paused: bool) -> None:
        """Note that somebody stopped a round on purpose, or wants it to go on."""

    async def deliver(self, round_id: str, *, delivered: bool) -> None:
        """Note that all there is to say of a round is in the place it was asked in, or is not."""

    async def rate(self, feedback: Feedback) -> None:
        """Keep what somebody thinks of a round; of one person's several the newest.

        Raises RoundNotFoundError if there is none, ForgottenError for words on one whose texts are
        gone.
        """
        ...

    async def ratings(self, round_id: str) -> tuple[Feedback, ...]:
        """Give what people think of a round, oldest first; nothing for one there is not."""
        ...

    async def vote(self, vote: HumanVote) -> None:
        """Keep which answer somebody calls the best; of one person's several the newest.

        Raises RoundNotFoundError if there is none.
        """
        ...

    async def votes(self, round_id: str | None = None) -> tuple[HumanVote, ...]:
        """Give what people voted on a round, or on all, oldest first."""
        ...

    async def ids(self, limit: int | None = None, wanted: Wanted = EVERY) -> tuple[str, ...]:
        """Give the ids of the rounds that are wanted, oldest first."""
        ...

    async def forget(self, round_id: str, at: datetime, salt: str) -> bool:
        """Have a round without its texts, as `council.forgetting.forget` does; False if it was.

        The digests of its texts have the salt they had since it closed, and this one where it has
        no link. The reasons of what people think of it go too.
        Raises RoundNotFoundError if there is none. What the texts leave in the files is gone after
        `wipe`, which serves any number of forgotten rounds at once.
        """
        ...

    async def drop(self, chat: str, workspace: str) -> int:
        """Delete every round that was asked in a workspace; give how many there were.

        Their messages on the way out, what people said of them and their chain go too; what they
        cost stays, under nobody's name. Stop those under way first, and `wipe` after.
        """
        ...

    async def wipe(self) -> None:
        """Leave nothing of forgotten texts in the files; StoreError if another program keeps it."""
        ...

    async def past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        """Give the counted ballots of the panel's last closed rounds, a hundred at most.

        A round with a ballot that cannot be read is left out.
        """
        ...
