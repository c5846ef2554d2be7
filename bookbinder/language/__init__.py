"""What a reader's language says, and the catalogs in which it stands."""
