"""What a browser is given to keep as a file."""

from starlette.responses import Response


def download(name: str, content: str | bytes, media_type: str) -> Response:
    """Give a file to keep, under a name that any system takes."""
    plain = "".join(c if c.isalnum() or c in "-._" else "_" for c in name if c.isascii())
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(content, media_type=media_type, headers=headers)
