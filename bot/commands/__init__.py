"""What people can say to the bot, and what it does: the same in every chat."""
