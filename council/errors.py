"""Every error the council raises, as one tree.

CouncilError              str() is a sentence for the person who asked
├── PanelError            the panel cannot be seated
├── QuestionError         the question cannot be put to a panel
├── QuorumError           too few answers to rank
├── RoundNotFoundError    no round under this id
├── ForgottenError        the round's texts are gone
├── StoreError            the database cannot be used
├── BudgetError           a round would cost more than is left
├── SuiteError            a suite cannot be read or used as it is
├── BakeoffError          a bake-off cannot be held, or is none there
├── ScheduleError         a schedule cannot be kept as it is
├── GradesError           grades cannot be read or taken as they are
├── ExperimentError       an experiment cannot be held, or is none there
└── GatewayError          a model could not be reached (becomes an Absence)
    ├── GatewayTimeoutError
    ├── UncoveredError         nobody pays for the call
    ├── ContextOverflowError   the prompt is longer than the model takes
    └── RateLimitError    carries retry_after_seconds
"""


class CouncilError(Exception):
    """Root of the tree; never raised itself. Its text holds no secrets and no jargon."""


class PanelError(CouncilError):
    """The panel cannot be seated."""


class QuestionError(CouncilError):
    """The question cannot be put to a panel."""


class QuorumError(CouncilError):
    """Too few answers to rank."""


class RoundNotFoundError(CouncilError):
    """No round is stored under this id."""


class ForgottenError(CouncilError):
    """The texts of the round are gone, so nothing can follow from it."""


class StoreError(CouncilError):
    """The database cannot be used as it is."""


class BudgetError(CouncilError):
    """A round would cost more than is left, or nobody knows what it costs."""


class SuiteError(CouncilError):
    """A suite cannot be read or used as it is, or there is none of this name."""


class BakeoffError(CouncilError):
    """A bake-off cannot be held as it is, or there is none under this id."""


class ScheduleError(CouncilError):
    """A schedule cannot be kept as it is, or there is none of this name."""


class GradesError(CouncilError):
    """Grades cannot be read or taken as they are."""


class ExperimentError(CouncilError):
    """An experiment cannot be held as it is, or there is none under this id."""


class GatewayError(CouncilError):
    """A model could not be reached, or gave nothing usable."""


class GatewayTimeoutError(GatewayError):
    """A model did not answer in time."""


class UncoveredError(GatewayError):
    """A call was not made, since no budget covers what it may cost."""


class ContextOverflowError(GatewayError):
    """The prompt is longer than the model's context."""


class RateLimitError(GatewayError):
    """The provider asks to wait; `retry_after_seconds` is None where it does not say how long."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
