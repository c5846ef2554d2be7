"""What a teacher needs beside the book: grading, slides, the class's progress."""
