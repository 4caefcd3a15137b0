"""The documents: generated parts are up to date, links lead somewhere."""
