# The interpreter that hookrun keeps: it has done what every start repeats, and forks processes that
# wait for a script. One of them runs one script once, as a fresh interpreter would. It imports
# nothing but the standard library, and runs no code of a hook itself.
#
# Its stdin is a socket of hookrun's (SOCK_SEQPACKET). A packet there asks for one more process, and
# names the script that hookrun expects next. Each process has a socket of its own to hookrun, which
# comes back on that channel. Whoever sees the other end closed ends.
import sys

_base = {name.partition(".")[0] for name in sys.modules}

import ast, atexit, builtins, gc, importlib.machinery, importlib.util, io, json, os, pathlib, posix, re, select
import shlex, signal, socket, subprocess, time, types, warnings, weakref

_IDLE_MS = 600_000  # Without a request for this long it ends.
_MOST_BYTES = 1 << 20
_PADDING = "HOOKRUN_PADDING"
_MARKS = (b"HOOKRUN_RUN_ID", b"HOOKRUN_HOOK")
# These do something that is seen when they are imported.
_NEVER_AHEAD = {"__future__", "__hello__", "antigravity", "idlelib", "test", "this", "turtledemo"}


def _stamp(path):
    try:
        found = os.stat(path)
        return found.st_mtime_ns, found.st_ino, found.st_size
    except OSError:
        return None


# The code of a script, or None if compiling it says something on stderr.
def _compiled(source, script):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        code = compile(source, script, "exec", dont_inherit=True)
    return None if said else code


class _Zygote:
    def __init__(self):
        self.channel = socket.socket(fileno=os.dup(0))
        self.main_globals = None
        self.scripts = {}
        # A script's own folder takes the place of the working directory.
        self.has_script_folder = bool(sys.path) and sys.path[0] == ""
        if self.has_script_folder:
            del sys.path[0]
        self.library = os.path.realpath(os.path.dirname(os.__file__)) + os.sep
        self.folders = {path: _stamp(path) for path in sys.path}
        self.files = {}
        self.padding, self.given = self.find_padding()
        self.unraisable = self.find_unraisable()
        self.note_modules()

    def find_padding(self):
        # Where the variables of this process are in its memory: the system shows them in
        # /proc/PID/environ, by which hookrun knows whose process it is.
        with open("/proc/self/environ", "rb") as file:
            environment = file.read()
        start = environment.index(_PADDING.encode() + b"=")
        end = environment.index(b"\0", start)
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        os.environb.pop(_PADDING.encode(), None)
        given = {variable.partition(b"=")[0] for variable in environment.split(b"\0")}
        # proc(5): env_start is the 50th field, and the third is the first after the name.
        return (int(fields[50 - 3]) + start, end - start), given

    # The type of what is given to sys.unraisablehook has no name.
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
        self.preloaded = {name.partition(".")[0] for name in sys.modules} - _base
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if path and path not in self.files:
                self.files[path] = _stamp(path)

    def is_stale(self):
        known = list(self.folders.items()) + list(self.files.items())
        return any(_stamp(path) != stamp for path, stamp in known)

    # Imports what a script imports of the standard library, and keeps it compiled.
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
        for node in tree.body:
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names = [node.module]
            else:
                continue
            for name in names:
                self.load(name)
        self.note_modules()

    def load(self, name):
        root = name.partition(".")[0]
        if name in sys.modules or root in _NEVER_AHEAD:
            return
        try:
            origin = importlib.util.find_spec(root).origin or ""
            if origin in ("built-in", "frozen") or (
                os.path.realpath(origin).startswith(self.library) and "-packages" + os.sep not in origin
            ):
                # What warns is left to the script, which then says it once more.
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    __import__(name)
        except Exception:
            pass

    # Serves requests until hookrun is gone. Returns in a forked process only: its socket.
    def serve(self):
        waiting = select.poll()
        waiting.register(self.channel, select.POLLIN)
        version = "%d.%d" % sys.version_info[:2]
        self.channel.send(b"%s %s" % (sys.implementation.name.encode(), version.encode()))
        while waiting.poll(_IDLE_MS):
            script = self.channel.recv(_MOST_BYTES)
            # A process that is forked while another thread runs would lack that thread.
            if not script or self.is_stale():
                break
            self.learn(os.fsdecode(script))
            if len(os.listdir("/proc/self/task")) > 1:
                break
            # From now on the collector looks at what a script makes, and at nothing else.
            gc.collect()
            gc.freeze()
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            # Forked twice, it becomes a child of hookrun, as every hook is.
            first = os.fork()
            if first == 0:
                if os.fork() != 0:
                    os._exit(0)
                theirs.close()
                self.channel.close()
                return ours
            os.waitpid(first, 0)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, theirs.fileno().to_bytes(4, sys.byteorder))]
            self.channel.sendmsg([b"+"], rights)
            ours.close()
            theirs.close()
        os._exit(0)

    # The time of a forked process goes into the pages that it is the first to write. It writes them
    # before there is an event.
    def rehearse(self):
        text = io.TextIOWrapper(io.BytesIO(b'{"a": [1, "b"]}'), encoding="utf-8")
        json.dumps(json.load(text))
        re.search("a(b|c)+$", "xabc")
        re.purge()
        module = types.ModuleType("rehearsal")
        exec(compile("import json\ndef f(): return json\nf()", "", "exec"), module.__dict__)
        writer = io.TextIOWrapper(io.BufferedWriter(io.BytesIO()), encoding="utf-8")
        writer.write("a\n")
        writer.flush()
        list(os.scandir("/proc/self/fd"))
        del text, module, writer
        gc.collect()

    # Waits for a script, and becomes the process that runs it. Returns its code and its globals.
    def become(self, own):
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDWR)
        os.dup2(nothing, 0)
        os.close(nothing)
        self.rehearse()
        own.send(b"%d" % os.getpid())
        waiting = select.poll()
        waiting.register(own, select.POLLIN)
        if not waiting.poll(_IDLE_MS):
            os._exit(0)
        rights = socket.CMSG_SPACE(3 * 4)
        packet, ancillary, _, _ = own.recvmsg(_MOST_BYTES, rights)
        if not packet:
            os._exit(0)
        own.close()
        descriptors = memoryview(ancillary[0][2]).cast("i")
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        program, script, file, cwd, count, rest = packet.split(b"\0", 5)
        rest = rest.split(b"\0")
        words, variables = rest[: int(count)], rest[int(count) :]
        environment = dict(variable.split(b"=", 1) for variable in variables)
        os.chdir(cwd)
        try:
            return self.as_fresh(program, script, os.fsdecode(file), words, environment)
        except Exception:
            # Anything unusual: this process becomes what a cold start would have started. Python
            # ignores these signals, and exec would pass that on.
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            os.execve(program, words, environment)

    def as_fresh(self, program, script, file, words, environment):
        if any(_stamp(path) != stamp for path, stamp in self.folders.items()):
            raise ValueError("the libraries have changed")
        if self.has_script_folder:
            folder = os.path.dirname(os.path.realpath(file))
            names = {name.partition(".")[0] for name in os.listdir(folder)}
            if not names.isdisjoint(self.preloaded):
                raise ValueError("a file there has the name of a library module")
            sys.path.insert(0, folder)
        with open(file, "rb") as opened:
            source = opened.read()
        # Since 3.9 the script has an absolute name.
        shown = os.fsdecode(script)
        if sys.version_info >= (3, 9):
            shown = os.path.join(os.getcwd(), shown)
        if b"\0" in source or source[:2] == b"PK":
            raise ValueError("no source text")
        known, code = self.scripts.get(file, (None, None))
        if known != source or shown != file:
            # What cannot be compiled is for a cold start to report.
            code = _compiled(source, shown)
        self.mark(program, environment)
        self.replace_environment(environment)
        self.renew_streams()
        sys.argv[:] = [os.fsdecode(word) for word in words[words.index(script) :]]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv[-2:] = sys.argv
        if "logging" in sys.modules:
            logging = sys.modules["logging"]
            logging._startTime = time.time() if isinstance(logging._startTime, float) else time.time_ns()
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

    # hookrun finds and counts the processes of a hook by these variables.
    def mark(self, program, environment):
        start, room = self.padding
        marks = [name + b"=" + environment[name] for name in _MARKS if name in environment]
        marks = b"\0".join(marks)
        if len(marks) >= room:
            raise ValueError("no room for the marks")
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(start)
            memory.write(marks.ljust(room, b"\0"))
        # The program names the process, but if `env` starts the interpreter, as it did for this one.
        with open(program, "rb") as file:
            start = file.read(256).partition(b"\n")[0].split()
        if not start or os.path.basename(start[0]) != b"env":
            with open("/proc/self/comm", "wb", buffering=0) as name:
                name.write(os.path.basename(program)[:15])

    def replace_environment(self, environment):
        own = os.environ._data
        # What the interpreter has set itself at its start, it would set again (PEP 538).
        for name in set(own) - self.given - set(environment):
            environment[name] = own[name]
        for name in set(own) - set(environment):
            os.unsetenv(name)
        for name, value in environment.items():
            if own.get(name) != value:
                os.putenv(name, value)
        own.clear()
        own.update(environment)
        posix.environ.clear()
        posix.environ.update(environment)

    # The standard streams, as create_stdio of CPython's pylifecycle.c makes them.
    def renew_streams(self):
        for number, name in enumerate(("stdin", "stdout", "stderr")):
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
            setattr(sys, name, new)
            setattr(sys, "__%s__" % name, new)

    # Ends as an interpreter does (finalize_modules of CPython's pylifecycle.c), without taking apart
    # what it has from the zygote: that would copy every page. What the script has made is
    # destroyed, so files that it left open are written.
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
            pass  # It is reported by now: this is how Python 3.9 ends.
        is_flushed = self.flush()
        for name in ("last_type", "last_value", "last_traceback", "last_exc", "meta_path"):
            setattr(sys, name, None)
        sys.modules.pop("io", None)
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        own = [name for name in sys.modules if name not in self.modules]
        kept = [weakref.ref(sys.modules.pop(name)) for name in own if type(sys.modules[name]) is types.ModuleType]
        gc.collect()
        for module in filter(None, (reference() for reference in reversed(kept))):
            for key in list(module.__dict__):
                if key != "__builtins__":
                    module.__dict__[key] = None
        gc.collect()
        # What could not be written before cannot be written now.
        if is_flushed and not self.flush():
            is_flushed = False
        os._exit(status if is_flushed else 120)

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


# The exit status of a SystemExit, as CPython's pythonrun.c has it.
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


# As a fresh interpreter reports it (PyErr_Print): without frames of ours.
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


def _main():
    zygote = _Zygote()
    status = _run(*zygote.become(zygote.serve()))
    if status < 0:
        zygote.flush()
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    zygote.end(status)


_main()
