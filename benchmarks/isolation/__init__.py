"""Measures what one user can do to another: hostile clients, budgets of memory, users under MPS."""
