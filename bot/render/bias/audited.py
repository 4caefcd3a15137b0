"""The audit ballots: how many of each kind were cast, what they cost, and how to have none."""

from collections.abc import Iterator

from bot.render.bias.shown import ShownBias
from bot.render.figures import counted, listed, money

KINDS = {
    "own": "with the own answer shown",
    "order": "with the same answers in another order",
    "named": "with the authors’ names shown",
}
OFF = "“audit_share = 0” for a panel in council.toml has none cast; a larger share settles more."
NONE = (
    "No audit ballots were cast, so self-preference, order consistency and what names change are "
    "not known: “audit_share = 0.2” for a panel in council.toml has one cast in a round of five."
)


def audit_lines(shown: ShownBias) -> Iterator[str]:
    """Say how many audit ballots were cast, what they cost, and how they are turned off."""
    audits = {kind: number for kind, number in shown.report.audits.items() if number}
    if not audits:
        yield NONE
        return
    kinds = listed(
        f"{number:,} {KINDS.get(kind, f'of the kind {kind}')}"
        for kind, number in sorted(audits.items(), key=lambda pair: -pair[1])
    )
    total = counted(sum(audits.values()), "audit ballot")
    yield f"{total}, cast to measure bias and never counted: {kinds}. {_cost(shown)}"
    if spoiled := shown.report.spoiled_audits:
        yield f"{spoiled:,} more could not be read, and measured nothing."
    yield OFF


def _cost(shown: ShownBias) -> str:
    usd, unpriced = shown.report.audit_usd, shown.report.unpriced
    if usd is None:
        return "What they cost is not known."
    beside = f", beside {unpriced:,} whose cost is not known" if unpriced else ""
    return f"They cost {money(usd)} in all{beside}."
