"""What runs beside a student's code: it knows no expected value, tolerance or other submission.

``answer`` reports the values of variables, ``application`` is the kernel's program. ``forkserver`` makes
kernels inside bubblewrap, ``isolation`` gives each its own walls, ``syscalls`` closes the system calls that
no answer needs.
"""
