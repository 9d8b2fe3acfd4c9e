"""The folder that a graded kernel has on its path: ``grader_box`` and nothing else of the grader."""
