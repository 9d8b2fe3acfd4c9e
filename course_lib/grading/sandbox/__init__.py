"""Kernels behind walls, on Linux with bubblewrap.

``probe`` says whether it can work here; ``box`` builds bubblewrap's command; ``boxes`` holds the warm
process inside it and asks for kernels; ``provisioner`` offers them to jupyter_client; ``watch`` bounds a box
from outside.
"""
