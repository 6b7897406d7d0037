package value

import (
	"math"
	"reflect"
	"unsafe"
)

// sound is where the values of a type can be wrong, when that is only in floats that are not a number. Looking there needs no
// walk by reflection, which costs more than most calls.
type sound struct {
	floats   []uintptr // where in a value its floats are
	pointers []pointed
}

// pointed is a pointer that may be nil.
type pointed struct {
	at uintptr
	to *sound
}

// soundOf is nil for types with rules, and with lists, maps and unions in which something can be wrong.
func soundOf(t reflect.Type) *sound {
	s := &sound{}
	if !s.add(t, 0, 0) {
		return nil
	}
	return s
}

// maxSound is how deep types are looked into: one may lead to itself.
const maxSound = 8

func (s *sound) add(t reflect.Type, at uintptr, depth int) bool {
	switch {
	case !checked(t):
		return true
	case depth > maxSound:
		return false
	}
	switch t.Kind() {
	case reflect.Float64:
		s.floats = append(s.floats, at)
		return true
	case reflect.Pointer:
		to := &sound{}
		if !to.add(t.Elem(), 0, depth+1) {
			return false
		}
		s.pointers = append(s.pointers, pointed{at, to})
		return true
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("flow") != "" || !s.add(f.Type, at+f.Offset, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// holds reports whether nothing is wrong with the value at p.
func (s *sound) holds(p unsafe.Pointer) bool {
	for _, at := range s.floats {
		if f := *(*float64)(unsafe.Add(p, at)); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	for _, x := range s.pointers {
		if to := *(*unsafe.Pointer)(unsafe.Add(p, x.at)); to != nil && !x.to.holds(to) {
			return false
		}
	}
	return true
}

// Walks reports whether Sound never tells anything of the values of a type.
func (c *Checker) Walks() bool { return c != nil && c.sound == nil }

// Sound reports whether nothing is wrong with what v points to, as far as can be told without walking through it. A nil Checker is of
// a type whose values cannot be wrong.
func Sound[T any](c *Checker, v *T) bool {
	return c == nil || c.sound != nil && c.sound.holds(unsafe.Pointer(v))
}
