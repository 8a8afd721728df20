// A library needs at least one source; the others are objects.
