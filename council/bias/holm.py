"""Many tests at once, held together."""

from collections.abc import Sequence


def holm(chances: Sequence[float | None]) -> tuple[float | None, ...]:
    """Give p-values corrected for all of them being tested at once, at most 1 (Holm 1979).

    None is no test: it counts for nothing and stays None.
    """
    known = sorted((p, at) for at, p in enumerate(chances) if p is not None)
    corrected: list[float | None] = [None] * len(chances)
    least = 0.0
    for done, (p, at) in enumerate(known):
        least = max(least, min(1.0, p * (len(known) - done)))
        corrected[at] = least
    return tuple(corrected)
