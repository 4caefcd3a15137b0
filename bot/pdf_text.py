"""Script that prints the text of the PDF on its input, as JSON; bot.attachments runs it alone.

    python -I bot/pdf_text.py MAX_PAGES < file.pdf

It limits its own memory and time, since a small file may ask for very much of both.
"""

import json
import sys
from io import BytesIO

ENCRYPTED, TOO_LONG, EMPTY, BROKEN = "encrypted", "too long", "empty", "broken"
MAX_MEMORY = 1_000_000_000  # bytes
MAX_SECONDS = 15  # of processor time
MAX_CHARACTERS = 1_000_000


def main() -> None:
    """Print {"text": …} or {"fault": …}."""
    try:
        import resource  # not on Windows
    except ImportError:
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    try:
        found = read_pdf(sys.stdin.buffer.read(), int(sys.argv[1]))
    # A broken file makes pypdf raise anything, RecursionError and MemoryError included.
    except Exception:  # noqa: BLE001
        found = {"fault": BROKEN}
    json.dump(found, sys.stdout)


def read_pdf(content: bytes, max_pages: int) -> dict[str, str]:
    """Return the text of all pages, or what is wrong."""
    from pypdf import PdfReader  # slow to import, and only this process needs it

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        return {"fault": ENCRYPTED}
    if len(reader.pages) > max_pages:
        return {"fault": TOO_LONG}
    pages, size = [], 0
    for page in reader.pages:
        pages.append(page.extract_text())
        size += len(pages[-1])
        if size > MAX_CHARACTERS:
            break
    text = "\n\n".join(pages).strip()
    return {"text": text} if text else {"fault": EMPTY}


if __name__ == "__main__":
    main()
