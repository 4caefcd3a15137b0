"""Reader of the files that come with a question: text, PDF and images, each within limits."""

import asyncio
import base64
import codecs
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePath

from bot import pdf_text
from bot.chat import Attachment, clean_text
from council.errors import FileError
from council.files import (
    MAX_FILES,
    MAX_IMAGE_BYTES,
    MAX_PDF_PAGES,
    MAX_TEXT_CHARACTERS,
    MAX_TOTAL_BYTES,
    QuestionFile,
)

OFFICE_FILES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how .xlsx, .docx and .ods, and .xls begin
PDF_SECONDS = 20.0
PDFS_AT_ONCE = 2  # in one process
EMPTY = "{name} is empty."
TOO_MANY_FILES = f"At most {MAX_FILES} files can come with a question."
KINDS = "text, code, CSV, Markdown, PDF or an image (PNG, JPEG, GIF, WebP)"
_MAX_NAME = 100  # characters
_MAX_RAW_NAME = 1_000  # characters of a name that are cleaned
_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_PDF_FAULTS = {
    pdf_text.ENCRYPTED: "{name} is protected by a password. Save a copy without one.",
    pdf_text.TOO_LONG: f"{{name}} has more than {MAX_PDF_PAGES} pages. Send the pages that matter.",
    pdf_text.EMPTY: "{name} has no text in it, perhaps because it is scanned. Send it as images.",
    pdf_text.BROKEN: "{name} can't be opened as a PDF. Save it again, or send its text.",
}


class FileReader:
    """Reads files, of which only a few PDFs at once."""

    def __init__(self) -> None:
        self._pdf_slots = asyncio.Semaphore(PDFS_AT_ONCE)

    async def read(self, files: Sequence[Attachment]) -> tuple[QuestionFile, ...]:
        """Fetch and read files; raise FileError, with a name, for one that can't be read."""
        if len(files) > MAX_FILES:
            raise FileError(TOO_MANY_FILES)
        _check_total(sum(file.size for file in files))  # before anything is fetched
        contents = [(_clean_name(file.name), await file.read()) for file in files]
        _check_total(sum(len(content) for _, content in contents))
        return tuple([await self._parse(name, content) for name, content in contents])

    async def _parse(self, name: str, content: bytes) -> QuestionFile:
        if not content.strip():
            raise FileError(EMPTY.format(name=name))
        if media_type := _image_type(content):
            if len(content) > MAX_IMAGE_BYTES:
                raise FileError(
                    f"{name} has {len(content) / 1e6:.1f} MB; an image can have "
                    f"{MAX_IMAGE_BYTES // 1_000_000} MB. Make it smaller."
                )
            return QuestionFile(name, media_type, data=base64.b64encode(content).decode())
        if content.startswith(b"%PDF-"):
            async with self._pdf_slots:
                found = await _read_pdf(content)
            if fault := found.get("fault"):
                raise FileError(_PDF_FAULTS[fault].format(name=name))
            text = await asyncio.to_thread(_checked_text, name, found["text"])
            return QuestionFile(name, "application/pdf", text)
        text = await asyncio.to_thread(_plain_text, name, content)
        return QuestionFile(name, "text/plain", text)


def _check_total(size: int) -> None:
    if size > MAX_TOTAL_BYTES:
        raise FileError(
            f"The files have {size / 1e6:.1f} MB; together they can have "
            f"{MAX_TOTAL_BYTES // 1_000_000} MB. Send a part of them."
        )


def _clean_name(name: str) -> str:
    bare = clean_text(PurePath(name[-_MAX_RAW_NAME:].replace("\\", "/")).name)
    return " ".join(bare.split())[:_MAX_NAME] or "file"


def _image_type(content: bytes) -> str | None:
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _IMAGES.items() if content.startswith(start)), None)


def _plain_text(name: str, content: bytes) -> str:
    if content.startswith(OFFICE_FILES):
        raise FileError(f"{name} can't be read. Save it as PDF, CSV or text, and send that.")
    try:
        text = decode_utf(content)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise FileError(f"{name} can't be read. Send {KINDS}; save text as UTF-8.")
    return _checked_text(name, text)


def decode_utf(content: bytes) -> str:
    """Return text in UTF-8, or in UTF-16 with a byte order mark; raise UnicodeDecodeError."""
    is_utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if is_utf_16 else "utf-8-sig")


def _checked_text(name: str, text: str) -> str:
    if len(text) > MAX_TEXT_CHARACTERS:
        raise FileError(
            f"{name} has more than {MAX_TEXT_CHARACTERS:,} characters. Send the part that matters."
        )
    plain = clean_text(text)
    if not plain:  # it has only invisible characters, such as a byte order mark
        raise FileError(EMPTY.format(name=name))
    return plain


async def _read_pdf(content: bytes) -> dict[str, str]:
    """Return the text of a PDF, or its fault; a separate process reads it, and may fail or hang."""
    command = (sys.executable, "-I", str(Path(pdf_text.__file__)), str(MAX_PDF_PAGES))
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(PDF_SECONDS):
            output, _ = await process.communicate(content)
        found: dict[str, str] = json.loads(output)
    except (TimeoutError, ValueError):
        return {"fault": pdf_text.BROKEN}
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return found
