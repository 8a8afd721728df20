"""Measures what each of several unlike jobs gets: its share, its priority, its cap on slowdown, its charge."""
