# The interpreter that hookrun keeps: it has completed its start, and forks processes that wait for a
# script. Each runs one script once, as a fresh interpreter would. Only the standard library and the
# modules that the user names are imported, and this process runs no code of hooks. hookrun appends a
# call of `_main` with these names.
#
# stdin is a SOCK_SEQPACKET socket to hookrun. A packet requests one process: `!` now, `~` after the
# hook that has just started. The rest names the script that hookrun expects next; a lone `!` requests
# no process, but speeds up pending ones. The reply is the process's socket. Each side exits when the
# other end closes.
import sys

_base = {name.partition(".")[0] for name in sys.modules}

# Without threading and its importers, which make a fork write to a hundred more pages.
import ast, atexit, builtins, functools, gc, importlib.machinery, importlib.util, io, json, operator, os, posix, re, select, signal
import socket, stat, struct, time, types, warnings, weakref

_IDLE_MS = 600_000  # Exits after this time without a request.
_LULL_S = 0.005  # Most hooks have exited by then.
_MOST_BYTES = 1 << 20
_REHEARSALS = 20  # By then CPython 3.13 has specialized the code.
_MOST_FILLING = 2000  # Per size.
_MOST_NOTE = 1000  # Characters.
_TRIAL_S = 10
_PADDING = "HOOKRUN_PADDING"
_STREAMS = ("stdin", "stdout", "stderr")
_MARKS = (b"HOOKRUN_RUN_ID", b"HOOKRUN_HOOK")
# Imports with visible effects.
_NEVER_AHEAD = {"__future__", "__hello__", "antigravity", "idlelib", "test", "this", "turtledemo"}


def _stamp(path):
    try:
        found = os.stat(path)
        return found.st_mtime_ns, found.st_ino, found.st_size
    except OSError:
        return None


# Compiles a script; None if that warns.
def _compiled(source, script):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        code = compile(source, script, "exec", dont_inherit=True)
    return None if said else code


# Typical work of hooks.
_REHEARSAL = compile(
    "import json, sys\n"
    "event = json.load(sys.stdin)\n"
    "print(json.dumps(event), file=sys.stderr)\n",
    "",
    "exec",
)


# Fills partly used memory pools (CPython's obmalloc.c), so that objects of a forked process are
# allocated together, instead of in many pages that it would have to copy.
def _filling():
    gc.collect()
    pool_bytes = 1 << (14 if sys.version_info >= (3, 10) else 12)
    filling = []
    for size in range(48, 513, 16):
        for _ in range(_MOST_FILLING):
            filling.append(bytes(size - bytes.__basicsize__))
            if id(filling[-1]) % pool_bytes == 48:
                break  # First object of a new pool, after its header.
    return filling


def _nothing():
    pass


def _threads():
    return len(os.listdir("/proc/self/task"))


# A forked process would lack other threads. OpenBLAS and its like end theirs before a fork, and start
# them again when they are needed.
def _can_fork():
    if _threads() > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    return _threads() == 1


# Environment variables that notes which of them are read.
class _Watched(dict):
    def __getitem__(self, name):
        self.seen.add(name)
        return dict.__getitem__(self, name)


class _Zygote:
    def __init__(self, named):
        self.channel = socket.socket(fileno=os.dup(0))
        # Opened on pipes, the streams fit those of a hook.
        reading, writing = os.pipe()
        for number, descriptor in enumerate((reading, writing, writing)):
            os.dup2(descriptor, number)
        os.close(reading)
        os.close(writing)
        self.scripts = {}
        self.rehearsals = 0
        # Replaced by the script's folder later.
        self.has_script_folder = bool(sys.path) and sys.path[0] == ""
        if self.has_script_folder:
            del sys.path[0]
        self.path = list(sys.path)
        self.start_words = sys.orig_argv[:-2] if hasattr(sys, "orig_argv") else []
        self.library = os.path.realpath(os.path.dirname(os.__file__)) + os.sep
        # Search folders, and what modules outside the library consist of.
        self.places = {path: _stamp(path) for path in sys.path}
        self.files = {}
        with open("/proc/self/comm", "rb") as file:
            self.process_name = file.read().rstrip(b"\n")
        self.padding, self.given = self.find_padding()
        self.unraisable = self.find_unraisable()
        self.named = {name.partition(".")[0] for name in named}
        self.problems = []
        self.variables_read = set()
        for name in named:
            self.load_named(name)
        # Variables that the interpreter (PEP 538) and modules set at their start.
        self.set_by_itself = {name: os.environb[name] for name in os.environb if name not in self.given}
        self.note_modules()

    def find_padding(self):
        # The address of this process's variables, which the kernel shows in /proc/PID/environ, where
        # hookrun looks for its mark.
        with open("/proc/self/environ", "rb") as file:
            environment = file.read()
        start = environment.index(_PADDING.encode() + b"=")
        end = environment.index(b"\0", start)
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        os.environb.pop(_PADDING.encode(), None)
        given = dict([variable.split(b"=", 1) for variable in environment.split(b"\0") if b"=" in variable])
        # proc(5): env_start is field 50, and field 3 follows the name.
        return (int(fields[50 - 3]) + start, end - start), given

    # The type of sys.unraisablehook's argument has no public name.
    def find_unraisable(self):
        class Failing:
            def __del__(self):
                raise ValueError

        seen = []
        sys.unraisablehook = lambda unraisable: seen.append(type(unraisable))
        Failing()
        sys.unraisablehook = sys.__unraisablehook__
        return seen[0]

    def note_modules(self):
        self.modules = set(sys.modules) - {"__main__", "__mp_main__"}
        self.count = len(sys.modules)
        self.preloaded = {name.partition(".")[0] for name in sys.modules} - _base
        for name in self.modules:
            path = getattr(sys.modules[name], "__file__", None)
            if path and path not in self.files:
                self.files[path] = _stamp(path)
                if not self.is_of_library(path):
                    folder = os.path.dirname(path)
                    self.places.update({path: self.files[path], folder: _stamp(folder)})

    def is_of_library(self, path):
        return os.path.realpath(path).startswith(self.library) and "-packages" + os.sep not in path

    def is_stale(self):
        known = list(self.places.items()) + list(self.files.items())
        return any(_stamp(path) != stamp for path, stamp in known)

    # Compiles a script, and imports the modules that it imports from the library and from packages
    # that the user names.
    def learn(self, script):
        try:
            with open(script, "rb") as file:
                source = file.read()
            if self.scripts.get(script, (None,))[0] == source:
                return
            self.scripts[script] = source, _compiled(source, script)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
        except Exception:
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.load(alias.name)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                self.load(node.module, [alias.name for alias in node.names])
            else:
                self.compile_pattern(node)
        self.note_modules()

    def load(self, name, parts=()):
        root = name.partition(".")[0]
        if root in self.named:
            self.load_named(name, parts)
        if name in sys.modules or root in _NEVER_AHEAD:
            return
        try:
            origin = importlib.util.find_spec(root).origin or ""
            if origin in ("built-in", "frozen") or self.is_of_library(origin):
                # A module that warns is left to the script.
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    __import__(name)
        except Exception:
            pass

    # Imports a module of the user's, with parts that it may import when they are first used. If a
    # process of its own shows that it has visible effects, it is left to the script.
    def load_named(self, name, parts=()):
        if name in sys.modules and all(part in vars(sys.modules[name]) for part in parts):
            return
        problem = self.try_import(name, parts)
        if problem:
            problem = "`%s` was not imported in advance: %s" % (name, problem)
            if problem not in self.problems:
                self.problems.append(problem)
            return
        variables = os.environ._data
        os.environ._data = watched = _Watched(variables)
        watched.seen = self.variables_read
        try:
            __import__(name, fromlist=parts)
        except BaseException:
            pass  # As `problem`, unless something has just changed.
        os.environ._data = variables
        variables.clear()
        variables.update(watched)

    def try_import(self, name, parts):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(_TRIAL_S)
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            status = 1
            try:
                __import__(name, fromlist=parts)
                if _can_fork():
                    status = 0
                else:
                    print("it starts threads", file=sys.stderr)
            except BaseException as error:
                print("%s: %s" % (type(error).__name__, error), file=sys.stderr)
            self.flush()
            os._exit(status)
        os.close(writing)
        with open(reading, errors="replace") as printed:
            lines = printed.read().strip().splitlines()
        status = os.waitpid(child, 0)[1]
        if status == signal.SIGALRM:
            return "it takes longer than %d s" % _TRIAL_S
        if status == 0:
            return "it prints `%s`" % lines[0] if lines else None
        if os.WIFEXITED(status) and lines:
            return lines[-1]
        return "it ends its process"

    # Compiles literal patterns in advance, since `re` caches them. A pattern that warns is left to
    # the script.
    def compile_pattern(self, call):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
            return
        pattern = getattr(call.args[0], "value", None)
        if getattr(call.func.value, "id", None) != "re" or not isinstance(pattern, (str, bytes)):
            return
        names = [node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)]
        flags = [flag for flag in (getattr(re, name, None) for name in names) if isinstance(flag, re.RegexFlag)]
        # These print, or read the environment.
        if re.DEBUG in flags or re.LOCALE in flags:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                re.compile(pattern, functools.reduce(operator.or_, flags, 0))
        except Exception:
            pass

    # Serves requests until hookrun exits. Returns only in a forked process: its socket.
    def serve(self):
        waiting = select.poll()
        waiting.register(self.channel, select.POLLIN)
        version = "%d.%d" % sys.version_info[:2]
        self.channel.send(b"%s %s" % (sys.implementation.name.encode(), version.encode()))
        while waiting.poll(_IDLE_MS):
            asked = [self.channel.recv(_MOST_BYTES)]
            until = time.monotonic() + _LULL_S
            while asked[-1][:1] == b"~" and waiting.poll(max(until - time.monotonic(), 0) * 1000):
                asked.append(self.channel.recv(_MOST_BYTES))
            if not asked[-1] or self.is_stale():
                break
            for script in asked:
                if len(script) == 1:
                    continue
                self.learn(os.fsdecode(script[1:]))
                if not _can_fork():
                    os._exit(0)
                forked = self.fork(script[1:])
                if forked:
                    return forked
        os._exit(0)

    # Returns only in the forked process: its socket, and its rehearsal.
    def fork(self, script):
        # The interpreter specializes code in its first runs. Done here, forked processes need not.
        while self.rehearsals < _REHEARSALS:
            self.rehearsals += 1
            self.rehearse(*self.staged(script))
            if self.rehearsals == _REHEARSALS:
                self.filling = _filling()
        stage = self.staged(script)
        # From now on the collector only visits objects of the script.
        gc.collect()
        gc.freeze()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # With one thread threading has nothing to reset, which would write to 75 pages.
        after_fork = getattr(sys.modules.get("threading"), "_after_fork", _nothing)
        code, after_fork.__code__ = after_fork.__code__, _nothing.__code__
        # Forked twice, it becomes a child of hookrun, like every hook.
        first = os.fork()
        if first == 0 and os.fork() != 0:
            os._exit(0)
        after_fork.__code__ = code
        if first == 0:
            theirs.close()
            self.channel.close()
            return ours, stage
        os.waitpid(first, 0)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, theirs.fileno().to_bytes(4, sys.byteorder))]
        self.channel.sendmsg([b"+"], rights)
        ours.close()
        theirs.close()
        stage[0].close()
        os.close(stage[1])
        return None

    # Prepares a rehearsal: a socket with a request, the other end of its streams, and spare streams.
    def staged(self, script):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        (event, event_end), (written, writing) = os.pipe(), os.pipe()
        os.write(event_end, b'{"a": [1, "b"]}')
        words = [script, script, script, os.path.dirname(script), self.process_name, b"/", b"1", script]
        variables = [b"%s=%s" % variable for variable in os.environ._data.items()]
        rights = b"".join(number.to_bytes(4, sys.byteorder) for number in (event, writing, writing))
        theirs.sendmsg([b"\0".join(words + variables)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        for number in (event, event_end, writing):
            os.close(number)
        theirs.close()
        streams = self.new_streams()
        self.use_streams(self.new_streams())
        return ours, written, streams

    # Runs a test script, so that a forked process copies the pages that it writes before the event.
    def rehearse(self, own, written, streams):
        try:
            _, file, variables = self.as_fresh(*self.receive(own)[1:])
            sys.path_importer_cache.pop(file, None)
            exec(_REHEARSAL, variables)
        except Exception:
            pass  # The script will start cold.
        self.flush()
        own.close()
        os.close(written)
        sys.path[:] = self.path
        self.use_streams(streams)
        gc.collect()

    # Waits for a script and prepares to run it. Returns its code and globals.
    def become(self, own, stage):
        os.setsid()
        self.rehearse(*stage)
        own.send(b"%d" % os.getpid())
        waiting = select.poll()
        waiting.register(own, select.POLLIN)
        if not waiting.poll(_IDLE_MS):
            os._exit(0)
        start = self.receive(own)
        notes = list(self.problems)
        try:
            ready = self.as_fresh(*start[1:])
        except Exception as error:
            ready = None
            notes.append("the interpreter was started again: %s" % error)
        # Report that the hook begins: a process that exits before has run none of it.
        own.send(b"!" + "; ".join(notes)[:_MOST_NOTE].encode(errors="replace"))
        own.close()
        if ready:
            return ready
        # In unusual cases, execute the program as a cold start would. Python ignores these signals,
        # which exec would inherit.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        program, words, environment = start[0], start[-2], start[-1]
        os.execve(program, words, environment)

    # Receives a script's data and streams.
    def receive(self, own):
        packet, ancillary, _, _ = own.recvmsg(_MOST_BYTES, socket.CMSG_SPACE(3 * 4))
        if not packet:
            os._exit(0)
        for number, descriptor in enumerate(memoryview(ancillary[0][2]).cast("i")):
            os.dup2(descriptor, number)
            os.close(descriptor)
        program, script, file, folder, name, cwd, count, rest = packet.split(b"\0", 7)
        rest = rest.split(b"\0")
        words, variables = rest[: int(count)], rest[int(count) :]
        environment = dict([variable.split(b"=", 1) for variable in variables])
        os.chdir(cwd)
        return program, script, os.fsdecode(file), os.fsdecode(folder), name, words, environment

    def as_fresh(self, script, file, folder, name, words, environment):
        for path, stamp in self.places.items():
            if _stamp(path) != stamp:
                raise ValueError("%s has changed" % path)
        for name in self.variables_read:
            if environment.get(name) != self.set_by_itself.get(name, self.given.get(name)):
                raise ValueError("a module read %s, which has changed" % os.fsdecode(name))
        if self.has_script_folder:
            try:
                entries = os.listdir(folder)
            except PermissionError:
                entries = ()  # Python finds no modules there either.
            for entry in entries:
                if entry.partition(".")[0] in self.preloaded:
                    raise ValueError("a file in the script's folder has the name of a library module")
            sys.path.insert(0, folder)
        with open(file, "rb") as opened:
            source = opened.read()
        # Since 3.9 the script's name is absolute.
        shown = os.fsdecode(script)
        if sys.version_info >= (3, 9):
            shown = os.path.join(os.getcwd(), shown)
        if b"\0" in source or source[:2] == b"PK":
            raise ValueError("the script is not source text")
        known, code = self.scripts.get(file, (None, None))
        if known != source or shown != file:
            # A cold start reports syntax errors.
            code = _compiled(source, shown)
        self.mark(name, environment)
        self.replace_environment(environment)
        # The existing streams fit pipes.
        if not all([stat.S_ISFIFO(os.fstat(number).st_mode) for number in range(3)]):
            self.use_streams(self.new_streams())
        sys.argv[:] = [os.fsdecode(word) for word in words[words.index(script) :]]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv[:] = self.start_words + sys.argv
        if "logging" in sys.modules:
            logging = sys.modules["logging"]
            logging._startTime = time.time() if isinstance(logging._startTime, float) else time.time_ns()
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed()
        module = types.ModuleType("__main__")
        module.__loader__ = importlib.machinery.SourceFileLoader("__main__", shown)
        module.__builtins__ = builtins
        module.__file__ = shown
        if sys.version_info < (3, 14):
            module.__annotations__ = {}
            module.__cached__ = None
        sys.modules["__main__"] = module
        if "__mp_main__" in sys.modules:
            sys.modules["__mp_main__"] = module
        if "threading" in sys.modules and hasattr(sys.modules["threading"], "get_native_id"):
            sys.modules["threading"].main_thread()._set_native_id()
        sys.path_importer_cache.pop("/", None)
        sys.path_importer_cache[shown] = None
        return code or source, shown, module.__dict__

    # Sets the variables by which hookrun finds a hook's processes.
    def mark(self, process_name, environment):
        start, room = self.padding
        marks = [name + b"=" + environment[name] for name in _MARKS if name in environment]
        marks = b"\0".join(marks)
        if len(marks) >= room:
            raise ValueError("its run id and name are too long")
        marks = marks.ljust(room, b"\0")
        memory = os.open("/proc/self/mem", os.O_WRONLY)
        os.pwrite(memory, marks, start)
        os.close(memory)
        name = os.open("/proc/self/comm", os.O_WRONLY)
        os.write(name, process_name[:15])
        os.close(name)

    def replace_environment(self, environment):
        own = os.environ._data
        for name, value in self.set_by_itself.items():
            environment.setdefault(name, value)
        for name in [name for name in own if name not in environment]:
            os.unsetenv(name)
        for name, value in environment.items():
            if own.get(name) != value:
                os.putenv(name, value)
        own.clear()
        own.update(environment)
        posix.environ.clear()
        posix.environ.update(environment)

    # Creates the standard streams like create_stdio in CPython's pylifecycle.c.
    def new_streams(self):
        streams = []
        for number, name in enumerate(_STREAMS):
            old = getattr(sys, name)
            mode = "wb" if number else "rb"
            size = 0 if number and old.write_through else -1
            buffer = open(number, mode, size, closefd=False)
            raw = buffer.raw if size else buffer
            raw.name = "<%s>" % name
            new = io.TextIOWrapper(
                buffer,
                encoding=old.encoding,
                errors=old.errors,
                newline="\n",
                line_buffering=old.line_buffering,
                write_through=old.write_through,
            )
            new.mode = mode[0]
            streams.append(new)
        return streams

    def use_streams(self, streams):
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = streams

    # Exits like an interpreter (finalize_modules in CPython's pylifecycle.c), but destroys only
    # objects of the script, so that open files are written, and none of the zygote's, which would
    # copy every page.
    def end(self, status):
        threading = sys.modules.get("threading")
        try:
            if threading:
                threading._shutdown()
        except BaseException:
            sys.excepthook(*sys.exc_info())
        try:
            atexit._run_exitfuncs()
        except BaseException:
            pass  # Already reported, as in Python 3.9.
        is_flushed = self.flush()
        for name in ("last_type", "last_value", "last_traceback", "last_exc", "meta_path"):
            setattr(sys, name, None)
        sys.modules.pop("io", None)
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        own = self.imported()
        kept = [weakref.ref(sys.modules.pop(name)) for name in own if type(sys.modules[name]) is types.ModuleType]
        gc.collect()
        for module in filter(None, (reference() for reference in reversed(kept))):
            for key in list(module.__dict__):
                if key != "__builtins__":
                    module.__dict__[key] = None
        gc.collect()
        # After a failed flush, do not try again.
        if is_flushed and not self.flush():
            is_flushed = False
        os._exit(status if is_flushed else 120)

    # Returns the modules that the script imported, in order. Checking every name would write to its
    # page; older modules come first, unless the script changed that.
    def imported(self):
        names = []
        for name in reversed(sys.modules):
            if name in self.modules:
                break
            names.append(name)
        if len(names) + self.count != len(sys.modules):
            return [name for name in sys.modules if name not in self.modules]
        return names[::-1]

    def flush(self):
        is_flushed = True
        for stream in (sys.stdout, sys.stderr):
            try:
                if stream is not None and not getattr(stream, "closed", False):
                    stream.flush()
            except BaseException as error:
                is_flushed = False
                if stream is sys.stdout:
                    trace = error.__traceback__.tb_next
                    about = ("Exception ignored on flushing sys.stdout", None)
                    about = about if sys.version_info >= (3, 13) else (None, stream)
                    sys.unraisablehook(self.unraisable((type(error), error, trace) + about))
        return is_flushed


# Returns the exit status of a SystemExit, like CPython's pythonrun.c.
def _status(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    try:
        print(code, file=sys.stderr, end="")
    except Exception:
        pass
    print(file=sys.stderr)
    return 1


def _run(code, file, variables):
    try:
        if isinstance(code, bytes):
            code = compile(code, file, "exec", dont_inherit=True)
        exec(code, variables)
        return 0
    except SystemExit as exit:
        return _status(exit.code)
    except BaseException as caught:
        error = caught
    return _report(error)


# Reports an error like a fresh interpreter (PyErr_Print), without our frames.
def _report(error):
    error.__traceback__ = trace = error.__traceback__.tb_next
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    try:
        hook = sys.excepthook
    except AttributeError:
        print("sys.excepthook is missing", file=sys.stderr)
        hook = sys.__excepthook__
    second = None
    try:
        hook(type(error), error, trace)
    except SystemExit as exit:
        return _status(exit.code)
    except BaseException as caught:
        second = caught
    if second is not None:
        second.__traceback__ = second.__traceback__.tb_next
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(second), second, second.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, trace)
    return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1


def _main(named):
    zygote = _Zygote(named)
    status = _run(*zygote.become(*zygote.serve()))
    if status < 0:
        zygote.flush()
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    zygote.end(status)
