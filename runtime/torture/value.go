package torture

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// rule is what a flow tag says of a field (value.Validate).
type rule struct {
	enum    []string
	pattern string
	bounds
}

func ruleOf(tag string) (r rule) {
	for tag != "" {
		if re, ok := strings.CutPrefix(tag, "pattern="); ok {
			r.pattern = re
			return r
		}
		var part string
		part, tag, _ = strings.Cut(tag, ",")
		name, arg, _ := strings.Cut(part, "=")
		switch x, err := strconv.ParseFloat(arg, 64); {
		case name == "enum":
			r.enum = strings.Split(arg, "|")
		case err != nil:
		case name == "min":
			r.min = &x
		case name == "max":
			r.max = &x
		}
	}
	return r
}

// inner is what of a rule applies to the elements of a list or map.
func (r rule) inner() rule { return rule{enum: r.enum, pattern: r.pattern} }

// deepest is how deep values are nested at most.
const deepest = 6

var (
	valueType = reflect.TypeFor[value.Value]()
	timeType  = reflect.TypeFor[time.Time]()
	rawType   = reflect.TypeFor[json.RawMessage]()
)

// fill sets v to a value of its type.
func (r *random) fill(v reflect.Value, ru rule, depth int) {
	switch v.Type() {
	case valueType:
		v.Set(reflect.ValueOf(r.value(depth)))
		return
	case timeType:
		v.Set(reflect.ValueOf(time.Date(2000+r.n(50), 1, 1+r.n(300), r.n(24), r.n(60), r.n(60), 0, time.UTC)))
		return
	case rawType:
		v.SetBytes([]byte("null"))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.one(2))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := r.within(r.int(), ru.bounds); !v.OverflowInt(n) {
			v.SetInt(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := uint64(max(0, r.within(r.int(), ru.bounds))); !v.OverflowUint(n) {
			v.SetUint(n)
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat(r.inBounds(ru.bounds))
	case reflect.String:
		v.SetString(r.string(ru))
	case reflect.Pointer:
		if depth < deepest && !r.one(3) {
			p := reflect.New(v.Type().Elem())
			r.fill(p.Elem(), ru, depth+1)
			v.Set(p)
		}
	case reflect.Interface:
		if list := value.VariantsOf(v.Type()); len(list) > 0 {
			x := reflect.New(list[r.n(len(list))]).Elem()
			r.fill(x, rule{}, depth+1)
			v.Set(x)
		}
	case reflect.Slice:
		r.fillList(v, ru, depth)
	case reflect.Array:
		for i := range v.Len() {
			r.fill(v.Index(i), ru.inner(), depth+1)
		}
	case reflect.Map:
		r.fillMap(v, ru, depth)
	case reflect.Struct:
		r.fillStruct(v, depth)
	}
}

func (r *random) inBounds(b bounds) float64 {
	f := r.float()
	if b.min != nil && f < *b.min || b.max != nil && f > *b.max {
		f = float64(r.within(int64(f), b))
		if b.max != nil && f > *b.max {
			f = *b.max
		}
		if b.min != nil && f < *b.min {
			f = *b.min
		}
	}
	return f
}

func (r *random) string(ru rule) string {
	switch {
	case ru.enum != nil:
		return ru.enum[r.n(len(ru.enum))]
	case ru.pattern != "":
		return r.matching(ru.pattern)
	}
	return r.sized(r.text(), ru.bounds)
}

func (r *random) fillList(v reflect.Value, ru rule, depth int) {
	n := 0
	if depth < deepest {
		n = r.length(r.n(4), ru.bounds)
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		r.fill(v.Index(i), ru.inner(), depth+1)
	}
}

func (r *random) fillMap(v reflect.Value, ru rule, depth int) {
	v.Set(reflect.MakeMap(v.Type()))
	if v.Type().Key().Kind() != reflect.String || depth >= deepest {
		return
	}
	for i := range r.length(r.n(4), ru.bounds) {
		key := reflect.New(v.Type().Key()).Elem()
		key.SetString("key" + strconv.Itoa(i))
		item := reflect.New(v.Type().Elem()).Elem()
		r.fill(item, ru.inner(), depth+1)
		v.SetMapIndex(key, item)
	}
}

func (r *random) fillStruct(v reflect.Value, depth int) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		r.fill(v.Field(i), ruleOf(f.Tag.Get("flow")), depth+1)
	}
}

// value is a value of any kind.
func (r *random) value(depth int) value.Value {
	kinds := 7
	if depth >= deepest {
		kinds = 5
	}
	switch r.n(kinds) {
	case 0:
		return value.Null()
	case 1:
		return value.Bool(r.one(2))
	case 2:
		return value.Int(r.int())
	case 3:
		return value.Float(r.float())
	case 5:
		items := make([]value.Value, r.n(3))
		for i := range items {
			items[i] = r.value(depth + 2)
		}
		return value.List(items...)
	case 6:
		var entries []value.Entry
		for i := range r.n(3) {
			entries = append(entries, value.Entry{Key: words[i], Value: r.value(depth + 2)})
		}
		return value.Map(entries...)
	}
	return value.String(r.text())
}
