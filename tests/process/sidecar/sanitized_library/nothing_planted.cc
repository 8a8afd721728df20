// A library is made of one source at least; the others are objects.
