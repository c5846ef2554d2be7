"""What a teacher needs beside the book: grading and slides."""
