"""Table 1 of the thesis, as it is printed: a line a judge and framing, its 15 numbers.

Source: Attila M. Magyar, "Bias in LLM self-evaluation" (ELTE, 2025), Table 1.
"""

import re
from pathlib import Path

from bot.research.grade_report import format_interval, format_mean, format_percent, format_t
from council.research.grades import JudgeRow

PROJECT = Path(__file__).parents[3]
DATA = PROJECT.parent / "shared" / "data" / "thesis" / "news_scores.jsonl"
NUMBERS_A_LINE = 15

PUBLISHED = """
claude-3-7-sonnet-20250219 | pos | 100 | 4.07 ± 0.29 | 4.35 ± 0.32 | -6.74 | < 0.1% | (-0.36, -0.20) | 3.88 ± 0.24 | 5.41 | < 0.1% | (0.12, 0.26)
claude-3-7-sonnet-20250219 | neg | 100 | 3.90 ± 0.36 | 4.19 ± 0.48 | -6.30 | < 0.1% | (-0.38, -0.20) | 3.71 ± 0.37 | 4.05 | < 0.1% | (0.10, 0.29)
deepseek-chat | pos | 100 | 4.23 ± 0.42 | 4.29 ± 0.32 | -1.19 | 23.5% | (-0.16, 0.04) | 4.29 ± 0.30 | -1.36 | 17.6% | (-0.15, 0.03)
deepseek-chat | neg | 100 | 4.72 ± 0.73 | 4.01 ± 0.45 | 8.90 | < 0.1% | (0.55, 0.87) | 4.57 ± 0.48 | 2.10 | 3.8% | (0.01, 0.29)
gemini-2.5-pro-preview-05-06 | pos | 100 | 4.62 ± 0.63 | 4.14 ± 0.20 | 7.62 | < 0.1% | (0.35, 0.60) | 4.21 ± 0.57 | 5.28 | < 0.1% | (0.25, 0.56)
gemini-2.5-pro-preview-05-06 | neg | 100 | 4.14 ± 0.77 | 4.04 ± 0.40 | 1.25 | 21.5% | (-0.06, 0.25) | 3.84 ± 0.58 | 3.46 | < 0.1% | (0.13, 0.47)
gpt-4.1-2025-04-14 | pos | 100 | 4.25 ± 0.52 | 4.07 ± 0.44 | 3.46 | < 0.1% | (0.08, 0.29) | 4.26 ± 0.25 | -0.16 | 87.5% | (-0.11, 0.10)
gpt-4.1-2025-04-14 | neg | 100 | 4.40 ± 0.62 | 3.87 ± 0.53 | 9.05 | < 0.1% | (0.41, 0.65) | 4.28 ± 0.38 | 1.90 | 6.1% | (-0.01, 0.25)
sonar-reasoning-pro | pos | 88 | 4.15 ± 0.65 | 3.93 ± 0.51 | 3.14 | 0.2% | (0.08, 0.36) | 4.15 ± 0.40 | -0.04 | 97.1% | (-0.16, 0.15)
sonar-reasoning-pro | neg | 86 | 3.38 ± 0.77 | 3.75 ± 0.64 | -4.24 | < 0.1% | (-0.53, -0.19) | 3.47 ± 0.46 | -0.97 | 33.5% | (-0.25, 0.09)
"""  # noqa: E501 - a line as it is printed


def published() -> dict[tuple[str, str], list[str]]:
    """Return the printed cells of each judge and framing, N first."""
    lines = [[cell.strip() for cell in line.split("|")] for line in PUBLISHED.strip().split("\n")]
    return {(judge, framing): cells for judge, framing, *cells in lines}


def ours(row: JudgeRow) -> list[str]:
    """Return the same cells of a report's row, printed as the thesis prints them."""
    received, given = row.over_received, row.over_given
    return [
        str(row.own.n),
        format_mean(row.own),
        format_mean(row.received),
        format_t(received),
        format_percent(received.effect.p or 0),
        format_interval(received.effect),
        format_mean(row.given),
        format_t(given),
        format_percent(given.effect.p or 0),
        format_interval(given.effect),
    ]


def numbers(cells: list[str]) -> list[str]:
    """Return every number that cells hold."""
    return [number for cell in cells for number in re.findall(r"-?\d+(?:\.\d+)?", cell)]
