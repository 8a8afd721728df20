"""Says what is wrong with what a user gave."""


class Refused(Exception):
    """Ends a command. The text is one line for the user."""


def refusal(where, key, expected, got):
    """Returns a Refused that names the file or the option, the key, what is expected and what is there instead."""
    return Refused(f"{where}: {key}: expected {expected}, got {got}")
