"""Stands in for pydantic where it is not installed: models with fields and defaults, which are not validated."""
import copy
import json


class ValidationError(ValueError):
    pass


class FieldInfo:
    def __init__(self, default=..., default_factory=None, **more):
        self.default, self.default_factory = default, default_factory
        self.__dict__.update(more)

    def get(self):
        return self.default_factory() if self.default_factory is not None else copy.deepcopy(self.default)


def Field(default=..., *, default_factory=None, **more):
    return FieldInfo(default, default_factory, **more)


def PrivateAttr(default=None, *, default_factory=None):
    return FieldInfo(default, default_factory)


def ConfigDict(**words):
    return words


def passing(*args, **words):
    return lambda f: f


field_validator = model_validator = field_serializer = model_serializer = validator = root_validator = passing


def computed_field(f=None, **words):
    return f if f is not None else lambda g: g


def hints_of(cls):
    import typing
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except Exception:
        return {}


def convert(v, t):
    """A value out of JSON as its annotation has it, where that is a model, an enum, a date, or holds such."""
    import datetime
    import enum
    import typing
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


class BaseModel:
    model_config = {}
    model_fields = {}

    def __init_subclass__(cls, **words):
        super().__init_subclass__()
        fields = dict(getattr(cls, "model_fields", {}))
        for name in cls.__dict__.get("__annotations__", {}):
            if name.startswith("_") or name == "model_config":
                continue
            given = cls.__dict__.get(name, ...)
            fields[name] = given if isinstance(given, FieldInfo) else FieldInfo(given)
        cls.model_fields = fields

    def __init__(self, **values):
        missing = [n for n, f in self.model_fields.items() if n not in values and f.default is ... and f.default_factory is None]
        if missing:
            raise ValidationError("%s: %s required" % (type(self).__name__, ", ".join(missing)))
        self.fill(values)

    def fill(self, values):
        types_of = hints_of(type(self))
        for name, f in self.model_fields.items():
            if name in values:
                self.__dict__[name] = convert(values[name], types_of.get(name))
            elif f.default is not ... or f.default_factory is not None:
                self.__dict__[name] = f.get()
        if self.model_config.get("extra") == "allow":
            self.__dict__.update((k, v) for k, v in values.items() if k not in self.model_fields)

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

    def model_dump(self, **words):
        def plain(v):
            if isinstance(v, BaseModel):
                return v.model_dump()
            if isinstance(v, dict):
                return {k: plain(x) for k, x in v.items()}
            if isinstance(v, (list, tuple)):
                return [plain(x) for x in v]
            return v
        return {k: plain(v) for k, v in self.__dict__.items() if not k.startswith("_")}

    def model_dump_json(self, **words):
        return json.dumps(self.model_dump(), default=str)

    def model_copy(self, *, update=None, deep=False):
        made = copy.deepcopy(self) if deep else copy.copy(self)
        made.__dict__.update(update or {})
        return made

    def __eq__(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % p for p in self.__dict__.items()))
