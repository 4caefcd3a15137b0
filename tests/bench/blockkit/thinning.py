"""Pictures made small: a screen has few colours, so a palette of 256 holds it."""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOURS = 256

Pixels = NDArray[np.uint8]


def thinned(png: bytes) -> bytes:
    """Return a browser's 8-bit RGB or RGBA PNG as one of at most 256 colours."""
    width, height, pixels = _read(png)
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    colours, at, counts = np.unique(packed, return_inverse=True, return_counts=True)
    rgb = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1).astype(np.int32)
    kept = rgb[np.argsort(-counts)[:_COLOURS]]
    nearest = np.array([int(((kept - one) ** 2).sum(axis=1).argmin()) for one in rgb])
    rows = nearest[at].astype(np.uint8).reshape(height, width)
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    return _SIGNATURE + b"".join(
        (
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", kept.astype(np.uint8).tobytes()),
            _chunk(b"IDAT", zlib.compress(lines, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _read(png: bytes) -> tuple[int, int, Pixels]:
    """Return width, height and the pixels, one row of three values each."""
    at, data = len(_SIGNATURE), b""
    width = height = depth = 0
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
            depth = {2: 3, 6: 4}[colour]
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    raw = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * depth)
    return width, height, _unfiltered(raw, depth).reshape(-1, depth)[:, :3]


def _unfiltered(raw: Pixels, depth: int) -> Pixels:
    """Undo PNG's filters: each byte was written less what its neighbours foretell."""
    rows = np.zeros((len(raw), raw.shape[1] - 1), np.uint8)
    above = np.zeros(raw.shape[1] - 1, np.uint8)
    for at, line in enumerate(raw):
        above = rows[at] = _UNDO[line[0]](line[1:], above, depth)
    return rows


def _none(line: Pixels, _above: Pixels, _depth: int) -> Pixels:
    return line


def _up(line: Pixels, above: Pixels, _depth: int) -> Pixels:
    return line + above


def _sub(line: Pixels, _above: Pixels, depth: int) -> Pixels:
    return np.cumsum(line.reshape(-1, depth), axis=0, dtype=np.uint8).reshape(-1)


def _average(line: Pixels, above: Pixels, depth: int) -> Pixels:
    out = bytearray(line.tobytes())
    for at, over in enumerate(above.tolist()):
        left = out[at - depth] if at >= depth else 0
        out[at] = (out[at] + (left + over) // 2) & 255
    return np.frombuffer(bytes(out), np.uint8)


def _paeth(line: Pixels, above: Pixels, depth: int) -> Pixels:
    out, over = bytearray(line.tobytes()), above.tolist()
    for at in range(len(out)):
        a, c = (out[at - depth], over[at - depth]) if at >= depth else (0, 0)
        b = over[at]
        guess = a + b - c
        best = min((a, b, c), key=lambda one: abs(guess - one))
        out[at] = (out[at] + best) & 255
    return np.frombuffer(bytes(out), np.uint8)


_UNDO = (_none, _sub, _up, _average, _paeth)


def _chunk(kind: bytes, body: bytes) -> bytes:
    check = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)
