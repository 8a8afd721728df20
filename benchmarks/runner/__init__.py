"""Keeps the catalogue of figures, judges and writes their lines, and makes what figures of all subjects need: older
revisions, valid runs, comparisons."""
