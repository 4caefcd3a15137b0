"""What the product is deployed with, each run as far as this machine can."""
