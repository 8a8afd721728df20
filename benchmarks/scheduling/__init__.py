"""Measures the extender and its scheduler: gangs, decisions, leaders, and real operators' jobs."""
