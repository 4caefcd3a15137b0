"""What a browser is given to keep as a file."""

from starlette.responses import Response


def download(name: str, text: str, media_type: str) -> Response:
    """Give a text as a file, under a name that any system takes."""
    plain = "".join(c if c.isalnum() or c in "-._" else "_" for c in name if c.isascii())
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(text, media_type=media_type, headers=headers)
