"""Ways to models. Each fulfils `council.ports.Gateway`; only `bot.wiring` imports them."""
