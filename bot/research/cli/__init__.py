"""Commands that only research needs: grades, experiments and simulations."""
