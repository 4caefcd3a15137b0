"""What of a closed round is not as it was when it joined its chain."""

from council.forgotten import Digests
from council.links import VERSION, Link
from council.rounds import Round
from council.sealing.notes import Seal, noted

GONE = "its link in the chain is gone"
NEWER = "its link was made by another version of the program, which alone can check it"
ANOTHER = "its link is that of another round"
ALTERED = "its link was changed"
NOTES = "the salt or the digests that were noted of it were changed"
ORDER = "the order of what was noted of it"


def changes(round_: Round, seal: Seal) -> tuple[str, ...]:
    """Name what was changed since the round closed; nothing where it is as it was.

    Texts that were forgotten are no change. Where the notes themselves were changed, no more can
    be told of the round.
    """
    if seal.link is None:
        return (GONE,)
    if seal.link.version != VERSION:
        return (NEWER,)
    return (*_of_link(round_, seal.link), *_of_round(round_, seal, seal.link.digest))


def _of_link(round_: Round, link: Link) -> tuple[str, ...]:
    another = () if link.round_id == round_.id else (ANOTHER,)
    return another if link.is_sound else (*another, ALTERED)


def _of_round(round_: Round, seal: Seal, digest: str) -> tuple[str, ...]:
    salt = round_.forgotten.salt if round_.forgotten else seal.notes.salt
    if salt != seal.notes.salt or seal.notes.digest != digest:
        return (NOTES,)
    now = noted(round_, salt)
    texts, parts = _differing(seal.notes.texts, now.texts), _differing(seal.notes.parts, now.parts)
    return (*texts, *parts)


def _differing(then: Digests, now: Digests) -> tuple[str, ...]:
    """Name what has another digest, or none, or had none."""
    if then == now:
        return ()
    before, after = dict(then), dict(now)
    names = tuple(name for name in before | after if before.get(name) != after.get(name))
    return names or (ORDER,)
