"""The course's command line: ``python -m course_lib COMMAND``, or ``python3 run.py COMMAND``."""

import sys

from .app.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
