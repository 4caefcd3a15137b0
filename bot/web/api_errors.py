"""Refusals of the API, in OpenAI's shape."""

from typing import Any

from council.errors import CouncilError

TOO_MANY, INTERNAL_ERROR = 429, 500


class ApiError(CouncilError):
    """A refusal in OpenAI's shape; `param` names the field that is at fault."""

    def __init__(
        self, status: int, message: str, code: str | None = None, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.param = status, code, param


def refusal(param: str, message: str) -> ApiError:
    """Return the refusal of a field that asks for what a council cannot do."""
    return ApiError(400, message, "unsupported_parameter", param)


def error_document(
    status: int, message: str, code: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """Return the body of an error in OpenAI's shape."""
    kind = "server_error" if status >= INTERNAL_ERROR else "invalid_request_error"
    kind = "rate_limit_error" if status == TOO_MANY else kind
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
