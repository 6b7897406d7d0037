package value

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// field is what Decode and Validate know about one field of a struct.
type field struct {
	index    []int
	name     string // in JSON
	fallback string // default tag, JSON
	hasDef   bool
	optional bool // pointer, omitempty or omitzero: may be absent
	rule     *rule
	deep     bool // something below it is checked
}

var structs sync.Map // reflect.Type -> []field

// fieldsOf lists the fields of struct type t that JSON sees, those of untagged embedded structs last.
func fieldsOf(t reflect.Type) []field {
	if fs, ok := structs.Load(t); ok {
		return fs.([]field)
	}
	fs := listFields(t, nil, map[reflect.Type]bool{})
	structs.Store(t, fs)
	return fs
}

func listFields(t reflect.Type, prefix []int, open map[reflect.Type]bool) []field {
	var fs, embedded []field
	for i := range t.NumField() {
		sf := t.Field(i)
		index := append(append([]int(nil), prefix...), i)
		tag := sf.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct && !Opaque(sf.Type) && !open[sf.Type] {
			open[sf.Type] = true
			embedded = append(embedded, listFields(sf.Type, index, open)...)
			delete(open, sf.Type)
			continue
		}
		if !sf.IsExported() || tag == "-" {
			continue
		}
		if name == "" {
			name = sf.Name
		}
		f := field{index: index, name: name, rule: ruleOf(sf.Tag.Get("flow"))}
		f.fallback, f.hasDef = sf.Tag.Lookup("default")
		f.optional = sf.Type.Kind() == reflect.Pointer || strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		f.deep = f.rule != nil || checked(sf.Type)
		fs = append(fs, f)
	}
	for _, e := range embedded {
		if !containsField(fs, e.name) {
			fs = append(fs, e)
		}
	}
	return fs
}

func containsField(fs []field, name string) bool {
	for i := range fs {
		if fs[i].name == name {
			return true
		}
	}
	return false
}

var (
	valueType         = reflect.TypeFor[Value]()
	timeType          = reflect.TypeFor[time.Time]()
	durationType      = reflect.TypeFor[time.Duration]()
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	unmarshalerType   = reflect.TypeFor[json.Unmarshaler]()
	nullableType      = reflect.TypeFor[nullable]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	textType          = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// A nullable type has a decoder of its own that is given null, too.
type nullable interface {
	json.Unmarshaler
	TakesNull()
}

// Opaque reports whether t has a JSON form of its own, which is then its own matter to check.
func Opaque(t reflect.Type) bool {
	if t.PkgPath() == "" { // predeclared, or without a name
		switch t.Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Interface: // these can have methods without a name
		default:
			return false
		}
	}
	if o, ok := opaques.Load(t); ok {
		return o.(bool)
	}
	o := t == valueType || t == timeType || t.Implements(marshalerType) || reflect.PointerTo(t).Implements(unmarshalerType) ||
		reflect.PointerTo(t).Implements(textType)
	opaques.Store(t, o)
	return o
}

var opaques sync.Map // reflect.Type -> bool

var checks sync.Map // reflect.Type -> bool

// checked reports whether values of type t can violate anything: a rule in a flow tag, or a float that is not a number.
func checked(t reflect.Type) bool {
	if c, ok := checks.Load(t); ok {
		return c.(bool)
	}
	c := reaches(t, map[reflect.Type]bool{})
	checks.Store(t, c)
	return c
}

func reaches(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || Opaque(t) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface: // a union must not be nil
		return t.NumMethod() > 0
	case reflect.Float32, reflect.Float64:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return reaches(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			sf := t.Field(i)
			if (sf.IsExported() || sf.Anonymous) && (sf.Tag.Get("flow") != "" || reaches(sf.Type, seen)) {
				return true
			}
		}
	}
	return false
}

// path is where in a value a walk stands.
type path []step

type step struct {
	key   string
	index int // when key is not used
	named bool
}

// String returns "findings[2].sev"; empty at the top.
func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case !s.named:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case !plainKey(s.key):
			b.WriteString("[" + strconv.Quote(Clip(s.key, 80)) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		}
	}
	return b.String()
}

func plainKey(k string) bool {
	for i := range len(k) {
		c := k[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return k != "" && len(k) <= 80
}

// fault is the error of a value at p.
func (p path) fault(format string, args ...any) *ToolError {
	e := Invalid(format, args...)
	if len(p) > 0 {
		at := p.String()
		e.Message = at + ": " + e.Message
		e.Details = Map(Entry{"path", String(at)})
	}
	return e
}
