package value

// ToValue makes the output of a tool a dynamic value.
func ToValue[T any](v T) (Value, error) {
	switch x := any(v).(type) {
	case Value:
		return x, nil
	case string:
		return String(x), nil
	case int64:
		return Int(x), nil
	case float64:
		return Float(x), nil
	case bool:
		return Bool(x), nil
	case struct{}: // a tool that returns nothing
		return Value{}, nil
	case []string:
		if x == nil {
			return Value{}, nil
		}
		t := &valueTree{kind: ListKind, items: make([]Value, len(x))}
		for i, s := range x {
			t.items[i] = String(s)
		}
		return Value{tree: t}, nil
	}
	return Of(v)
}

// ToPtr makes the output of a tool the result of a node that declares the same type.
func ToPtr[T any](v T) (*T, error) { return &v, nil }

// ToType decodes the output of a tool as the type that a node declares, as strictly as Decode.
func ToType[From, To any](v From) (*To, error) {
	x, err := ToValue(v)
	if err != nil {
		return nil, err
	}
	out, err := As[To](x)
	if err != nil {
		return nil, err
	}
	return &out, nil
}
