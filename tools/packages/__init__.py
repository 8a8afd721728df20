"""Makes roots of Debian's packages, as one file pins them."""
