package value

import "testing"

// TestEntryArgs: arguments that are read where they stand, or from a Go map, are those of a map of them.
func TestEntryArgs(t *testing.T) {
	type input struct {
		A int64
		B *string
	}
	read := func(a *Args) input { return input{Arg(a, "a", AsInt[int64]), ArgOpt(a, "b", AsString[string])} }
	for _, list := range [][]Entry{
		nil, {}, {{"a", Int(1)}}, {{"b", String("x")}, {"a", Int(2)}}, {{"a", String("x")}, {"b", Null()}}, {{"a", Int(1)}, {"c", Null()}}, {{"c", Int(1)}, {"b", Int(2)}},
	} {
		x, y := EntryArgs(list), ValueArgs(Map(list...))
		got, gotErr := ReadArgs(&x, read)
		want, wantErr := ReadArgs(&y, read)
		if got.A != want.A || (got.B == nil) != (want.B == nil) || JSON(gotErr) != JSON(wantErr) {
			t.Errorf("%v: %v, %v, want %v, %v", list, got, gotErr, want, wantErr)
		}
		x, y = EntryArgs(list), ValueArgs(Map(list...))
		if got, _ := ReadArgs(&x, AnyArgs); got.String() != AnyArgs(&y).String() {
			t.Errorf("%v: %v", list, got)
		}
		dict := map[string]Value{}
		for _, e := range list {
			dict[e.Key] = e.Value
		}
		x = MapArgs(dict)
		every, err := ReadArgs(&x, AnyArgs)
		if err != nil || every.Len() != len(dict) {
			t.Errorf("%v: %v, %v", list, every, err)
		}
		for name, want := range dict {
			if v, ok := every.Get(name); !ok || v.String() != want.String() {
				t.Errorf("%s of %v: %v, want %v", name, list, v, want)
			}
		}
	}
}
