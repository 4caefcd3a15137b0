"""PDF files, written by hand, so that tests need no library to make text in them."""


def a_pdf(*pages: str) -> bytes:
    """Return a PDF with one line of plain text on each page."""
    count = len(pages)
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(count))
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
    ]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources {font} "
            f"/Contents {4 + 2 * number} 0 R >>",
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    body, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    entries = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    body += f"xref\n0 {size}\n0000000000 65535 f \n{entries}"
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{body.index('xref')}\n%%EOF\n"
    return (body + trailer).encode()
