"""Files that come with a question are read within limits, or refused by name."""

import base64
from io import BytesIO

import pytest
from pypdf import PdfWriter

from bot import attachments
from bot.attachments import FileReader
from bot.chat import Attachment
from council.errors import QuestionError
from council.files import MAX_FILES, MAX_IMAGE_BYTES, MAX_TEXT_CHARACTERS, QuestionFile
from tests.bot.pdfs import a_pdf

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def a_file(name: str, content: bytes, size: int | None = None) -> Attachment:
    async def read() -> bytes:
        return content

    return Attachment(name, len(content) if size is None else size, read)


async def read(name: str, content: bytes) -> QuestionFile:
    [found] = await FileReader().read([a_file(name, content)])
    return found


async def fault(name: str, content: bytes) -> str:
    with pytest.raises(QuestionError) as failed:
        await read(name, content)
    return str(failed.value)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Nur PostgreSQL – sonst nichts.".encode(), "Nur PostgreSQL – sonst nichts."),
        ("a,b\r\n1,2\r\n".encode("utf-8-sig"), "a,b\n1,2"),
        ("Größe".encode("utf-16"), "Größe"),
        ("safe\u202e text".encode(), "safe text"),
    ],
)
async def test_text_is_read_in_its_encoding_without_invisible_characters(
    content: bytes, text: str
) -> None:
    assert await read("notes.csv", content) == QuestionFile("notes.csv", "text/plain", text)


@pytest.mark.parametrize(
    ("start", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
async def test_an_image_is_known_by_its_content_not_its_name(start: bytes, media_type: str) -> None:
    found = await read("notes.txt", start)

    assert found == QuestionFile("notes.txt", media_type, data=base64.b64encode(start).decode())
    assert found.data_url.startswith(f"data:{media_type};base64,")


async def test_the_text_of_a_pdf_is_read() -> None:
    found = await read("report.pdf", a_pdf("Revenue fell by 7 percent.", "Costs rose."))

    assert found.media_type == "application/pdf"
    assert "Revenue fell by 7 percent." in found.text
    assert found.text.index("Revenue") < found.text.index("Costs rose.")


async def test_a_pdf_of_too_many_pages_is_refused() -> None:
    assert "has more than 200 pages" in await fault("long.pdf", a_pdf(*["x"] * 500))


async def test_a_pdf_with_a_password_is_refused_and_one_without_is_read() -> None:
    def encrypted(password: str) -> bytes:
        writer = PdfWriter(BytesIO(a_pdf("Secret.")))
        writer.encrypt(password, "owner", algorithm="RC4-128")
        written = BytesIO()
        writer.write(written)
        return written.getvalue()

    assert "is protected by a password" in await fault("locked.pdf", encrypted("hunter2"))
    assert "Secret." in (await read("open.pdf", encrypted(""))).text


@pytest.mark.parametrize("content", [b"%PDF-1.7\ngarbage", b"%PDF-" + b"\xff" * 5_000])
async def test_a_broken_pdf_is_refused(content: bytes) -> None:
    assert "can't be opened as a PDF" in await fault("broken.pdf", content)


async def test_a_pdf_without_text_asks_for_images() -> None:
    assert "has no text in it" in await fault("scan.pdf", a_pdf(""))


async def test_a_pdf_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "PDF_SECONDS", 0.0)

    assert "can't be opened as a PDF" in await fault("slow.pdf", a_pdf("Slow."))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.txt", b" \n", "empty.txt is empty"),
        ("report.docx", b"PK\x03\x04rest", "report.docx can't be read. Save it as PDF"),
        ("tool.bin", b"\x7fELF\xff\xfe\x00", "tool.bin can't be read. Send text, code"),
        ("nul.txt", b"a\0b", "nul.txt can't be read"),
        ("long.txt", b"x" * (MAX_TEXT_CHARACTERS + 1), "has more than 200,000 characters"),
        ("big.png", PNG + b"\0" * MAX_IMAGE_BYTES, "an image can have 5 MB"),
        ("../../etc/passwd\n", b"", "passwd is empty"),
    ],
)
async def test_a_file_that_cannot_be_read_is_refused_by_name(
    name: str, content: bytes, said: str
) -> None:
    assert said in await fault(name, content)


async def test_too_many_or_too_large_files_are_refused_before_they_are_fetched() -> None:
    async def fetch() -> bytes:
        raise AssertionError("fetched")

    huge, small = Attachment("a.png", 50_000_000, fetch), Attachment("b.txt", 1, fetch)

    with pytest.raises(QuestionError, match=r"The files have 50\.0 MB; together they can have 10"):
        await FileReader().read([huge])
    with pytest.raises(QuestionError, match=f"At most {MAX_FILES} files"):
        await FileReader().read([small] * (MAX_FILES + 1))


async def test_a_file_larger_than_announced_is_refused_too() -> None:
    with pytest.raises(QuestionError, match="together they can have 10 MB"):
        await FileReader().read([a_file("a.txt", b"x" * 10_000_001, size=9)])


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\xef\xbb\xbf", "\u200b\u2060".encode()])
async def test_a_file_of_invisible_characters_is_empty(content: bytes) -> None:
    assert await fault("blank.txt", content) == "blank.txt is empty."
