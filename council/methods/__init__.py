"""Methods: named ways in which a panel judges its answers."""

from collections.abc import Awaitable, Callable, Mapping

from council.methods.blind_ranking import blind_ranking
from council.rounds import Draw
from council.sitting import Sitting
from council.tally import Tally

Method = Callable[[Sitting, Draw], Awaitable[Tally]]

METHODS: Mapping[str, Method] = {"blind-ranking": blind_ranking}
