"""Models with planted biases, for experiments: how they answer, and how they grade.

A grade's expectation is an answer's quality, and what was planted in the judge; what is between
two whole numbers is drawn by digest, so that the same call always gets the same grade.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from tests.wire.models.behaviours import by_role, fences, nonce_of
from tests.wire.models.says import Behaviour, Request, Say

_BEST, _MIDDLE = 5, 3.0


@dataclass(frozen=True, slots=True)
class Planted:
    """Biases in grades on the scale where 5 is best, by model; and the quality of their answers.

    `own` is what a model adds for its own answer, `strict` what it takes from everybody's.
    """

    own: Mapping[str, float] = field(default_factory=dict)
    strict: Mapping[str, float] = field(default_factory=dict)
    quality: Mapping[str, float] = field(default_factory=dict)

    def behaviour(self) -> Behaviour:
        """Answer with a text that only the server can tell apart, and grade as planted."""
        return by_role(answer=_answer, judge=self._judge)

    def _judge(self, request: Request) -> Say:
        ((_, text),) = fences(request.user)
        author = text.split()[-1].strip(".").lower()
        judge = request.model
        mean = _MIDDLE + self.quality.get(author, 0) - self.strict.get(judge, 0)
        mean += self.own.get(judge, 0) if author == judge else 0
        is_turned = "1 is the best" in request.system
        drawn = _fraction(judge, text, str(is_turned))  # without the nonce, which is another
        grade = min(_BEST, max(1, int(mean + drawn)))
        raw = _BEST + 1 - grade if is_turned else grade
        return Say(json.dumps({"nonce": nonce_of(request.user), "reason": "So.", "grade": raw}))


def _answer(request: Request) -> Say:
    number = int(_fraction(request.model, request.user) * 90) + 2
    return Say(
        f"Decide again after {number} days; until then it stays as it is, says {request.model}."
    )


def _fraction(*parts: str) -> float:
    return int(sha256("\n".join(parts).encode()).hexdigest()[:8], 16) / 16**8
