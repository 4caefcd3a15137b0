r"""TeX to MathML: a formula of untrusted text, rebuilt from a list of allowed elements.

The converter passes on links, colours and whatever stands in `\text`, so nothing of its output is
used but the elements, attributes and values listed here.
"""

import re
from html import unescape
from xml.etree.ElementTree import Element

from markupsafe import Markup

from bot.render.math_rules import MAX_FORMULA

_MAX_DEPTH = 50
_ELEMENT = re.compile(
    "mfrac|mi|mmultiscripts|mn|mo|mover|mpadded|mphantom|mprescripts|mroot|mrow|ms|mspace|msqrt|"
    "mstyle|msub|msubsup|msup|mtable|mtd|mtext|mtr|munder|munderover|none"
)
_LENGTH = re.compile(r"-?\d{0,2}(\.\d{1,4})?(em|ex|px|pt)?")
_VALUES = {
    "accent": re.compile("true|false"),
    "columnalign": re.compile("left|center|right"),
    "displaystyle": re.compile("true|false"),
    "fence": re.compile("true|false"),
    "form": re.compile("prefix|infix|postfix"),
    "linethickness": _LENGTH,
    "mathvariant": re.compile("[a-z-]{1,24}"),
    "maxsize": _LENGTH,
    "minsize": _LENGTH,
    "scriptlevel": re.compile("[0-3]"),
    "stretchy": re.compile("true|false"),
    "width": _LENGTH,
}
# Environments that differ from a supported one only in where they may stand.
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(?:aligned|align|gathered|gather\*?|equation\*?)\}")


def render_formula(tex: str, *, display: bool) -> Markup | None:
    """Return a formula as MathML; None if it is too long, too deep, or not understood whole."""
    if len(tex) > MAX_FORMULA:
        return None
    # Its table of symbols takes a moment to load, which pages without formulas need not wait for.
    from latex2mathml.converter import convert_to_element

    source = _ENVIRONMENT.sub(r"\\\1{align*}", tex)
    try:
        # It raises what it meets: its own errors, and those of lists, numbers and recursion.
        found = convert_to_element(source, display="block" if display else "inline")
    except Exception:  # noqa: BLE001
        return None
    built = _rebuild(found, _MAX_DEPTH)
    if built is None:
        return None
    return Markup('<math display="{}">{}</math>').format("block" if display else "inline", built)


def _rebuild(element: Element, depth: int) -> Markup | None:
    """Return the inside of an element; None if it goes deeper or holds a command as text."""
    text = unescape(element.text or "")
    if not depth or (text.startswith("\\") and element.tag != "mtext"):
        return None
    inside = [Markup("{}").format(text)]
    for child in element:
        within = _rebuild(child, depth - 1)
        if within is None:
            return None
        inside.append(_wrap(child, within))
    return Markup("").join(inside)


def _wrap(element: Element, inside: Markup) -> Markup:
    tag = element.tag
    if tag == "menclose":  # browsers no longer draw it
        return Markup('<mrow class="boxed">{}</mrow>').format(inside)
    if not _ELEMENT.fullmatch(tag):
        return inside
    kept = [
        Markup(' {}="{}"').format(name, value)
        for name, value in element.attrib.items()
        if name in _VALUES and _VALUES[name].fullmatch(value)
    ]
    return Markup("<{0}{1}>{2}</{0}>").format(tag, Markup("").join(kept), inside)
