"""The gateway: sessions, and the sockets that carry them."""
