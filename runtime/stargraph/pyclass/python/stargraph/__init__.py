"""Stands in for the package stargraph where it is not installed: what nodes, tools and states import from it. The rest of the
package is an error of the import, which says so."""
import abc
import dataclasses
import enum
import fnmatch
import importlib
import importlib.machinery
import sys
import types
import typing


class Word(str, enum.Enum):
    __str__ = str.__str__
    __format__ = str.__format__


class SideEffects(Word):
    none = "none"
    read = "read"
    write = "write"
    external = "external"


class ReplayPolicy(Word):
    must_stub = "must-stub"
    fail_loud = "fail-loud"
    recorded_result = "recorded-result"


class ToolSpec(types.SimpleNamespace):
    """What the decorator was told. Schemas are those that were given: the compiler reads the function's own types."""

    def __init__(self, **fields):
        super().__init__(**{"replay_policy": ReplayPolicy.must_stub, "permissions": [], "idempotency_key": None, "cost_estimate": None,
                            "examples": [], "tags": [], "deprecated": False, **fields})


def tool(*, name, namespace, version, side_effects, replay_policy=None, requires_capability=None, input_schema=None, output_schema=None,
         description=None, idempotency_key=None, cost_estimate=None):
    needs = [requires_capability] if isinstance(requires_capability, str) else list(requires_capability or ())
    if replay_policy is None:
        replay_policy = ReplayPolicy.recorded_result if side_effects in ("none", "read") else ReplayPolicy.must_stub

    def bind(f):
        said = description if description is not None else "".join((f.__doc__ or "").strip().splitlines()[:1])
        schema = input_schema.model_json_schema() if hasattr(input_schema, "model_json_schema") else input_schema
        f.spec = ToolSpec(name=name, namespace=namespace, version=version, description=said, side_effects=side_effects,
                          replay_policy=replay_policy, permissions=needs, input_schema=schema or {}, output_schema=output_schema or {},
                          idempotency_key=idempotency_key, cost_estimate=cost_estimate)
        return f
    return bind


class StargraphError(Exception):
    def __init__(self, message="", **context):
        super().__init__(message)
        self.message, self.context = message, context

    @property
    def hint(self):
        return self.context.get("hint")

    @property
    def see(self):
        return self.context.get("see")

    def __str__(self):
        return "\n".join([self.message] + ["%s: %s" % (k, self.context[k]) for k in ("hint", "see") if self.context.get(k)])


_errors = {"StargraphError": StargraphError}
for _base, _names in (("StargraphError", "ValidationError PluginLoadError StargraphRuntimeError CheckpointError ReplayError PackSignatureError "
                     "ProfileViolationError PackCompatError"),
                    ("PluginLoadError", "NamespaceConflictError"),
                    ("StargraphRuntimeError", "AdapterFallbackError CapabilityError IRValidationError IncompatibleSklearnVersion MLNodeError "
                     "RLNodeError LMServerError SimulationError IncompatibleModelHashError StoreError BroadcasterOverflow ArtifactStoreError"),
                    ("StoreError", "IncompatibleEmbeddingHashError EmbeddingModelHashMismatch IncompatibleSchemaError IncompatibleMigrationError "
                     "MigrationNotSupported UnportableCypherError MemoryScopeError ConsolidationRuleError FactConflictError"),
                    ("ArtifactStoreError", "ArtifactNotFound")):
    for _error in _names.split():
        _errors[_error] = type(_error, (_errors[_base],), {"__module__": "stargraph.errors"})


Protocol = getattr(typing, "Protocol", object)


@getattr(typing, "runtime_checkable", lambda c: c)
class ExecutionContext(Protocol):
    """What a node gets beside the state."""

    run_id: str


class NodeBase(abc.ABC):
    """The base of nodes."""

    @abc.abstractmethod
    async def execute(self, state, ctx):
        raise NotImplementedError


class EchoNode(NodeBase):
    async def execute(self, state, ctx):
        return {"message": state.message}


@dataclasses.dataclass(frozen=True)
class Mirror:
    """Marks a field of the state that rules can test."""

    template: typing.Optional[str] = None
    lifecycle: str = "run"

    def __post_init__(self):
        if self.lifecycle not in ("run", "step", "pinned"):
            raise TypeError("lifecycle must be run, step or pinned, got %r" % (self.lifecycle,))


@dataclasses.dataclass(frozen=True)
class CapabilityClaim:
    name: str
    scope: typing.Optional[str] = None

    def covers(self, name, scope, scoped_only):
        if self.name != name:
            return False
        if self.scope is None:
            return not scoped_only
        return scope != "" and fnmatch.fnmatchcase(scope, self.scope)


@dataclasses.dataclass(frozen=True)
class Capabilities:
    default_deny: bool = False
    granted: typing.FrozenSet[CapabilityClaim] = frozenset()

    def has_permission(self, capability):
        name, _, scope = capability.partition(":")
        return any(claim.covers(name, scope, self.default_deny) for claim in self.granted)

    def check(self, tool):
        return all(self.has_permission(c) for c in tool.permissions)


def mark(f=None, **words):
    """Marks a function of a plugin, which nothing calls here."""
    return f if f is not None else lambda g: g


hookimpl = hookspec = mark
Lifecycle = str
_spec = dict(SideEffects=SideEffects, ReplayPolicy=ReplayPolicy)
_nodes = dict(NodeBase=NodeBase, ExecutionContext=ExecutionContext, EchoNode=EchoNode)
_mirror = dict(Mirror=Mirror, Lifecycle=Lifecycle)
_gate = dict(Capabilities=Capabilities, CapabilityClaim=CapabilityClaim)
_marks = dict(hookimpl=hookimpl, hookspec=hookspec)

# What each module has.
MODULES = {
    "stargraph": dict(tool=tool),
    "stargraph.tools": dict(_spec, ToolSpec=ToolSpec, tool=tool), "stargraph.tools.spec": _spec, "stargraph.tools.decorator": dict(tool=tool),
    "stargraph.nodes": _nodes, "stargraph.nodes.base": _nodes,
    "stargraph.ir": dict(_mirror, ToolSpec=ToolSpec), "stargraph.ir._models": dict(_spec, ToolSpec=ToolSpec), "stargraph.ir._mirror": _mirror,
    "stargraph.errors": _errors, "stargraph.errors._hierarchy": _errors,
    "stargraph.security": _gate, "stargraph.security.capabilities": _gate,
    "stargraph.plugin": _marks, "stargraph.plugin._markers": _marks,
}
DO = (": install stargraph for the Python that runs this, which FLOWGEN_PYTHON or VIRTUAL_ENV names, or import it in another module "
      "than nodes and tools")


def missing(module, name):
    raise ImportError("flowgen stands in for stargraph, which is not installed, and has no `%s` of `%s`%s" % (name, module, DO), name=module)


def lookup(module):
    def find(name):
        if module + "." + name in MODULES:
            return importlib.import_module(module + "." + name)
        if name.startswith("__"):
            raise AttributeError(name)
        missing(module, name)
    return find


class Modules:
    """Finds the modules below stargraph."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith("stargraph."):
            return None
        if name not in MODULES:
            raise ModuleNotFoundError("flowgen stands in for stargraph, which is not installed, and has no module `%s`%s" % (name, DO), name=name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__dict__.update(MODULES[module.__name__])
        module.__getattr__ = lookup(module.__name__)


__getattr__ = lookup("stargraph")
sys.meta_path.insert(0, Modules())
