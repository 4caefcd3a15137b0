"""Figures as marks on a sheet, and their writers: SVG for pages, PNG for chats and files."""
