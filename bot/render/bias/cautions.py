"""What makes a report weaker than it looks, said before its tables."""

from collections.abc import Iterator

from bot.render.bias.effects import plain
from bot.render.bias.shown import ShownBias, family_name
from bot.render.figures import counted

_FEW = 30  # rounds below which most of it cannot be told
_ALIKE = 0.6  # of the judges: where fewer count as independent, they vote much alike


def caution_lines(shown: ShownBias) -> Iterator[str]:
    """Say who holds the majority, how many judges there really are, and what is too small."""
    report = shown.report
    if report.majority:
        yield (
            f"One family, {family_name(report.majority)}, holds most of the seats: where it likes "
            "its own kind, the others are outvoted."
        )
    judges = len(report.judges)
    if report.n_eff is not None and report.n_eff < _ALIKE * judges:
        yield (
            f"The judges vote much alike: {counted(judges, 'judge')} count as about "
            f"{report.n_eff:.1f} independent ones (N_eff)."
        )
    if judges == 1:
        yield "There is one judge alone, so nobody to compare it with."
    if report.rounds < _FEW:
        yield (
            f"{counted(report.rounds, 'round')} {'is' if report.rounds == 1 else 'are'} few: "
            f"most biases need {_FEW} or more to be told from chance."
        )


def agreement_line(shown: ShownBias) -> str:
    """Say how far all judges agree, and as how many they count; "" where that is not known."""
    report = shown.report
    parts = []
    if report.alpha is not None:
        parts.append(f"Krippendorff’s α over all ballots is {plain(report.alpha)}; 0 is chance.")
    if report.n_eff is not None:
        judges = counted(len(report.judges), "judge")
        parts.append(f"The {judges} count as {report.n_eff:.1f} independent ones (N_eff).")
    elif report.rounds:
        parts.append("N_eff is given from thirty rounds of a panel on.")
    return " ".join(parts)
