"""The command line of the course: opening it, testing it, keeping its notebooks."""
