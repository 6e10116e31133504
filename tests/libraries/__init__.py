"""One module per array library; importing it skips the test if the library is missing."""
