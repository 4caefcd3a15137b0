"""The gateway: sessions that outlive their sockets, and the sockets that carry them."""
