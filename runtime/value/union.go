package value

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A union is an interface whose values are structs that a field tells apart.
type union struct {
	by       string
	variants map[string]reflect.Type
}

var unions sync.Map // reflect.Type of the interface -> *union

// Union says how values of the interface T are decoded: by is the field of their JSON, a string, and variants has a struct for each of
// its values. Generated code calls it once, before anything runs. T must have methods.
func Union[T any](by string, variants map[string]T) bool {
	u := &union{by: by, variants: map[string]reflect.Type{}}
	for tag, v := range variants {
		u.variants[tag] = reflect.TypeOf(v)
	}
	unions.Store(reflect.TypeFor[T](), u)
	return true
}

// VariantsOf returns the structs of a union in the order of their tags, nil for other types.
func VariantsOf(t reflect.Type) []reflect.Type {
	u := unionOf(t)
	if u == nil {
		return nil
	}
	var out []reflect.Type
	for _, tag := range u.tags() {
		out = append(out, u.variants[tag])
	}
	return out
}

func unionOf(t reflect.Type) *union {
	if t.Kind() != reflect.Interface || t.NumMethod() == 0 {
		return nil
	}
	u, _ := unions.Load(t)
	out, _ := u.(*union)
	return out
}

func (u *union) tags() []string { return slices.Sorted(maps.Keys(u.variants)) }

// variant decodes an object into the struct that its tag says.
func (d *decoder) variant(v reflect.Value, u *union, c byte) *ToolError {
	if c != '{' {
		return d.expected("an object", c)
	}
	start := d.scanner
	tag, err := d.tag(u.by)
	if err != nil {
		return err
	}
	t := u.variants[tag]
	if t == nil {
		d.at = append(d.at, step{key: u.by, named: true})
		err := d.at.fault("%s is none of %s", strconv.Quote(Clip(tag, 80)), strings.Join(u.tags(), ", "))
		d.at = d.at[:len(d.at)-1]
		return err
	}
	d.scanner = start
	fresh := reflect.New(t).Elem()
	if err := d.decode(fresh); err != nil {
		return err
	}
	v.Set(fresh)
	return nil
}

// tag reads an object for the text of one key.
func (d *decoder) tag(by string) (tag string, err *ToolError) {
	found := false
	err = d.object(func(key []byte) *ToolError {
		if found || string(key) != by {
			_, err := d.skip()
			return err
		}
		found = true
		if c := d.peek(); c != '"' {
			d.at = append(d.at, step{key: by, named: true})
			err := d.expected("a string", c)
			d.at = d.at[:len(d.at)-1]
			return err
		}
		tag, err = d.str()
		return err
	})
	if err == nil && !found {
		err = d.at.fault("field %s is missing", strconv.Quote(by))
	}
	return tag, err
}
