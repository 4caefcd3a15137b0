"""From the bytes of a file to its text, or to a sentence about why they are none."""

import codecs

from council.errors import SuiteError

MOST_BYTES = 2_000_000
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # .xlsx and .ods, .xls


def decoded(filename: str, content: bytes) -> str:
    """Give the text of a file; SuiteError says what to do with one that is not UTF-8.

    UTF-16 is read where it says so itself, as spreadsheets have it.
    """
    check_size(filename, len(content))
    if content.startswith(_SPREADSHEETS):
        raise SuiteError(
            f"{filename} is a spreadsheet or an archive: save the sheet as “CSV UTF-8”, and send "
            "that."
        )
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SuiteError(
            f"Line {line} of {filename} is not UTF-8: save the file as UTF-8, in a spreadsheet as "
            "“CSV UTF-8”."
        ) from None
    if "\0" in text:
        raise SuiteError(f"{filename} is no text: save it as text in UTF-8, and send that.")
    return text


def check_size(filename: str, size: int) -> None:
    """Raise SuiteError for a file of more bytes than a suite takes."""
    if size > MOST_BYTES:
        raise SuiteError(
            f"{filename} has {size:,} bytes, and a suite takes {MOST_BYTES:,} at most: make "
            "several of it."
        )
