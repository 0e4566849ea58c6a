"""Contexts: memory, threads, log and the last error. Most programs use the default one and never see it."""
import threading

from . import _core


@_core.register
class Context(_core.Context):
    """Carries threads, log and progress of the objects that are made with it.

    One context serves one thread of Python at a time; different contexts are independent.

    threads   threads of the library that share the work
    log       called with (level, line)
    progress  called with (what, share) in long calls; returning False cancels the call
    """

    def __new__(cls, threads=1, log=None, progress=None):
        definition = _core.ContextDef(threads=threads)
        if log:
            definition.logger.write = log
        if progress:
            definition.progress.report = progress
        return _core.context_create(definition)


_local = threading.local()


def default_context():
    """The context of this thread, with one thread of the library. Made when it is first needed."""
    if not getattr(_local, "context", None):
        _local.context = Context()
    return _local.context
