"""Ask the council with real clients of OpenAI's API: only their base URL and key are changed."""
