"""What is known of the bias of judges, measured over stored rounds and made ready to be shown."""
