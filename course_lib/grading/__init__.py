"""Grade submitted notebooks: nbval decides, outside the student's reach.

The data's way: ``submissions`` (files and their owners) → ``reading`` (answer cells of one file) →
``reference`` (the notebook that is run) → ``judging`` (nbval, a kernel from ``sandbox``) → ``records`` →
``results`` (tables and pages). ``batch`` drives it over many submissions.
"""
