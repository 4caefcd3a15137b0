"""Grade files, the bias experiment and simulations: run them and report on them."""
