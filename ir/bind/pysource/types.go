package pysource

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A reader turns the annotations of one function into types.
type reader struct {
	*world
	result  bool   // it is the result that is read
	answer  bool   // what a model answers is read: with descriptions, bounds and all defaults
	refused string // what was met that JSON cannot represent

	empties map[*statement]string // see empty
}

// maxDepth is how deep types may be nested before they are any.
const maxDepth = 40

// annotation is the type of an annotation in a module:
//
//	str int float bool bytes None                 string int float bool bytes null
//	datetime timedelta                            time duration
//	list set frozenset Sequence Iterable tuple    list<T>
//	dict Mapping with keys of text                map<T>
//	Optional[T], T | None                         opt<T>
//	Union of numbers, of Literals, of one type    float, enum, that type
//	Literal of texts, Enum of texts               enum
//	TypedDict, @dataclass, pydantic.BaseModel     a struct; fields that may be missing are optional
//	Annotated[T, ...], Final[T], NewType          T
//	date, time, UUID, Decimal, Path               string
//	anything else, and no annotation              any
func (r *reader) annotation(m *module, n *node, depth int) *schema.Type {
	if n == nil || depth > maxDepth {
		return schema.AnyType
	}
	switch n.T {
	case "none":
		return schema.NullType
	case "str": // an annotation as text
		if n.X != nil {
			return r.annotation(m, n.X, depth+1)
		}
	case "or":
		return r.union(m, flatten(n), depth)
	case "name", "attr":
		return r.named(m, r.qualify(m, n, 0), nil, depth)
	case "sub":
		return r.named(m, r.qualify(m, n.X, 0), n.E, depth)
	}
	return schema.AnyType
}

// flatten is the alternatives of A | B | C.
func flatten(n *node) []*node {
	if n == nil || n.T != "or" {
		return []*node{n}
	}
	var out []*node
	for _, e := range n.E {
		out = append(out, flatten(e)...)
	}
	return out
}

// named is the type of a name with arguments in brackets.
func (r *reader) named(m *module, sym symbol, args []*node, depth int) *schema.Type {
	if sym.stmt != nil {
		return r.defined(sym, depth)
	}
	arg := func(i int) *schema.Type {
		if i < len(args) {
			return r.annotation(m, args[i], depth+1)
		}
		return schema.AnyType
	}
	module, name := split(sym.name)
	if !known(module) {
		return schema.AnyType
	}
	switch name {
	case "str", "Text", "LiteralString":
		return schema.StringType
	case "int":
		return schema.IntType
	case "float":
		return schema.FloatType
	case "bool":
		return schema.BoolType
	case "bytes":
		return schema.BytesType
	case "None", "NoneType", "NoReturn", "Never":
		return schema.NullType
	case "datetime":
		if module == "datetime" {
			return schema.TimeType
		}
	case "date", "time", "UUID", "Decimal", "Path", "PurePath", "PosixPath", "PurePosixPath":
		return schema.StringType
	case "timedelta":
		return schema.DurationType
	case "list", "List", "set", "Set", "frozenset", "FrozenSet", "Sequence", "MutableSequence", "Collection", "Iterable", "AbstractSet", "MutableSet", "deque", "Deque":
		return schema.ListOf(arg(0))
	case "tuple", "Tuple":
		return r.tuple(m, args, depth)
	case "dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict", "defaultdict":
		return r.mapping(m, args, depth)
	case "Optional":
		return optional(arg(0))
	case "Union":
		return r.union(m, args, depth)
	case "Literal":
		return literal(args)
	case "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar":
		return arg(0)
	case "Awaitable":
		return arg(0)
	case "Coroutine":
		return arg(2)
	case "Callable", "Generator", "Iterator", "AsyncGenerator", "AsyncIterator", "AsyncIterable", "ContextManager", "type", "Type":
		r.refused = name
	}
	return schema.AnyType
}

// split takes the last part off a dotted name.
func split(name string) (module, last string) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "builtins", name
	}
	return name[:i], name[i+1:]
}

// optional is opt<t>; what may be null anyway stays what it is.
func optional(t *schema.Type) *schema.Type {
	if t.Kind == schema.Any || t.Kind == schema.Null {
		return t
	}
	return schema.OptOf(t, "it may be None")
}

func (r *reader) tuple(m *module, args []*node, depth int) *schema.Type {
	var elem *schema.Type
	for _, a := range args {
		if a != nil && a.T == "" && a.S == "..." {
			continue
		}
		t := r.annotation(m, a, depth+1)
		if elem != nil && !foreign.Same(elem, t) {
			return schema.ListOf(schema.AnyType)
		}
		elem = t
	}
	if elem == nil {
		elem = schema.AnyType
	}
	return schema.ListOf(elem)
}

func (r *reader) mapping(m *module, args []*node, depth int) *schema.Type {
	if len(args) < 2 {
		return schema.MapOf(schema.AnyType)
	}
	if key := r.annotation(m, args[0], depth+1); key.Kind != schema.String && key.Kind != schema.Enum {
		return schema.AnyType
	}
	return schema.MapOf(r.annotation(m, args[1], depth+1))
}

// union is the type of alternatives, any when there is no type of both.
func (r *reader) union(m *module, args []*node, depth int) *schema.Type {
	null := false
	var all *schema.Type
	for _, a := range args {
		t := r.annotation(m, a, depth+1)
		if t.Kind == schema.Opt {
			null, t = true, t.Elem
		}
		switch {
		case t.Kind == schema.Null:
			null = true
		case all == nil:
			all = t
		default:
			all = foreign.Either(all, t)
		}
	}
	switch {
	case all == nil:
		return schema.NullType
	case null:
		return optional(all)
	}
	return all
}

// literal is the type of Literal[...].
func literal(args []*node) *schema.Type {
	null := false
	var all *schema.Type
	for _, a := range args {
		var t *schema.Type
		switch {
		case a == nil:
			return schema.AnyType
		case a.T == "none":
			null = true
			continue
		case a.T == "str":
			t = schema.EnumOf(a.S)
		case a.T == "int":
			t = schema.IntType
		case a.T == "bool":
			t = schema.BoolType
		default:
			return schema.AnyType
		}
		if all == nil {
			all = t
		} else {
			all = foreign.Either(all, t)
		}
	}
	switch {
	case all == nil:
		return schema.NullType
	case null:
		return optional(all)
	}
	return all
}
