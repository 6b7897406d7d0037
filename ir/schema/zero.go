package schema

// ZeroJSON is the zero value of a type as JSON; "" for types without.
func (t *Type) ZeroJSON() string {
	switch t.Kind {
	case String, Bytes:
		return `""`
	case Int, Float:
		return "0"
	case Bool:
		return "false"
	case List:
		return "[]"
	case Map:
		return "{}"
	case Opt, Any, Null:
		return "null"
	}
	return ""
}
