"""Numbers, pictures and exercises for a textbook chapter on large-scale training.

The package reads like the chapter: one to three modules per section, each named after what it counts.
Importing it loads nothing else; import the module a section needs, e.g. ``course_lib.ledger``.
"""
