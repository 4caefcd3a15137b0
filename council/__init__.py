"""The council: domain types, rules, prompts and counting; values in, values out."""
