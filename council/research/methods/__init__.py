"""Research methods; `bot.research.plugin` lists them."""
