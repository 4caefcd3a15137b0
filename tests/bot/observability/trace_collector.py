"""A fake OTLP collector on loopback that parses traces with the protocol's own package."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

Fact = str | int | float


class CollectedTraces:
    """The requests that the collector received, and the spans in them."""

    def __init__(self) -> None:
        self.address = ""
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []

    @property
    def spans(self) -> list[Span]:
        """Every span, in the order they ended."""
        requests = map(ExportTraceServiceRequest.FromString, self.bodies)
        scopes = (s for r in requests for found in r.resource_spans for s in found.scope_spans)
        return [span for scope in scopes for span in scope.spans]

    def named(self, start: str) -> list[Span]:
        """Return the spans whose names start with a text."""
        return [span for span in self.spans if span.name.startswith(start)]


def attributes(span: Span) -> dict[str, Fact]:
    """Return a span's attributes."""
    found: dict[str, Fact] = {}
    for pair in span.attributes:
        kind = pair.value.WhichOneof("value")
        assert kind
        found[pair.key] = getattr(pair.value, kind)
    return found


@contextmanager
def running_collector() -> Iterator[CollectedTraces]:
    """Run a collector while the block lasts."""
    collected = CollectedTraces()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collected.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            collected.headers.append({name.lower(): text for name, text in self.headers.items()})
            body = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200 if self.path == "/v1/traces" else 404)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    collected.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield collected
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
