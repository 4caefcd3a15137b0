"""Several processes of the product on one Postgres, killed, frozen and cut off; and the count."""
