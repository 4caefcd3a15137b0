"""What sways a simulated judge beside the worth of an answer."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Biases:
    """What a judge adds to an answer's worth, in units of worth: answers differ by 1 (their sd).

    `position`: what the first slot gains over the last, falling evenly between. `letter`: what the
    answer under the letter B gains. `own`: what its own answer gains. `family`: what answers of
    its maker gain, its own left out. `length`: what each standard deviation of length gains.
    `brand`: what answers of its maker gain, its own with them, once names are shown. `noise` is
    the standard deviation of what chance adds, to each answer on each ballot anew.
    """

    position: float = 0.0
    letter: float = 0.0
    own: float = 0.0
    family: float = 0.0
    length: float = 0.0
    brand: float = 0.0
    noise: float = 1.0


FAIR = Biases()
# With these, five members in a fixed order that shows the own answer come to a τ of about .45.
STRONG = Biases(position=2.0, own=1.0, noise=1.8)
PRESETS: Mapping[str, Biases] = {"none": FAIR, "strong": STRONG}
