"""A seccomp filter by libseccomp: system calls that no answer needs and that have opened boxes before."""

from __future__ import annotations

import ctypes
import errno

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_MASKED_EQUAL, _EQUAL = 7, 4
_NEW_NAMESPACES = (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000, 0x80)
_SOCKETS = (1, 2, 10, 16)  # unix, the two kinds of internet (of which the box has none), netlink
_REFUSED = """
ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp keyctl add_key request_key bpf perf_event_open
userfaultfd io_uring_setup io_uring_enter io_uring_register mount umount2 pivot_root move_mount fsopen fsmount
fsconfig open_tree mount_setattr unshare setns memfd_create memfd_secret shmget shmat msgget semget kexec_load
kexec_file_load init_module finit_module delete_module syslog swapon swapoff acct quotactl open_by_handle_at
name_to_handle_at personality vhangup chroot lookup_dcookie mbind migrate_pages move_pages mq_open
"""


class _Argument(ctypes.Structure):
    _fields_ = [
        ("number", ctypes.c_uint),
        ("test", ctypes.c_int),
        ("one", ctypes.c_uint64),
        ("two", ctypes.c_uint64),
    ]


class Filter:
    """Built once, before any fork; ``load`` closes the calls for this process and all its children."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libseccomp.so.2")
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.seccomp_init(ctypes.c_uint(_ALLOW)))
        for name in _REFUSED.split():
            self._refuse(name, errno.EPERM)
        self._refuse("clone3", errno.ENOSYS)  # the C library then takes clone, whose flags can be read
        for flag in _NEW_NAMESPACES:
            self._refuse("clone", errno.EPERM, _Argument(0, _MASKED_EQUAL, flag, flag))
        for family in set(range(64)) - set(_SOCKETS):
            self._refuse("socket", errno.EAFNOSUPPORT, _Argument(0, _EQUAL, family, 0))

    def _refuse(self, name: str, code: int, *arguments: _Argument) -> None:
        number = self._library.seccomp_syscall_resolve_name(name.encode())
        if (
            number == -1
        ):  # a call that this library does not know yet; an older system has no such call either
            return
        array = (_Argument * len(arguments))(*arguments)
        action = ctypes.c_uint(_ERRNO | code)
        done = self._library.seccomp_rule_add_array(self._context, action, number, len(arguments), array)
        if done and -done not in (errno.EDOM, errno.EOPNOTSUPP):  # not on this processor
            raise OSError(-done, f"seccomp: {name}")

    def load(self) -> None:
        """Close the calls, from now on."""
        done = self._library.seccomp_load(self._context)
        if done:
            raise OSError(-done, "seccomp_load")
