"""Self-preference by grades: the statistics of the thesis, and the difference in differences."""

from council.bias.grades.findings import Finding, Kind, findings
from council.bias.grades.grade import BEST, WORST, Framing, Grade, converted
from council.bias.grades.paired import Paired
from council.bias.grades.report import GradeReport, JudgeRow, Mean, grade_report

__all__ = [
    "BEST",
    "WORST",
    "Finding",
    "Framing",
    "Grade",
    "GradeReport",
    "JudgeRow",
    "Kind",
    "Mean",
    "Paired",
    "converted",
    "findings",
    "grade_report",
]
