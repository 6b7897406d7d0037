# The worker of Python tools. It is sent to the interpreter in the first frame and uses the standard library only.
# `reader` and `setup` are given: the first lane and the first frame's object. Frames: see ../worker/frame.go.
#
# The main thread reads the first lane and calls functions itself, without handing anything over: that is the fast way
# for one call at a time. A second thread reads the second lane; its calls go to a pool of threads. What is awaitable
# goes to one event loop in a thread of its own, from either lane.
import base64
import contextvars
import importlib.machinery  # Embedded needs it when it looks for modules itself
import io
import json
import os
import queue
import struct
import sys
import threading
import time
import types

THREADS = 64
TAIL = 8192  # characters of output and traceback that go into an error
CODES = {"VALIDATION_ERROR", "TIMEOUT", "RATE_LIMIT", "POLICY_DENIED", "AUTH_REQUIRED", "PROVIDER_ERROR", "NETWORK_ERROR",
         "SANDBOX_ERROR", "UNKNOWN"}

header = struct.Struct(">IIB")
SETUP, CALL, CANCEL, READY, RESULT, ERROR, RUNS, BESIDE, LOGS = (ord(c) for c in "SCXHREKTP")
for fd in (3, 4, 5):
    os.set_inheritable(fd, False)


# Frames.

writing = threading.Lock()


def write(ident, kind, body=b"", before=b""):
    data = before + header.pack(len(body) + 5, ident, kind) + body
    with writing:
        n = os.write(4, data)
        while n < len(data):
            data = data[n:]
            n = os.write(4, data)


def frames(stream):
    size = header.size
    read = stream.read
    unpack = header.unpack
    while True:
        head = read(size)
        if len(head) < size:
            os._exit(0)  # the program is gone or wants no more
        n, ident, kind = unpack(head)
        yield ident, kind, read(n - 5)


# What a tool sees of its call.

current = contextvars.ContextVar("flowgen_call")


class Context:
    """What a call gets beside its arguments: secrets by name, and who it is."""

    def __init__(self, given=None):
        given = given or {}
        self.auth = given.get("auth") or {}
        self.call_id = given.get("call_id", "")
        self.tenant_id = given.get("tenant_id", "")
        self.idempotency_key = given.get("idempotency_key")

    def __repr__(self):
        return "<flowgen.Context>"  # secrets do not belong in a log


class ToolError(Exception):
    """An error with one of the nine codes of flowgen."""

    def __init__(self, code, message="", details=None, retry_after_s=None):
        super().__init__(message)
        if code not in CODES:
            raise ValueError("%r is none of the codes %s" % (code, ", ".join(sorted(CODES))))
        self.code, self.details, self.retry_after_s = code, details, retry_after_s


def context():
    """The Context of the call that runs now."""
    call = current.get(None)
    if call is None:
        raise RuntimeError("no call of a flowgen tool is running here")
    if call.context is None:
        call.context = Context(call.given)
    return call.context


def attach(kind, url, content_type="", bytes=0):
    """Puts a blob, an image or a table that stands elsewhere beside the result of the call that runs now."""
    call = current.get(None)
    if call is None:
        raise RuntimeError("no call of a flowgen tool is running here")
    if kind not in ("blob", "image", "table"):
        raise ValueError("an attachment is a blob, an image or a table, not %.40r" % (kind,))
    if not isinstance(url, str) or not isinstance(content_type, str) or not isinstance(bytes, int):
        raise TypeError("an attachment has a URL and a content type, which are text, and an int of bytes")
    if not 1 <= len(url.encode()) <= 4096 or len(content_type.encode()) > 200 or not 0 <= bytes < 1 << 63:
        raise ValueError("the URL of an attachment has 1 to 4096 bytes, its content type at most 200, and its size is not negative")
    with attaching:
        if len(call.attached) >= 100:
            raise ValueError("a call has at most 100 attachments")
        call.attached += ({"kind": kind, "url": url, "content_type": content_type, "bytes": int(bytes)},)


attaching = threading.Lock()
public = types.ModuleType("flowgen", "What Python tools of flowgen can ask for.")
public.Context, public.ToolError, public.context, public.attach = Context, ToolError, context, attach
Context.__module__ = ToolError.__module__ = context.__module__ = attach.__module__ = "flowgen"


class Call:
    __slots__ = ("ident", "limit", "given", "context", "output", "task", "attached", "told", "held", "line", "sent", "late")

    def __init__(self, ident, limit, given, told):
        self.ident = ident
        self.limit = limit
        self.given = given
        self.context = None
        self.output = None
        self.task = None
        self.attached = ()
        self.told = told  # what it prints is sent
        self.held = False  # but not yet
        self.line = ""
        self.sent = None  # when it has sent last
        self.late = False  # the thread is to send the rest

    def say(self, text):
        if self.told and alone:
            with telling:
                self.line += text
                if not self.held and ("\n" in text or len(self.line) > TAIL):
                    self.send_soon()
        text = (self.output or "") + text
        self.output = text if len(text) <= 2 * TAIL else text[-TAIL:]

    def send_soon(self):
        """Sends what it has printed: at once, or after a pause what comes too soon after that."""
        now = time.monotonic()
        if len(self.line) > TAIL or self.sent is None or now - self.sent >= PAUSE:
            self.sent = now
            self.tell()
        elif not self.late:
            self.late = later(self)

    def tell(self):
        with telling:
            text, self.line, self.late = self.line, "", False
            for i in range(0, len(text), TAIL):
                write(self.ident, LOGS, text[i:i + TAIL].encode("utf-8", "backslashreplace"))

    def forget(self):
        """Returns what it has printed, which is no longer its own."""
        text, self.output, self.line = self.output, None, ""
        return text


# What calls print is sent by themselves, or by a thread of its own when they print much.

PAUSE = 0.02  # seconds between what a call sends by itself
telling = threading.RLock()  # what runs when memory is collected may print, too
talkers = queue.SimpleQueue()
talking = False
alone = True  # this process is no fork of the worker


def forked():
    global alone
    alone = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forked)


def later(call):
    global talking
    try:
        if not talking:
            threading.Thread(target=talk, daemon=True, name="flowgen-logs").start()
            talking = True
    except (RuntimeError, MemoryError):
        return False  # the next one that is due sends it, or the end
    talkers.put(call)
    return True


def talk():
    while True:
        calls = [talkers.get()]
        time.sleep(PAUSE)
        while not talkers.empty():
            calls.append(talkers.get())
        for call in calls:
            call.tell()


class Output(io.TextIOBase):
    """sys.stdout and sys.stderr: the end of what a call prints is kept for the error it may end with."""

    encoding, errors = "utf-8", "backslashreplace"

    def __init__(self, real):
        self.real = real
        self.buffer = real.buffer

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not " + type(text).__name__)
        call = current.get(None)
        if call is None:
            return self.real.write(text)
        call.say(text)
        return len(text)

    def flush(self):
        self.real.flush()

    def fileno(self):
        return self.real.fileno()

    def isatty(self):
        return False

    def writable(self):
        return True


# Sources that are part of the program.

class Embedded:
    """Finds and loads modules in the files of the first frame."""

    def __init__(self, files, home):
        self.files = files
        self.home = (home.replace(os.sep, "/").rstrip("/") if home else "<embedded>") + "/"

    def place(self, name):
        base = name.replace(".", "/")
        for path, package in ((base + "/__init__.py", True), (base + ".py", False)):
            if path in self.files:
                return path, package
        return None, any(p.startswith(base + "/") and p.endswith(".py") for p in self.files)

    def find_spec(self, name, path=None, target=None):
        from importlib.machinery import ModuleSpec
        where, package = self.place(name)
        if where is None and not package:
            return None
        spec = ModuleSpec(name, self if where else None, origin=where and self.home + where, is_package=package)
        if package:
            spec.submodule_search_locations = [self.home + name.replace(".", "/")]
        spec.has_location = where is not None
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, name):
        where, _ = self.place(name)
        if where is None:
            raise ImportError("no embedded module " + name, name=name)
        return compile(self.files[where], self.home + where, "exec", dont_inherit=True)

    def get_source(self, name):
        from importlib.util import decode_source
        where, _ = self.place(name)
        return decode_source(self.files[where]) if where else None

    def is_package(self, name):
        return self.place(name)[1]

    def get_filename(self, name):
        where, _ = self.place(name)
        if where is None:
            raise ImportError("no embedded module " + name, name=name)
        return self.home + where

    def get_data(self, path):
        start = self.home
        path = path.replace(os.sep, "/")
        try:
            return self.files[path[len(start):] if path.startswith(start) else path]
        except KeyError:
            if start != "<embedded>/":
                with open(path, "rb") as f:
                    return f.read()
            raise FileNotFoundError(2, "no such embedded file", path) from None


# Values.

decode = json.JSONDecoder().scan_once


def jsonable(v):
    """Converts what JSON has no form for; json calls it."""
    import dataclasses
    import datetime
    import decimal
    import enum
    import pathlib
    import uuid
    if dataclasses.is_dataclass(v) and not isinstance(v, type):
        return {f.name: getattr(v, f.name) for f in dataclasses.fields(v)}
    if isinstance(v, enum.Enum):
        return v.value
    if isinstance(v, (datetime.datetime, datetime.date, datetime.time)):
        return v.isoformat()
    if isinstance(v, datetime.timedelta):
        return "%dus" % (v // datetime.timedelta(microseconds=1))
    if isinstance(v, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(v)).decode()
    if isinstance(v, (set, frozenset)):
        return sorted(v)
    if isinstance(v, (decimal.Decimal, uuid.UUID, pathlib.PurePath)):
        return str(v)
    if callable(getattr(type(v), "model_dump", None)):  # pydantic
        return ordered(v.model_dump(mode="json"), v.model_dump())
    if isinstance(v, types.MappingProxyType) or hasattr(v, "keys") and hasattr(v, "__getitem__"):
        return {k: v[k] for k in v.keys()}
    raise TypeError("Object of type %s is not JSON serializable" % type(v).__name__)


def ordered(made, v):
    """Sorts the lists that were made of sets, whose order is another in every process."""
    if isinstance(v, (set, frozenset)) and isinstance(made, list):
        try:
            return sorted(made)
        except TypeError:
            return made
    if isinstance(v, dict) and isinstance(made, dict):
        return {k: ordered(x, v[k]) if k in v else x for k, x in made.items()}
    if isinstance(v, (list, tuple)) and isinstance(made, list) and len(v) == len(made):
        return [ordered(x, y) for x, y in zip(made, v)]
    return made


MARK = "\0"  # before the name of a type, the only key of a mapping whose value is the text
MOMENTS = ("datetime", "date", "time", "timedelta")
delta = None


def moment(kind, text):
    """What textual has marked; the text where it cannot be read."""
    import datetime
    import re
    global delta
    try:
        if kind != "timedelta":
            return getattr(datetime, kind).fromisoformat(text)
        delta = delta or re.compile(r"(?:(-?\d+) days?, )?(\d+):(\d+):(\d+)(?:\.(\d{6}))?")
        days, hours, minutes, seconds, micros = (int(x or 0) for x in delta.fullmatch(text).groups())
        return datetime.timedelta(days, seconds, micros, 0, minutes, hours)
    except (AttributeError, ValueError):
        return text


class Answer(dict):
    """A mapping for functions that read its fields as attributes: they were written for objects."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError("'Answer' object has no attribute %r" % name) from None

    def model_dump(self, **_):
        return dict(self)


def attributes(call):
    """The names in the module of a function that may be attributes of data."""
    import builtins
    call = getattr(call, "__wrapped__", call)
    module = getattr(call, "__globals__", {})
    names, todo = set(), [getattr(x, "__code__", None) for x in [call, *module.values()] if getattr(x, "__globals__", None) is module]
    while todo:
        code = todo.pop()
        if code is not None:
            names.update(code.co_names)
            todo += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return {n for n in names if n not in module and not hasattr(builtins, n) and not hasattr(dict, n)}


def living(v, names):
    """Data as functions that are called plainly get it: with the moments that others have returned, and as objects where they
    look at attributes."""
    if v.__class__ is dict:
        if len(v) == 1:
            (key, text), = v.items()
            if key[:1] == MARK and key[1:] in MOMENTS and isinstance(text, str):
                return moment(key[1:], text)
        for k, x in v.items():
            if x.__class__ is dict or x.__class__ is list:
                v[k] = living(x, names)
        return Answer(v) if not names.isdisjoint(v) else v
    for i, x in enumerate(v):
        if x.__class__ is dict or x.__class__ is list:
            v[i] = living(x, names)
    return v


plainly = setup.get("plain", False)  # arguments are what JSON holds whatever annotations say, and results have their text


def textual(v):
    """jsonable for functions that are called plainly: what has no JSON is its text, which is marked where the next function gets
    the value back."""
    import datetime
    import enum
    for name in MOMENTS:
        if type(v) is getattr(datetime, name):
            return {MARK + name: str(v)}
    if isinstance(v, (datetime.date, datetime.time, datetime.timedelta, bytes, bytearray, enum.Enum)):
        return str(v)
    try:
        return jsonable(v)
    except TypeError:
        return str(v)


encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=textual if plainly else jsonable).encode


# Functions.

class Refused(Exception):
    """An error of the call that is not the function's own: code and message."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Function:
    __slots__ = ("call", "readers", "context", "names")

    def __init__(self, call):
        self.call = call
        self.readers, self.context, self.names = {}, [], None
        if plainly:
            self.names = attributes(call)
            return
        try:
            notes = dict(getattr(call, "__annotations__", None) or {})
        except Exception:
            return
        notes.pop("return", None)
        for name, note in notes.items():
            if note in plain:
                continue
            self.annotate(name, note)

    def annotate(self, name, note):
        if isinstance(note, str):
            if note == "flowgen.Context":
                note = Context
            else:
                note = evaluate(note, getattr(self.call, "__globals__", {}))
        if note is Context:
            self.context.append(name)
            return
        read = reader_of(note)
        if read is not None:
            self.readers[name] = read

    def arguments(self, args):
        for name, read in self.readers.items():
            if name in args and args[name] is not None:
                try:
                    args[name] = read(args[name])
                except Exception as e:
                    raise Refused("VALIDATION_ERROR", "argument %s: %s" % (name, text_of(e)))
        for name in self.context:
            args[name] = context()


plain = (str, int, float, bool, list, dict, "str", "int", "float", "bool", "list", "dict", None)


def evaluate(note, names):
    try:
        return eval(note, names)
    except Exception:
        return None  # a name that only type checkers see


def reader_of(note):
    """What makes a value of type note out of JSON; None when it is JSON already."""
    if note in plain or note is None:
        return None
    import collections.abc as abc
    import dataclasses
    import typing
    origin, parts = typing.get_origin(note), typing.get_args(note)
    if origin is typing.Annotated:
        return reader_of(parts[0])
    if origin is typing.Union or origin is getattr(types, "UnionType", typing.Union):
        return optional(parts)
    if origin in (list, set, frozenset, tuple, abc.Sequence, abc.Iterable, abc.Collection, abc.MutableSequence, abc.Set):
        return list_reader(origin, parts)
    if origin in (dict, abc.Mapping, abc.MutableMapping) and len(parts) == 2:
        read = reader_of(parts[1])
        return read and (lambda v: {k: read(x) for k, x in v.items()})
    if note in (set, frozenset, tuple):
        return note
    if not isinstance(note, type):
        return None
    if dataclasses.is_dataclass(note):
        return dataclass_reader(note)
    if typing.is_typeddict(note) if hasattr(typing, "is_typeddict") else hasattr(note, "__total__"):
        return dict_reader(note)
    if callable(getattr(note, "model_validate", None)):  # pydantic
        return note.model_validate
    return simple_reader(note)


def hints(note):
    import typing
    try:
        return typing.get_type_hints(note)
    except Exception:
        return {}


def optional(parts):
    parts = [p for p in parts if p is not type(None)]
    if len(parts) != 1:
        return None  # which of them it is cannot be told
    read = reader_of(parts[0])
    return read and (lambda v: None if v is None else read(v))


def list_reader(origin, parts):
    make = origin if origin in (set, frozenset, tuple) else list
    if origin is tuple and parts and parts[-1] is not Ellipsis:
        each = [reader_of(p) for p in parts]

        def read(v):
            if len(v) != len(each):
                raise ValueError("%d items expected, %d given" % (len(each), len(v)))
            return tuple(x if r is None else r(x) for r, x in zip(each, v))
        return read
    item = reader_of(parts[0]) if parts else None
    if item is None:
        return None if make is list else make
    return lambda v: make(item(x) for x in v)


def dataclass_reader(note):
    import dataclasses
    types_of = hints(note)
    each = {}
    names = {f.name for f in dataclasses.fields(note) if f.init}
    made = []  # the readers of the fields; made at first use, for a class may hold itself

    def read(v):
        if not made:
            each.update((n, reader_of(t)) for n, t in types_of.items() if n in names)
            made.append(True)
        for name in v:
            if name not in names:
                raise ValueError("%s has no field %r" % (note.__name__, name))
        return note(**{k: x if x is None or each.get(k) is None else each[k](x) for k, x in v.items()})
    return read


def dict_reader(note):
    each = {n: r for n, r in ((n, reader_of(t)) for n, t in hints(note).items()) if r is not None}
    if not each:
        return None
    return lambda v: {k: x if x is None or k not in each else each[k](x) for k, x in v.items()}


def simple_reader(note):
    import datetime
    import decimal
    import enum
    import pathlib
    import uuid
    if issubclass(note, enum.Enum):
        return note
    if note in (datetime.datetime, datetime.time):
        return lambda v: note.fromisoformat(v[:-1] + "+00:00" if v.endswith("Z") else v)
    if note is datetime.date:
        return note.fromisoformat
    if note is datetime.timedelta:
        return lambda v: datetime.timedelta(microseconds=v / 1000)  # flowgen's durations are nanoseconds
    if note is decimal.Decimal:
        return lambda v: decimal.Decimal(str(v))
    if note is bytes:
        return lambda v: base64.b64decode(v, validate=True)
    if note is uuid.UUID or issubclass(note, pathlib.PurePath):
        return note
    return None


functions = {}


def function(key):
    f = functions.get(key)
    if f is None:
        f = functions[key] = Function(find(key))
    return f


def find(key):
    import importlib
    module, _, name = key.partition(":")
    call = current.get()
    call.held = True
    try:
        found = importlib.import_module(module)
        # What a module prints is no call's, or which call has it would depend on which comes first; of one that fails it is.
        text = call.forget()
        if text:
            printed.write(text)
        call.held = False
    except BaseException as e:
        text = str(e) if isinstance(e, ModuleNotFoundError) else text_of(e)
        raise Refused("SANDBOX_ERROR", "Cannot import module '%s': %s" % (module, text)) from e
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Refused("SANDBOX_ERROR", "Module '%s' has no attribute '%s'" % (module, name)) from None
    if not callable(found):
        raise Refused("SANDBOX_ERROR", "'%s' of module '%s' is not callable" % (name, module))
    return found


# Calls.

running = {}  # id -> Call, for what can be cancelled: queued, or awaited
coroutine = types.CoroutineType


def start(ident, body):
    q = decode(body.decode(), 0)[0]
    return Call(ident, q["m"], q.get("c"), q.get("p", False)), q


def perform(call, key, args):
    """Runs in a context of its own. Answers the call unless there is something to await."""
    current.set(call)
    f = None
    try:
        f = function(key)
        if f.names is not None:
            for k, x in args.items():
                if x.__class__ is dict or x.__class__ is list:
                    args[k] = living(x, f.names)
        elif f.readers or f.context:
            f.arguments(args)
        result = f.call(**args)
        if result.__class__ is coroutine or hasattr(result, "__await__"):
            loop().call_soon_threadsafe(contextvars.copy_context().run, wait, call, key, result)
            return
    except BaseException as e:
        fail(call, key, e, f)
        return
    answer(call, key, result)


def end(call):
    """What it has printed comes before its end, and nothing later."""
    if call.told:
        with telling:
            call.tell()
            call.told = False


def answer(call, key, result):
    try:
        body = encode(result).encode()
    except RecursionError:
        refuse(call, key, "it is nested too deep")
        return
    except BaseException as e:
        refuse(call, key, str(e))
        return
    if len(body) > call.limit:
        send(call, {"code": "POLICY_DENIED", "details": {"max_output": call.limit},
                    "message": "the result of %s has %d bytes, at most %d are allowed: raise max_output" % (key, len(body), call.limit)})
        return
    end(call)
    if call.attached:
        beside = json.dumps(call.attached, ensure_ascii=False).encode()
        write(call.ident, RESULT, body, header.pack(len(beside) + 5, call.ident, BESIDE) + beside)
        return
    write(call.ident, RESULT, body)


def refuse(call, key, why):
    send(call, {"code": "VALIDATION_ERROR", "message": "the result of %s has no JSON: %s" % (key, why)})


def send(call, error):
    try:
        body = json.dumps(error, allow_nan=False, default=str).encode()
    except Exception:
        error.pop("details", None)
        body = json.dumps(error, default=str).encode()
    if len(body) > 200000:
        error.pop("details", None)
        error["message"] = error["message"][:4000]
        body = json.dumps(error, default=str).encode()
    end(call)
    write(call.ident, ERROR, body)


def text_of(e):
    """TypeName: text"""
    try:
        text = str(e)
    except Exception:
        text = ""
    name = type(e).__name__
    return "%s: %s" % (name, text) if text else name


def fail(call, key, e, f):
    own = e.__traceback__
    while own is not None and own.tb_frame.f_code.co_filename.startswith("<flowgen"):
        own = own.tb_next
    details = {"exception": type(e).__name__}
    trace = traceback_of(e, own)
    if trace:
        details["traceback"] = trace
    if call.output:
        details["output"] = call.output[-TAIL:]
    error = {"code": "UNKNOWN", "message": text_of(e)[:4000], "details": details}
    code = getattr(e, "code", None)
    if isinstance(e, Refused):
        error["code"], error["message"] = e.code, str(e)
        if e.__cause__ is not None:
            details["exception"] = type(e.__cause__).__name__
        else:
            del details["exception"]
    elif isinstance(code, str) and code in CODES:
        error["code"], error["message"] = code, str(e)[:4000]
        after = getattr(e, "retry_after_s", None)
        if isinstance(after, (int, float)) and after >= 0:
            error["retry_after_s"] = after
        if getattr(e, "details", None) is not None:
            details["details"] = e.details
    elif own is None and isinstance(e, TypeError) and f is not None:
        error["code"], error["message"] = "VALIDATION_ERROR", str(e)[:4000]  # the arguments do not fit
        del details["exception"]
    if not details:
        del error["details"]
    send(call, error)


def traceback_of(e, own):
    if isinstance(e, Refused):
        if e.__cause__ is None or isinstance(e.__cause__, ModuleNotFoundError):
            return ""
        e = e.__cause__
        own = e.__traceback__
        while own is not None and own.tb_frame.f_code.co_filename.startswith(("<flowgen", "<frozen importlib")) \
                or own is not None and own.tb_frame.f_code.co_filename.endswith("importlib/__init__.py"):
            own = own.tb_next
    if own is None and not isinstance(e, SyntaxError):
        return ""
    import traceback
    try:
        text = "".join(traceback.format_exception(type(e), e.with_traceback(own), own, limit=-20))
    except Exception:
        return ""
    return text[-TAIL:]


# Awaiting.

the_loop = None
loop_lock = threading.Lock()


def loop():
    global the_loop
    with loop_lock:
        if the_loop is None:
            import asyncio
            made = asyncio.new_event_loop()
            threading.Thread(target=forever, args=(made,), daemon=True, name="flowgen-loop").start()
            the_loop = made
        return the_loop


def forever(made):
    import asyncio
    asyncio.set_event_loop(made)
    made.run_forever()


async def result_of(awaitable):
    return await awaitable


def wait(call, key, awaitable):
    """Runs in the loop's thread."""
    if awaitable.__class__ is not coroutine:
        awaitable = result_of(awaitable)
    task = the_loop.create_task(awaitable)
    call.task = task
    running[call.ident] = call

    def done(task):
        running.pop(call.ident, None)
        try:
            result = task.result()
        except BaseException as e:
            fail(call, key, e, None)
        else:
            answer(call, key, result)

    task.add_done_callback(done)


def cancel(ident):
    call = running.get(ident)
    if call is not None and call.task is None and running.pop(ident, None) is not None:  # still in the queue
        send(call, {"code": "TIMEOUT", "message": "cancelled before it began"})
    elif call is not None and call.task is not None:
        the_loop.call_soon_threadsafe(call.task.cancel)
        # A task may catch that and go on; the loop is alive, so it is the call that does not stop.
        the_loop.call_soon_threadsafe(the_loop.call_later, 0.1, still, ident)
    else:
        write(ident, RUNS)


def still(ident):
    if ident in running:
        write(ident, RUNS)


# Lanes.

waiting = queue.SimpleQueue()
idle = 0
threads = 0
counting = threading.Lock()


def serve():
    """One thread of the pool."""
    global idle
    while True:
        call, q = waiting.get()
        if running.pop(call.ident, None) is not None:  # else it was cancelled
            contextvars.Context().run(perform, call, q["f"], q["a"])
        with counting:
            idle += 1


def more_threads():
    """Starts a thread of the pool. When there can be no more, those that there are do the work."""
    global idle, threads
    try:
        threading.Thread(target=serve, daemon=True).start()
    except (RuntimeError, MemoryError):
        with counting:
            idle -= 1
            threads -= 1
            none = threads == 0
        while none:
            try:
                call, _ = waiting.get_nowait()
            except queue.Empty:
                return
            if running.pop(call.ident, None) is not None:
                send(call, {"code": "SANDBOX_ERROR", "message": "the worker cannot start a thread"})


def second():
    """Reads the second lane. Nothing here may take long."""
    global idle, threads
    for ident, kind, body in frames(open(5, "rb", 65536)):
        if kind == CANCEL:
            cancel(ident)
        elif kind == CALL:
            call, q = start(ident, body)
            running[ident] = call
            waiting.put((call, q))
            with counting:
                idle -= 1
                more = idle < 0 and threads < THREADS
                if more:
                    idle += 1
                    threads += 1
            if more:
                more_threads()


def first():
    """Reads the first lane, in the main thread."""
    empty = contextvars.Context()
    for ident, kind, body in frames(reader):
        if kind == CALL:
            call, q = start(ident, body)
            empty.copy().run(perform, call, q["f"], q["a"])


def prepare():
    sys.argv = [""]
    sys.path[:] = setup["path"] + [p for p in sys.path if p]
    if setup.get("files"):
        files = {name: base64.b64decode(data) for name, data in setup["files"].items()}
        at = next((i for i, f in enumerate(sys.meta_path) if getattr(f, "__name__", "") == "PathFinder"), len(sys.meta_path))
        sys.meta_path.insert(at, Embedded(files, setup.get("home")))
    if setup.get("spare"):
        sys.meta_path.append(Embedded({name: base64.b64decode(data) for name, data in setup["spare"].items()}, None))
    sys.modules["flowgen"] = public
    sys.stdout.reconfigure(write_through=True)
    global printed
    printed = sys.stdout
    sys.stdout, sys.stderr = Output(sys.stdout), Output(sys.stderr)
    setup.clear()


prepare()
threading.Thread(target=second, daemon=True, name="flowgen-lane").start()
write(0, READY)
first()
