"""All errors of the project."""

from datetime import datetime


class CouncilError(Exception):
    """Root of the tree; `str()` is a sentence for the person who asked, without secrets."""


class PanelError(CouncilError):
    """The panel is invalid."""


class QuestionError(CouncilError):
    """The question cannot be asked."""


class FileError(QuestionError):
    """A file that comes with a question cannot be read, or nobody in the panel can see it."""


class QuorumError(CouncilError):
    """Too few answers to rank."""


class RoundNotFoundError(CouncilError):
    """No round is stored under this id."""


class ForgottenError(CouncilError):
    """The round's texts were erased, so it cannot continue."""


class AnswerSchemaError(CouncilError):
    """A JSON Schema for answers that cannot be used."""


class DecisionError(CouncilError):
    """A disputed point cannot be decided, or not in this way."""


class StoreError(CouncilError):
    """The database cannot be used."""


class BudgetError(CouncilError):
    """A round would cost more than is left, or its cost is unknown.

    `retry_at` is when there may be more; None if waiting does not help.
    """

    def __init__(self, message: str, retry_at: datetime | None = None) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class SuiteError(CouncilError):
    """A suite is invalid, or none has this name."""


class BakeoffError(CouncilError):
    """A bake-off cannot run, or none has this id."""


class ScheduleError(CouncilError):
    """A schedule is invalid, or none has this name."""


class GradesError(CouncilError):
    """Grades cannot be read or used."""


class ExperimentError(CouncilError):
    """An experiment cannot run, or none has this id."""


class StudyError(CouncilError):
    """A study cannot be run, resumed or read."""


class StudyFileError(StudyError):
    """The file of a study, or its questions, are wrong."""


class StudyPausedError(StudyError):
    """A call of a study can't be made now: no budget covers it, or nobody may be asked."""


class GatewayError(CouncilError):
    """A model could not be reached or returned nothing usable; it becomes an Absence."""


class UncoveredError(GatewayError):
    """A call was not made because no budget covers what it may cost."""


class ContextOverflowError(GatewayError):
    """The prompt is longer than the model's context."""


class ModelListError(CouncilError):
    """A provider lists no usable models; `is_final` if no other model of it would answer."""

    is_final = False


class RateLimitError(GatewayError):
    """The provider's rate limit was hit; `retry_after_seconds` is None if it named no delay."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
