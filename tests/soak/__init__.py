"""The product under kill -9: rounds asked over HTTP, a server that counts what was paid."""
