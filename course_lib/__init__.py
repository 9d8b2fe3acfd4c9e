"""Numbers, pictures and exercises for a textbook chapter on large-scale training.

The package reads like the chapter: one to three modules per section, each named after what it counts.
Importing it loads nothing else; import the module a section needs, e.g. ``course_lib.ledger``.
"""

import os

# One thread for matrix products, read when numpy is first loaded: arrays of this size gain nothing from more,
# and the order of sums, hence the last bits of a result, stays the same on every machine of a kind.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ.setdefault(_name, "1")
