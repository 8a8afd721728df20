"""Keeps the record of releases, and compares the tree with it: `python3 -m tools.releases` says how it is called."""
