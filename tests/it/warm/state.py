# What a process is, as far as a script can see it: one JSON object, a value for each probe.
import sys

_first_modules = sorted(sys.modules)
_first_names = sorted(globals())
_first_path = list(sys.path)

import atexit, ctypes, builtins, codecs, encodings, faulthandler, gc, getpass, inspect, io, json, locale, logging
import os, platform, random, re, resource, signal, site, stat, subprocess, sysconfig, tempfile, threading, time
import traceback, uuid, warnings, importlib, importlib.util, multiprocessing, pkgutil, hashlib, decimal, types

PROBES = {}


def probe(function):
    PROBES[function.__name__] = function
    return function


def status_line(name):
    with open("/proc/self/status") as file:
        return [line.split(":", 1)[1].strip() for line in file if line.startswith(name + ":")]


def stream(one):
    raw = getattr(one.buffer, "raw", one.buffer)
    return [
        one.encoding, one.errors, one.line_buffering, one.write_through, one.name, one.mode, repr(one), one.newlines,
        type(one.buffer).__name__, type(raw).__name__, raw.name, raw.mode, raw.closefd, raw.fileno(), one.isatty(),
        one.readable(), one.writable(), one.seekable(), one._CHUNK_SIZE, repr(one.buffer), repr(raw),
    ]


@probe
def arguments(): return sys.argv
@probe
def original_arguments(): return getattr(sys, "orig_argv", None)
@probe
def c_arguments():
    count, words = ctypes.c_int(), ctypes.POINTER(ctypes.c_wchar_p)()
    ctypes.pythonapi.Py_GetArgcArgv(ctypes.byref(count), ctypes.byref(words))
    return [words[place] for place in range(count.value)]
@probe
def command_line(): return open("/proc/self/cmdline").read().split("\0")
@probe
def process_name(): return open("/proc/self/comm").read()
@probe
def program(): return os.readlink("/proc/self/exe")
@probe
def working_directory(): return [os.getcwd(), os.readlink("/proc/self/cwd")]
@probe
def environment(): return sorted(item for item in os.environ.items() if item[0] not in ("HOOKRUN_RUN_ID", "TRACEPARENT"))
@probe
def environment_bytes(): return sorted(name.decode("latin-1") for name in os.environb)
@probe
def environment_of_c():
    get = ctypes.CDLL(None).getenv
    get.restype = ctypes.c_char_p
    return [[name, (get(name.encode()) or b"").decode("latin-1")] for name in ("PATH", "HOME", "LANG", "LC_CTYPE", "HOOKRUN_PADDING", "HOOKRUN_EVENT")]
@probe
def environment_of_children():
    text = subprocess.run(["/usr/bin/env"], stdout=subprocess.PIPE).stdout.decode("latin-1")
    return sorted(line.partition("=")[0] for line in text.splitlines())
@probe
def environment_order(): return list(os.environ)
@probe
def environment_shown():
    text = open("/proc/self/environ", "rb").read().decode("latin-1")
    return sorted({line.partition("=")[0] for line in text.split("\0") if line})
@probe
def marks():
    text = open("/proc/self/environ", "rb").read().decode("latin-1")
    return sorted(line.partition("=")[0] for line in text.split("\0") if line.startswith(("HOOKRUN_RUN_ID", "HOOKRUN_HOOK=")))
@probe
def environment_type(): return [type(os.environ).__name__, len(os.environ) == len(os.environb)]
@probe
def umask():
    value = os.umask(0)
    os.umask(value)
    return value
@probe
def descriptors():
    return sorted(int(name) for name in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + name))
@probe
def descriptor_kinds(): return [stat.S_IFMT(os.fstat(number).st_mode) for number in range(3)]
@probe
def descriptor_flags():
    import fcntl
    return [[fcntl.fcntl(number, fcntl.F_GETFD), fcntl.fcntl(number, fcntl.F_GETFL), os.get_inheritable(number)] for number in range(3)]
@probe
def blocked_signals(): return sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ())))
@probe
def pending_signals(): return sorted(map(int, signal.sigpending()))
@probe
def signal_handlers():
    return [[number, repr(signal.getsignal(number))] for number in range(1, 65) if number not in (32, 33)]
@probe
def signal_masks(): return [status_line(name) for name in ("SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd")]
@probe
def wake_up_descriptor():
    value = signal.set_wakeup_fd(-1)
    return value
@probe
def alarm(): return [signal.getitimer(kind) for kind in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)]
@probe
def process_group(): return [os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid()]
@probe
def parent(): return os.getppid() > 1
@probe
def parent_name(): return open("/proc/%d/comm" % os.getppid()).read()
@probe
def controlling_terminal():
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
        return True
    except OSError as error:
        return error.errno
@probe
def terminals(): return [os.isatty(number) for number in range(3)]
@probe
def identity(): return [os.getresuid(), os.getresgid(), sorted(os.getgroups())]
@probe
def niceness(): return [os.nice(0), os.sched_getscheduler(0), sorted(os.sched_getaffinity(0))]
@probe
def limits(): return [[name, resource.getrlimit(getattr(resource, name))] for name in dir(resource) if name.startswith("RLIMIT_")]
@probe
def privileges(): return [status_line(name) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")]
@probe
def namespaces(): return [[name, os.readlink("/proc/self/ns/" + name)] for name in sorted(os.listdir("/proc/self/ns"))]
@probe
def control_group(): return open("/proc/self/cgroup").read()
@probe
def death_signal():
    value = ctypes.c_int()
    ctypes.CDLL(None).prctl(2, ctypes.byref(value), 0, 0, 0)
    return value.value
@probe
def subreaper():
    value = ctypes.c_int()
    ctypes.CDLL(None).prctl(37, ctypes.byref(value), 0, 0, 0)
    return value.value
@probe
def dumpable(): return ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)
@probe
def out_of_memory_score(): return [open("/proc/self/oom_score_adj").read(), open("/proc/self/coredump_filter").read()]
@probe
def personality(): return open("/proc/self/personality").read()
@probe
def timer_slack(): return ctypes.CDLL(None).prctl(30, 0, 0, 0, 0)
@probe
def threads(): return [status_line("Threads"), threading.active_count(), threading.main_thread() is threading.current_thread(), threading.current_thread().name]
@probe
def thread_numbers():
    main = threading.main_thread()
    return [main.ident == threading.get_ident(), getattr(main, "native_id", None) == os.getpid(), main.daemon]
@probe
def children():
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return "none"
@probe
def processor_time():
    used = time.process_time()
    return used < 30
@probe
def time_of_children(): return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime < 10
@probe
def clock(): return [abs(time.time() - float(os.popen("date +%s").read())) < 60, time.tzname, time.timezone, time.daylight, time.strftime("%Z")]
@probe
def file_name(): return __file__
@probe
def main_names(): return _first_names
@probe
def main_module():
    main = sys.modules["__main__"]
    return [__name__, __doc__, __package__, __spec__, type(__loader__).__name__, main.__dict__ is globals(), repr(main)]
@probe
def main_loader(): return [getattr(__loader__, "name", None), getattr(__loader__, "path", None)]
@probe
def main_builtins(): return [__builtins__ is builtins, type(__builtins__).__name__]
@probe
def main_annotations(): return "__annotations__" in _first_names
@probe
def main_cached(): return globals().get("__cached__", "absent")
@probe
def main_source(): return [inspect.getsourcefile(probe), inspect.getsource(probe)[:12], bool(__loader__.get_source("__main__"))]
@probe
def code_flags(): return [probe.__code__.co_flags, probe.__code__.co_filename, sys._getframe(0).f_back.f_code.co_name]
@probe
def stack_depth():
    return len(inspect.stack())
@probe
def outermost_frame():
    frame = sys._getframe()
    while frame.f_back:
        frame = frame.f_back
    return [frame.f_code.co_name, frame.f_code.co_filename, frame.f_globals is globals()]
@probe
def traceback_of_main():
    try:
        1 / 0
    except ZeroDivisionError:
        return traceback.format_exc().count("File")
@probe
def search_path(): return _first_path
@probe
def search_path_now(): return [one for one in sys.path if one not in _first_path]
@probe
def finders(): return [[getattr(one, "__name__", type(one).__name__) for one in sys.meta_path], len(sys.path_hooks)]
@probe
def loaded_modules(): return _first_modules
@probe
def module_of_own_folder():
    try:
        import warm_neighbour
        return warm_neighbour.__file__
    except ImportError as error:
        return str(error)
@probe
def flags(): return list(sys.flags)
@probe
def safe_path(): return getattr(sys.flags, "safe_path", None)
@probe
def options_of_x(): return sorted(sys._xoptions)
@probe
def warning_options(): return sys.warnoptions
@probe
def warning_filters(): return [repr(one) for one in warnings.filters]
@probe
def warnings_shown():
    return [getattr(warnings, "_defaultaction", None), warnings.showwarning.__module__]
@probe
def registry_of_warnings(): return "__warningregistry__" in globals()
@probe
def executable(): return [sys.executable, getattr(sys, "_base_executable", None)]
@probe
def prefixes(): return [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, sys.platlibdir if hasattr(sys, "platlibdir") else ""]
@probe
def version(): return [sys.version, sys.hexversion, sys.implementation.cache_tag, platform.python_implementation()]
@probe
def site_settings(): return [site.ENABLE_USER_SITE, site.USER_SITE, site.USER_BASE]
@probe
def bytecode(): return [sys.dont_write_bytecode, sys.pycache_prefix]
@probe
def hooks_of_sys():
    return [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, getattr(sys, "unraisablehook", None) is getattr(sys, "__unraisablehook__", None), sys.breakpointhook is sys.__breakpointhook__]
@probe
def last_error(): return [hasattr(sys, name) for name in ("last_type", "last_value", "last_traceback", "ps1", "tracebacklimit")]
@probe
def current_error(): return list(sys.exc_info())
@probe
def tracing(): return [sys.gettrace(), sys.getprofile(), threading._trace_hook, threading._profile_hook]
@probe
def recursion_limit(): return sys.getrecursionlimit()
@probe
def switch_interval(): return sys.getswitchinterval()
@probe
def number_digits(): return sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else None
@probe
def stdin_stream(): return stream(sys.stdin)
@probe
def stdout_stream(): return stream(sys.stdout)
@probe
def stderr_stream(): return stream(sys.stderr)
@probe
def kept_streams(): return [sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__]
@probe
def type_of_input(): return [type(sys.stdin).__name__, sys.stdin.buffer.__class__.__module__]
@probe
def encodings_used(): return [sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(), locale.getpreferredencoding(False), io.TextIOWrapper(io.BytesIO()).encoding]
@probe
def utf8_mode(): return [sys.flags.utf8_mode, os.fsencode("\udcff").decode("latin-1")]
@probe
def locale_of_c(): return [locale.setlocale(one, None) for one in (locale.LC_CTYPE, locale.LC_COLLATE, locale.LC_NUMERIC, locale.LC_TIME, locale.LC_MESSAGES, locale.LC_MONETARY)]
@probe
def locale_default(): return [locale.localeconv()["decimal_point"], time.strftime("%A", (2024, 1, 1, 0, 0, 0, 0, 1, 0))]
@probe
def hash_of_text():
    return hash("hookrun") if os.environ.get("PYTHONHASHSEED") else sys.flags.hash_randomization
@probe
def hash_of_numbers(): return [hash(12345678901234567890), hash(0.1), hash((1, 2))]
@probe
def order_of_sets(): return list({1, 100, 37, 12}) if True else None
@probe
def collector(): return [gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks]
@probe
def collector_frozen(): return gc.get_freeze_count() > 5000
@probe
def garbage(): return len(gc.garbage)
@probe
def functions_at_exit(): return atexit._ncallbacks() if hasattr(atexit, "_ncallbacks") else None
@probe
def fork_hooks(): return None
@probe
def loggers(): return [logging.root.handlers, logging.root.level, sorted(logging.root.manager.loggerDict)]
@probe
def start_of_logging():
    start = logging._startTime
    return abs(time.time() - (start / 1e9 if start > 1e12 else start)) < 60
@probe
def patterns_kept(): return len(re._cache) < 200
@probe
def codecs_known(): return [codecs.lookup("utf-8").name, codecs.lookup("latin-1").name, sorted(one for one in encodings._cache if one in ("utf_8", "latin_1", "ascii"))]
@probe
def error_handlers(): return [codecs.lookup_error(one).__name__ for one in ("strict", "surrogateescape", "backslashreplace")]
@probe
def random_differs():
    return random.Random(1).random()
@probe
def temporary_folder(): return [tempfile.gettempdir(), tempfile.tempdir]
@probe
def user(): return [getpass.getuser(), os.path.expanduser("~")]
@probe
def decimal_context(): return str(decimal.getcontext())
@probe
def import_times(): return [importlib.util.find_spec("json").origin, types.ModuleType("x").__loader__]
@probe
def start_method(): return multiprocessing.get_start_method(allow_none=True)
@probe
def process_of_multiprocessing(): return [multiprocessing.current_process().name, multiprocessing.parent_process() if hasattr(multiprocessing, "parent_process") else None]
@probe
def fault_handler(): return faulthandler.is_enabled()
@probe
def audit_hooks(): return len(os.listdir("/proc/self/task"))
@probe
def path_cache(): return sorted(sys.path_importer_cache)
@probe
def imported_submodules(): return [hasattr(importlib, "resources"), hasattr(os, "path"), hasattr(json, "tool"), hasattr(multiprocessing, "pool")]
@probe
def exit_function(): return [type(builtins.exit).__name__ if hasattr(builtins, "exit") else None, type(builtins.open).__name__, hasattr(builtins, "_")]
@probe
def builtin_names(): return sorted(vars(builtins))
@probe
def contents_of_input(): return sys.stdin.read()


out = {}
for name, function in PROBES.items():
    try:
        out[name] = function()
    except Exception as error:
        out[name] = "%s: %s" % (type(error).__name__, error)
json.dump({"x-state": out}, sys.stdout, default=repr)
