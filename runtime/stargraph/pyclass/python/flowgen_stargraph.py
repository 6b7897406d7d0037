"""Calls the classes that are nodes of Stargraph."""
import importlib
import inspect
import json
import threading
import types

made = {}
making = threading.Lock()


def load(ref):
    module, _, name = ref.partition(":")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def node(of, config):
    """The node of a class with a config: one for all calls."""
    key = of, json.dumps(config, sort_keys=True)
    with making:
        if key not in made:
            cls = load(of)
            if not isinstance(cls, type):
                made[key] = cls
            elif isinstance(getattr(cls, "config_model", None), type):
                made[key] = cls(config=cls.config_model(**(config or {})))
            else:
                made[key] = cls(**(config or {}))
        return made[key]


def instance(state_class, values):
    """The state as its class has it; values that the class refuses stay as they are, as the engine merges them."""
    if not state_class:
        return types.SimpleNamespace(**values)
    cls = load(state_class)
    for given in (values, {k: v for k, v in values.items() if v is not None}):  # defaults that only the class can make are None
        try:
            return cls.model_validate(given) if hasattr(cls, "model_validate") else cls(**given)
        except Exception:
            pass
    try:
        return cls.model_construct(**values)
    except AttributeError:
        return types.SimpleNamespace(**values)


def context(of):
    import flowgen
    call = flowgen.context()
    return types.SimpleNamespace(run_id=call.call_id, node_id=of.rpartition(":")[2], capabilities=None, is_replay=False, step=0)


async def execute(of, state_class, writes, state, config=None):
    it = node(of, config)
    run = getattr(it, "execute", it)
    args = instance(state_class, dict(state)), context(of)
    try:
        wanted = len([p for p in inspect.signature(run).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)])
    except (TypeError, ValueError):
        wanted = 2
    out = run(*args[:max(wanted, 1)])
    if inspect.isawaitable(out):
        out = await out
    if out is None:
        out = {}
    if hasattr(out, "model_dump") and not isinstance(out, dict):
        out = out.model_dump()
    if not isinstance(out, dict):
        raise TypeError("%s returned a %s, and nodes return a dict of the fields that they write" % (of, type(out).__name__))
    return {name: out[name] if name in out else state.get(name) for name in writes}
