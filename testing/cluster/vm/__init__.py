"""Provides a node of a test cluster that is a virtual machine, with a kernel and a systemd of its own."""
