"""Stands in for the package stargraph where it is not installed: what nodes and tools import from it."""
import enum
import importlib.machinery
import importlib.util
import sys
import types


class SideEffects(str, enum.Enum):
    none = "none"
    read = "read"
    write = "write"
    external = "external"


class ReplayPolicy(str, enum.Enum):
    must_stub = "must-stub"
    fail_loud = "fail-loud"
    recorded_result = "recorded-result"


class ToolSpec(types.SimpleNamespace):
    """What the decorator was told."""


def tool(**spec):
    def bind(f):
        words = spec.pop("requires_capability", None)
        spec["permissions"] = [words] if isinstance(words, str) else list(words or [])
        f.spec = ToolSpec(**spec)
        return f
    return bind


class StargraphError(Exception):
    def __init__(self, message="", **context):
        super().__init__(message)
        self.context = context


class StargraphRuntimeError(StargraphError):
    pass


class IRValidationError(StargraphError):
    pass


class CapabilityError(StargraphError):
    pass


class ReplayError(StargraphError):
    pass


class NodeBase:
    """The base of nodes."""

    side_effects = SideEffects.read
    replay_policy = ReplayPolicy.recorded_result

    async def execute(self, state, ctx):
        raise NotImplementedError


class ExecutionContext:
    """What a node gets beside the state."""

    def __init__(self, run_id="", node_id="", **more):
        self.run_id, self.node_id = run_id, node_id
        self.capabilities, self.is_replay, self.step = None, False, 0
        self.__dict__.update(more)


class Whatever:
    """Stands for a name that nothing is known about: a base class, a decorator, a marker of an annotation."""

    def __init__(self, *args, **words):
        pass

    def __init_subclass__(cls, **words):
        pass

    def __class_getitem__(cls, item):
        return cls

    def __call__(self, *args, **words):
        return args[0] if len(args) == 1 and callable(args[0]) and not words else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


known = {c.__name__: c for c in (SideEffects, ReplayPolicy, ToolSpec, StargraphError, StargraphRuntimeError, IRValidationError,
                                 CapabilityError, ReplayError, NodeBase, ExecutionContext)}
known["tool"] = tool


def lookup(name):
    if name in known:
        return known[name]
    if not name[:1].isupper():  # a module, which the import finds then
        raise AttributeError(name)
    if name.endswith("Error"):
        return type(name, (StargraphError,), {})
    return type(name, (Whatever,), {})


class Modules:
    """Every module below stargraph has the same names."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith("stargraph."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__getattr__ = lookup


__getattr__ = lookup
sys.meta_path.insert(0, Modules())
