"""A process that asks for the product's health and memory, and prints what it finds.

The attacks run in another process, so they do not delay it.
"""

import http.client
import sys
import time

import psutil

SAMPLE_SECONDS = 0.02


def main() -> None:
    """Print the seconds of a health check, whether it failed, and the memory, until killed."""
    port, process = int(sys.argv[1]), psutil.Process(int(sys.argv[2]))
    while True:
        time.sleep(SAMPLE_SECONDS)
        began, has_failed = time.perf_counter(), False
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            connection.close()
        except OSError:
            has_failed = True
        seconds = time.perf_counter() - began
        sys.stdout.write(f"{seconds} {has_failed:d} {process.memory_info().rss}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
