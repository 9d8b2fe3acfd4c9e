"""``python -m tests.pictures`` draws the kept pictures anew."""

from . import renew

renew()
