package value

import (
	"errors"
	"math"
	"slices"
	"strconv"
)

// ValueKind is the kind of a Value.
type Kind uint8

// The kinds of values.
const (
	NullKind Kind = iota
	BoolKind
	IntKind
	FloatKind
	StringKind
	ListKind
	MapKind
)

var kindNames = [...]string{"null", "bool", "int", "float", "string", "list", "map"}

// String returns the kind's name in the workflow language.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// Value is a dynamic value: null, bool, int, float, string, list, or map in the order of its keys. It is what the type
// any of the workflow language is in Go. Values are immutable and safe for concurrent use; the zero Value is null.
// Int and float, null and the empty list, and the order of keys survive a round trip through JSON.
type Value struct { // four words in three fields, which Go keeps in registers
	tree *valueTree // its kind; nil: null
	bits uint64     // bool, int, float; mark of a string
	text string     // string; of a float the digits of the integer that it stands for
}

// A valueTree is what a list or a map has, and by its kind what another value is.
type valueTree struct {
	kind  Kind
	items []Value
	keys  []string       // map: key of each item
	place map[string]int // large maps only
}

var isBool, isInt, isFloat, isString = &valueTree{kind: BoolKind}, &valueTree{kind: IntKind}, &valueTree{kind: FloatKind}, &valueTree{kind: StringKind}

// Optional is a Value that may be absent, which is something else than null. The zero Optional is absent.
type Optional struct{ v Value } // null has a bit; what is absent has none

// Some is the value as an Optional that is present.
func (v Value) Some() Optional {
	if v.tree == nil {
		v.bits = 1
	}
	return Optional{v}
}

// Present reports whether there is a value, null included.
func (o Optional) Present() bool { return o.v.tree != nil || o.v.bits != 0 }

// Value returns the value, null when it is absent.
func (o Optional) Value() Value {
	if o.v.tree == nil {
		return Value{}
	}
	return o.v
}

// Entry is one entry of a map Value.
type Entry struct {
	Key   string
	Value Value
}

// Null returns the null value.
func Null() Value { return Value{} }

// BoolValue returns a bool.
func Bool(b bool) Value {
	if b {
		return Value{tree: isBool, bits: 1}
	}
	return Value{tree: isBool}
}

// IntValue returns an int.
func Int(n int64) Value { return Value{tree: isInt, bits: uint64(n)} }

// FloatValue returns a float. NaN and infinities cannot be encoded.
func Float(f float64) Value { return Value{tree: isFloat, bits: math.Float64bits(f)} }

// Digits are the decimal digits of an integer that JSON or another language has and 64 bits do not: 36893488147419103232. Its kind
// is float, with the nearest value, and its JSON has the digits. It is "" for all other values.
func (v Value) Digits() string {
	if v.Kind() != FloatKind {
		return ""
	}
	return v.text
}

// StringValue returns a string.
func String(s string) Value { return Value{tree: isString, text: s} }

// Marked returns a string that stands for a value of another language, such as a date: to everything it is its text, and only
// Mark tells them apart. JSON has the text alone.
func Marked(s string, mark uint8) Value { return Value{tree: isString, bits: uint64(mark), text: s} }

// Mark is the mark of a string, 0 for all others.
func (v Value) Mark() uint8 {
	if v.Kind() != StringKind {
		return 0
	}
	return uint8(v.bits)
}

// ListValue returns a list of copies of the items.
func List(items ...Value) Value {
	return Value{tree: &valueTree{kind: ListKind, items: slices.Clone(items)}}
}

// MapValue returns a map. Of two entries with the same key the later value is at the earlier place.
func Map(entries ...Entry) Value {
	t := newMap(len(entries))
	if len(entries) <= smallMap {
		for _, e := range entries {
			if i := slices.Index(t.keys, e.Key); i >= 0 {
				t.items[i] = e.Value
				continue
			}
			t.keys, t.items = append(t.keys, e.Key), append(t.items, e.Value)
		}
		return Value{tree: t}
	}
	seen := make(map[string]int, len(entries))
	for _, e := range entries {
		if i, ok := seen[e.Key]; ok {
			t.items[i] = e.Value
			continue
		}
		seen[e.Key] = len(t.keys)
		t.keys, t.items = append(t.keys, e.Key), append(t.items, e.Value)
	}
	if len(t.keys) > smallMap {
		t.place = seen
	}
	return Value{tree: t}
}

// MapOf returns a map of the n entries that entry gives, without those that are absent. Of two entries with the same key the
// later value is at the earlier place.
func MapOf(n int, entry func(i int) (key string, v Value, present bool)) Value {
	if n > smallMap {
		all := make([]Entry, 0, n)
		for i := range n {
			if key, v, ok := entry(i); ok {
				all = append(all, Entry{key, v})
			}
		}
		return Map(all...)
	}
	present := 0
	for i := range n {
		if _, _, ok := entry(i); ok {
			present++
		}
	}
	t := newMap(present)
	for i := range n {
		key, v, ok := entry(i)
		if !ok {
			continue
		}
		if at := slices.Index(t.keys, key); at >= 0 {
			t.items[at] = v
			continue
		}
		t.keys, t.items = append(t.keys, key), append(t.items, v)
	}
	return Value{tree: t}
}

// newMap makes room for n entries; where that is little, in one allocation.
func newMap(n int) *valueTree {
	switch {
	case n == 0:
		return emptyMap
	case n == 1:
		t := &struct {
			valueTree
			keys  [1]string
			items [1]Value
		}{}
		t.valueTree = valueTree{kind: MapKind, keys: t.keys[:0], items: t.items[:0]}
		return &t.valueTree
	case n <= tinyMap/2:
		t := &struct {
			valueTree
			keys  [tinyMap / 2]string
			items [tinyMap / 2]Value
		}{}
		t.valueTree = valueTree{kind: MapKind, keys: t.keys[:0], items: t.items[:0]}
		return &t.valueTree
	case n <= tinyMap:
		t := &struct {
			valueTree
			keys  [tinyMap]string
			items [tinyMap]Value
		}{}
		t.valueTree = valueTree{kind: MapKind, keys: t.keys[:0], items: t.items[:0]}
		return &t.valueTree
	}
	return &valueTree{kind: MapKind, keys: make([]string, 0, n), items: make([]Value, 0, n)}
}

var emptyMap = &valueTree{kind: MapKind, keys: []string{}, items: []Value{}}

const (
	tinyMap  = 4 // how many entries are in one allocation with the map
	smallMap = 8 // how many keys a linear search is good for
)

// Kind returns what the value is.
func (v Value) Kind() Kind {
	if v.tree == nil {
		return NullKind
	}
	return v.tree.kind
}

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.Kind() == NullKind }

// Bool returns a bool value, false for other kinds.
func (v Value) Bool() bool { return v.Kind() == BoolKind && v.bits == 1 }

// Int returns an int value, 0 for other kinds.
func (v Value) Int() int64 {
	if v.Kind() != IntKind {
		return 0
	}
	return int64(v.bits)
}

// Float returns a float or int value as a float, 0 for other kinds.
func (v Value) Float() float64 {
	switch v.Kind() {
	case FloatKind:
		return math.Float64frombits(v.bits)
	case IntKind:
		return float64(int64(v.bits))
	}
	return 0
}

// String returns a string value, and the JSON text of other kinds.
func (v Value) String() string {
	if v.Kind() == StringKind {
		return v.text
	}
	b, err := v.MarshalJSON()
	if err != nil {
		return "null"
	}
	return string(b)
}

// Len returns the number of items of a list or entries of a map, 0 for other kinds.
func (v Value) Len() int {
	if v.tree == nil {
		return 0
	}
	return len(v.tree.items)
}

// Index returns item i of a list or the i-th value of a map, null when there is none.
func (v Value) Index(i int) Value {
	if i < 0 || i >= v.Len() {
		return Value{}
	}
	return v.tree.items[i]
}

// Get returns the value of a key of a map, and whether there is one.
func (v Value) Get(key string) (Value, bool) {
	if v.Kind() != MapKind {
		return Value{}, false
	}
	i := -1
	if v.tree.place == nil {
		i = slices.Index(v.tree.keys, key)
	} else if j, ok := v.tree.place[key]; ok {
		i = j
	}
	if i < 0 {
		return Value{}, false
	}
	return v.tree.items[i], true
}

// Keys returns the keys of a map in their order, nil for other kinds.
func (v Value) Keys() []string {
	if v.Kind() != MapKind {
		return nil
	}
	return slices.Clone(v.tree.keys)
}

// Key returns the i-th key of a map, "" when there is none.
func (v Value) Key(i int) string {
	if v.Kind() != MapKind || i < 0 || i >= len(v.tree.keys) {
		return ""
	}
	return v.tree.keys[i]
}

// Equal reports whether v and w are the same value. Int and float differ; the order of a map's keys does not count.
func (v Value) Equal(w Value) bool {
	if v.Kind() != w.Kind() || v.Len() != w.Len() {
		return false
	}
	switch v.Kind() {
	case FloatKind:
		return v.Float() == w.Float() && v.text == w.text
	case ListKind:
		return slices.EqualFunc(v.tree.items, w.tree.items, Value.Equal)
	case MapKind:
		for i, k := range v.tree.keys {
			if x, ok := w.Get(k); !ok || !x.Equal(v.tree.items[i]) {
				return false
			}
		}
		return true
	}
	return v.text == w.text && (v.Kind() == StringKind || v.bits == w.bits)
}

var (
	errNotFinite = errors.New("NaN and infinities have no JSON")
	errTooDeep   = errors.New("value is nested more than " + strconv.Itoa(maxDepth) + " deep")
)

// MarshalJSON writes the value compactly, keys in their order. A float has a fraction or an exponent, or Digits.
func (v Value) MarshalJSON() ([]byte, error) { return v.append(nil, 0) }

func (v Value) append(b []byte, depth int) (_ []byte, err error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	switch v.Kind() {
	case BoolKind:
		return strconv.AppendBool(b, v.Bool()), nil
	case IntKind:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case FloatKind:
		if v.text != "" {
			return append(b, v.text...), nil
		}
		return appendValueFloat(b, v.Float())
	case StringKind:
		return appendString(b, v.text), nil
	case ListKind:
		b = append(b, '[')
		for i, x := range v.tree.items {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = x.append(b, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case MapKind:
		b = append(b, '{')
		for i, x := range v.tree.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, v.tree.keys[i]), ':')
			if b, err = x.append(b, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
	return append(b, "null"...), nil
}

func appendValueFloat(b []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errNotFinite
	}
	start := len(b)
	if f == 0 && math.Signbit(f) {
		return append(b, "-0.0"...), nil
	}
	b = appendFloat(b, f)
	for _, c := range b[start:] {
		if c == '.' || c == 'e' {
			return b, nil
		}
	}
	return append(b, ".0"...), nil
}

// UnmarshalJSON reads any JSON value: a number without fraction and exponent that fits is an int, any other a float.
// Duplicate keys, invalid UTF-8, numbers too large for a float and nesting beyond 1000 are errors.
func (v *Value) UnmarshalJSON(b []byte) error {
	w, err := Parse(b)
	if err != nil {
		return err
	}
	*v = w
	return nil
}

// ParseValue reads one JSON value as UnmarshalJSON does. The error is a *ToolError with VALIDATION_ERROR.
func Parse(b []byte) (Value, error) {
	s := &scanner{b: b}
	v, err := s.value()
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

func (s *scanner) value() (Value, *ToolError) {
	switch c := s.peek(); {
	case c == '{':
		return s.mapValue()
	case c == '[':
		t := &valueTree{kind: ListKind}
		err := s.array(func(int) *ToolError {
			v, err := s.value()
			t.items = append(t.items, v)
			return err
		})
		return Value{tree: t}, err
	case c == '"':
		text, err := s.str()
		return String(text), err
	case c == '-' || c >= '0' && c <= '9':
		return s.numberValue()
	}
	w, err := s.word()
	if w == "null" || err != nil {
		return Value{}, err
	}
	return Bool(w == "true"), nil
}

func (s *scanner) mapValue() (Value, *ToolError) {
	var keys [tinyMap]string // on the stack until it is known how many there are
	var items [tinyMap]Value
	few := 0
	t := emptyMap
	err := s.object(func(text []byte) *ToolError {
		if t == emptyMap && few < tinyMap {
			key := string(text)
			if slices.Contains(keys[:few], key) {
				return s.duplicate(key)
			}
			v, err := s.value()
			keys[few], items[few] = key, v
			few++
			return err
		}
		if t == emptyMap {
			t = newMap(2 * tinyMap)
			t.keys, t.items = append(t.keys, keys[:]...), append(t.items, items[:]...)
		}
		key := string(text)
		if t.place == nil && len(t.keys) == smallMap { // most maps are small: looking at all keys is cheaper than a table
			t.place = make(map[string]int, 2*smallMap)
			for i, k := range t.keys {
				t.place[k] = i
			}
		}
		if _, ok := t.place[key]; ok || t.place == nil && slices.Contains(t.keys, key) {
			return s.duplicate(key)
		}
		if t.place != nil {
			t.place[key] = len(t.keys)
		}
		v, err := s.value()
		t.keys, t.items = append(t.keys, key), append(t.items, v)
		return err
	})
	if t == emptyMap && few > 0 {
		t = newMap(few)
		t.keys, t.items = append(t.keys, keys[:few]...), append(t.items, items[:few]...)
	}
	return Value{tree: t}, err
}

func (s *scanner) duplicate(key string) *ToolError {
	return s.fail("the key %s appears twice", strconv.Quote(Clip(key, 80)))
}

func (s *scanner) numberValue() (Value, *ToolError) {
	text, integer, err := s.number()
	if err != nil {
		return Value{}, err
	}
	if integer {
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return Int(n), nil
		}
	}
	if err := s.inRange(text); err != nil {
		return Value{}, err
	}
	f, _ := strconv.ParseFloat(string(text), 64)
	out := Float(f)
	if integer {
		out.text = string(text)
	}
	return out, nil
}

// inRange refuses a number beyond those of float64.
func (s *scanner) inRange(text []byte) *ToolError {
	if len(text) < 300 && !slices.ContainsFunc(text, func(c byte) bool { return c == 'e' || c == 'E' }) {
		return nil
	}
	if _, err := strconv.ParseFloat(string(text), 64); err != nil {
		return s.fail("the number %s is too large", Clip(string(text), 40))
	}
	return nil
}
