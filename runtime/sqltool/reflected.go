package sqltool

import "reflect"

// reflected is plain for values of named types, such as enums.
func reflected(v any) any {
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Pointer {
		if r.IsNil() {
			return nil
		}
		r = r.Elem()
	}
	switch {
	case r.Kind() == reflect.String:
		return r.String()
	case r.CanInt():
		return r.Int()
	case r.CanFloat():
		return r.Float()
	case r.Kind() == reflect.Bool:
		return r.Bool()
	}
	return r.Interface() // the driver says that it does not take it
}
