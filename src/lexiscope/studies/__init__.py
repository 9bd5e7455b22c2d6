"""One file or folder per paper: its questions, its analyses, and the numbers that it prints."""
