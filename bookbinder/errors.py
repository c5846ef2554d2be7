"""What can be wrong with a book, said in a way that its author can act on."""


class BookError(Exception):
    """A mistake in the book or its surroundings; the command line shows its text and stops."""
