"""The council: rules, vocabulary, prompts and counting.

Pure: values in, values out. Knows no chat, no SQL, no scheduler and no environment.
"""
