"""Services of plug-ins: what they do while the program runs."""

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from bot.chat import FindChat
from council.rounds import Round


class Service:
    """What a plug-in does while the program runs; a method that is left out does nothing."""

    def tasks(self) -> Sequence[Coroutine[None, None, None]]:
        """Return what runs in the background of a process that serves."""
        return ()

    async def resume(self) -> None:
        """Resume what an earlier process left unfinished, before the page is served."""

    def serve_chat(
        self, chat: str, queue: str, find_chat: FindChat
    ) -> AbstractAsyncContextManager[None]:
        """Serve a connected chat for the duration of the block.

        In a cluster, jobs for it are in the queues that end in `queue`. `find_chat` returns the
        chat for a place.
        """
        return nullcontext()

    async def resume_workspace(self, chat: str, find_chat: FindChat) -> None:
        """Resume what reports to a workspace that connects while its chat is being served.

        `find_chat` finds a chat in that workspace alone.
        """

    async def stop_chat(self, chat: str, workspace: str | None = None) -> None:
        """Stop what reports to a chat, or to one workspace of it, which is no longer connected."""

    async def delete_workspace(self, chat: str, workspace: str) -> None:
        """Delete what a workspace leaves outside the tables of rounds."""

    async def opening_versions(self, round_: Round) -> Mapping[str, str]:
        """Return what a new round stores of earlier ones, as entries of its versions."""
        return {}

    async def close(self) -> None:
        """Stop what still runs, before the runner and the database close."""
