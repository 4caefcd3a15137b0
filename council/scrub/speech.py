"""What a marked text says in its own voice, near the names in it."""

import re

REACH = 200  # characters before and after a name that are read

_NAMES = re.compile("([\ue000-\ue3ff])")
_TIDY = str.maketrans({"’": "'", "‘": "'", "*": None, "\u00a0": " ", "\u3000": " ", "\t": " "})
_UNDERLINING = re.compile(r"(?<!\w)_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?!\w)")
_SPACE = re.compile(r"[ \r\f\v]{2,}|[\r\f\v]")
_BREAKS = re.compile(r" ?\n[ \n]*")
# Each ends at the next mark of its own kind, so that no mark is read for far.
_QUOTED = re.compile(
    r'"[^"\n]{1,400}"|“[^“”\n]{1,400}”|„[^„“”"\n]{1,400}[“”"]|«[^«»\n]{1,400}»'
    r"|「[^「」\n]{1,400}」|『[^『』\n]{1,400}』|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{2,400}'(?!\w)"
)
_CODE = re.compile(r"```[^`]*```")
_SPOKEN = re.compile(r"[^\W\d_]{2}")


def own_voice(text: str) -> str:
    """Give a marked text without emphasis, code, and what it quotes others as saying.

    A quoted name alone stays, without its marks, and so does a text that is one quotation, or
    nothing but code.
    """
    text = _CODE.sub("\n", text) if _CODE.sub("", text).strip() else text
    text = _SPACE.sub(" ", _UNDERLINING.sub("", text.translate(_TIDY))).strip()
    return _QUOTED.sub(_unquoted, text).replace("`", "")


def near_names(text: str) -> str:
    """Give what stands near a name, as lines; what is left out stands between as "~"."""
    pieces = _NAMES.split(text)
    pieces[0] = pieces[0] if len(pieces[0]) <= REACH else "~" + pieces[0][-REACH:]
    pieces[-1] = pieces[-1][:REACH]
    for i in range(2, len(pieces) - 1, 2):
        if len(pieces[i]) > 2 * REACH:
            pieces[i] = f"{pieces[i][:REACH]}~{pieces[i][-REACH:]}"
    return _BREAKS.sub("\n", "".join(pieces))


def _unquoted(match: re.Match[str]) -> str:
    quoted = match[0][1:-1]
    if not _NAMES.search(quoted):
        return match[0]
    if match[0] == match.string.strip() or not _SPOKEN.search(quoted):
        return quoted
    return '""'
