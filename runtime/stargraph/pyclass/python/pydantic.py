"""Stands in for pydantic where it is not installed: models with fields, defaults and the validators that they define. Types are
not checked. The rest of the package is an error of the import, which says so."""
import copy
import json
import sys
import types
import typing

__path__ = []
DO = ": install pydantic for the Python that runs this, which FLOWGEN_PYTHON or VIRTUAL_ENV names"


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError("flowgen stands in for pydantic, which is not installed, and has no `%s`%s" % (name, DO), name="pydantic")


class Modules:
    """Finds no module below pydantic."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith("pydantic."):
            raise ModuleNotFoundError("flowgen stands in for pydantic, which is not installed, and has no module `%s`%s" % (name, DO), name=name)


class ValidationError(ValueError):
    def errors(self, **words):
        return [{"type": "value_error", "loc": (), "msg": str(self)}]


class FieldInfo:
    def __init__(self, default=..., default_factory=None, **more):
        self.default, self.default_factory, self.annotation = default, default_factory, None
        self.__dict__.update(more)

    def names(self):
        return [n for n in (getattr(self, "validation_alias", None), getattr(self, "alias", None)) if isinstance(n, str)]

    def required(self):
        return self.default is ... and self.default_factory is None

    def get(self):
        return self.default_factory() if self.default_factory is not None else copy.deepcopy(self.default)


def Field(default=..., *, default_factory=None, **more):
    return FieldInfo(default, default_factory, **more)


def PrivateAttr(default=None, *, default_factory=None):
    return FieldInfo(default, default_factory)


def ConfigDict(**words):
    return words


# Text and numbers with bounds, which are not checked.
EmailStr = HttpUrl = AnyUrl = AnyHttpUrl = StrictStr = str
PositiveInt = NonNegativeInt = NegativeInt = NonPositiveInt = StrictInt = int
PositiveFloat = NonNegativeFloat = NegativeFloat = NonPositiveFloat = StrictFloat = FiniteFloat = float
StrictBool = bool


class Check:
    """A validator of fields, or of a model as a whole."""

    def __init__(self, f, mode, fields=None):
        self.f, self.mode, self.fields = f, mode, fields

    def __get__(self, it, cls=None):
        return self.f.__get__(it, cls) if hasattr(self.f, "__get__") else self.f

    def call(self, it, cls, *args):
        f = self.__get__(it, cls)
        code = getattr(getattr(f, "__func__", f), "__code__", None)
        took = code.co_argcount - (1 if hasattr(f, "__self__") else 0) if code else len(args)
        return f(*args[:max(took, 0)] if not code or not code.co_flags & 4 else args)


def of_class(f):
    return f if isinstance(f, (classmethod, staticmethod)) else classmethod(f)


def field_validator(*fields, mode="after", **words):
    return lambda f: Check(of_class(f), mode, fields)


def field_serializer(*fields, **words):
    return lambda f: Check(f, "dump", fields)


def model_validator(*, mode):
    if mode not in ("before", "after"):
        __getattr__("model_validator(mode=%r)" % (mode,))
    return lambda f: Check(f if mode == "after" else of_class(f), mode)


def computed_field(f=None, **words):
    return f if f is not None else lambda g: g


def hints_of(cls):
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except Exception:
        return {}


def convert(v, t):
    """A value out of JSON as its annotation has it, where that is a model, an enum, a date, or holds such."""
    import datetime
    import enum
    origin, parts = typing.get_origin(t), typing.get_args(t)
    if v is None:
        return v
    if origin is typing.Annotated:
        return convert(v, parts[0])
    if origin in (list, set, frozenset, tuple) and isinstance(v, (list, set, tuple)):
        return origin(convert(x, parts[0] if parts else None) for x in v)
    if origin is dict and isinstance(v, dict):
        return {k: convert(x, parts[1] if len(parts) > 1 else None) for k, x in v.items()}
    if origin is not None:  # a union: whichever part it fits
        kinds = [p for p in parts if isinstance(p, type) and p is not type(None)]
        return convert(v, kinds[0]) if len(kinds) == 1 else v
    if t is typing.Any or not isinstance(t, type) or isinstance(v, t):
        return v
    if issubclass(t, BaseModel) and isinstance(v, dict):
        return t(**v)
    if issubclass(t, enum.Enum):
        return t(v)
    if t in (datetime.datetime, datetime.date) and isinstance(v, str):
        return t.fromisoformat(v.replace("Z", "+00:00"))
    if t in (set, frozenset, tuple) and isinstance(v, list):
        return t(v)
    return v


def annotations_of(cls):
    own = cls.__dict__.get("__annotations__")
    if own is None and sys.version_info >= (3, 14):
        import annotationlib
        own = annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    return own or {}


class BaseModel:
    model_config = {}
    model_fields = {}
    model_checks = ()

    def __init_subclass__(cls, **words):
        super().__init_subclass__()
        cls.model_config = {**cls.model_config, **cls.__dict__.get("model_config", {}), **words}
        for base in cls.__mro__[1:]:
            cls.model_config = {**getattr(base, "model_config", {}), **cls.model_config}
        fields = dict(cls.model_fields)
        for name in annotations_of(cls):
            if name.startswith("_") or name == "model_config":
                continue
            given = cls.__dict__.get(name, ...)
            fields[name] = given if isinstance(given, FieldInfo) else FieldInfo(given)
        cls.model_fields = fields
        own = {n: c for n, c in cls.__dict__.items() if isinstance(c, Check)}
        cls.model_checks = tuple((n, c) for n, c in cls.model_checks if n not in own) + tuple(own.items())

    def __init__(self, **values):
        cls = type(self)
        for _, check in cls.model_checks:
            if check.fields is None and check.mode == "before":
                values = valid(cls, check, None, values)
        known = set(self.model_fields).union(*(f.names() for f in self.model_fields.values()))
        extra = [k for k in values if k not in known]
        if extra and self.model_config.get("extra") == "forbid":
            raise ValidationError("%s: extra inputs are not permitted: %s" % (cls.__name__, ", ".join(extra)))
        missing = self.fill(values, True)
        if missing:
            raise ValidationError("%s: %s required" % (cls.__name__, ", ".join(missing)))
        for _, check in cls.model_checks:
            if check.fields is None and check.mode == "after":
                made = valid(cls, check, self)
                if isinstance(made, cls) and made is not self:
                    self.__dict__.update(made.__dict__)

    def fill(self, values, check=False):
        """Sets the fields, and returns those that have no value."""
        types_of, missing = hints_of(type(self)), []
        for name, f in self.model_fields.items():
            t = types_of.get(name)
            if f.required():
                f = next((m for m in getattr(t, "__metadata__", ()) if isinstance(m, FieldInfo)), f)
            key = next((k for k in [name] + f.names() if k in values), None)
            if key is not None:
                v = values[key]
                self.__dict__[name] = self.checked(name, v, t) if check else convert(v, t)
            elif not f.required():
                self.__dict__[name] = f.get()
            else:
                missing.append(name)
        if self.model_config.get("extra") == "allow":
            self.__dict__.update((k, v) for k, v in values.items() if k not in self.model_fields)
        return missing

    def checked(self, name, v, t):
        cls = type(self)
        info = types.SimpleNamespace(data=dict(self.__dict__), field_name=name, config=self.model_config, context=None, mode="python")
        checks = [c for _, c in cls.model_checks if c.fields is not None and (name in c.fields or "*" in c.fields)]
        for c in reversed([c for c in checks if c.mode == "before"]):
            v = valid(cls, c, None, v, info)
        plain = [c for c in checks if c.mode in ("plain", "wrap")]
        for c in plain:
            v = valid(cls, c, None, *((v, lambda x: convert(x, t), info) if c.mode == "wrap" else (v, info)))
        if not plain:
            v = convert(v, t)
        for c in checks:
            if c.mode == "after":
                v = valid(cls, c, None, v, info)
        return v

    @classmethod
    def model_construct(cls, _fields_set=None, **values):
        made = cls.__new__(cls)
        made.fill(values)
        return made

    @classmethod
    def model_validate(cls, values, **words):
        return values if isinstance(values, cls) else cls(**values)

    @classmethod
    def model_rebuild(cls, **words):
        return True

    @classmethod
    def model_validate_json(cls, text, **words):
        return cls(**json.loads(text))

    def model_dump(self, *, include=None, exclude=None, exclude_none=False, mode="python", **words):
        def plain(v):
            if isinstance(v, BaseModel):
                return v.model_dump(mode=mode, exclude_none=exclude_none)
            if isinstance(v, dict):
                return {k: plain(x) for k, x in v.items()}
            if isinstance(v, (list, tuple)):
                return [plain(x) for x in v]
            return v
        said = {n: c for _, c in self.model_checks if c.mode == "dump" for n in c.fields}
        return {k: said[k].call(self, type(self), v) if k in said else plain(v) for k, v in self.__dict__.items() if not k.startswith("_") and (include is None or k in include)
                and k not in (exclude or ()) and not (exclude_none and v is None)}

    def model_dump_json(self, **words):
        return json.dumps(self.model_dump(**{k: v for k, v in words.items() if k != "indent"}), default=str, indent=words.get("indent"))

    def model_copy(self, *, update=None, deep=False):
        made = copy.deepcopy(self) if deep else copy.copy(self)
        made.__dict__.update(update or {})
        return made

    def __setattr__(self, name, value):
        if self.model_config.get("frozen") and not name.startswith("_"):
            raise ValidationError("%s is frozen" % type(self).__name__)
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self):
        if not self.model_config.get("frozen"):
            raise TypeError("unhashable type: %r" % type(self).__name__)
        return hash((type(self), tuple(self.__dict__.values())))

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % p for p in self.__dict__.items()))


def valid(cls, check, it, *args):
    """What a validator makes of a value; what it refuses is a ValidationError."""
    try:
        return check.call(it, cls, *args)
    except ValidationError:
        raise
    except (ValueError, AssertionError) as e:
        raise ValidationError("%s: %s" % (cls.__name__, e)) from e


sys.meta_path.insert(0, Modules())
