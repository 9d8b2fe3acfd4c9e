"""Grade submitted notebooks: nbval decides, outside the student's reach."""
