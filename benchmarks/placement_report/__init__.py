"""Shows what policies of placement make of traces, as files, tables and plots: `python3 -m
benchmarks.placement_report`.
"""
