"""A child process that cannot outlive the one that started it (Linux)."""

import ctypes
import os
import signal
from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def leash() -> Callable[[], None]:
    """Give what a child runs before its program: from then on it dies with the starting thread.

    The kernel watches the thread, so start the child from one that lives on: the event loop's.
    """
    parent = os.getpid()
    # Looked up here: between fork and exec nothing should be imported.
    prctl = ctypes.CDLL(None).prctl

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # The parent may have died before the kernel was asked.
        if os.getppid() != parent:
            os._exit(1)

    return tie
