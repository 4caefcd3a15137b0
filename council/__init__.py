"""The council: domain types, rules, prompts and counting.

Pure: values in, values out, without chats, SQL, schedulers or environment variables.
"""
