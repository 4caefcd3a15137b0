"""The thesis' experiment, held on this house's models and money."""
