package value_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// anyValue draws values up to the given depth.
func anyValue(depth int) *rapid.Generator[value.Value] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\u2028<&>", "a\"\\\x00\x1f\b\v", "\U0001F600\uFFFD"}))
	leaf := rapid.OneOf(
		rapid.Just(value.Null()),
		rapid.Map(rapid.Bool(), value.Bool),
		rapid.Map(rapid.Int64(), value.Int),
		rapid.Map(rapid.Float64(), func(f float64) value.Value { return value.Float(finite(f)) }),
		rapid.Map(rapid.Int64(), func(n int64) value.Value { return value.Float(float64(n)) }),
		rapid.Map(text, func(s string) value.Value { return value.String(strings.ToValidUTF8(s, "")) }),
	)
	if depth == 0 {
		return leaf
	}
	below := anyValue(depth - 1)
	entry := rapid.Custom(func(t *rapid.T) value.Entry {
		return value.Entry{Key: strings.ToValidUTF8(text.Draw(t, "key"), ""), Value: below.Draw(t, "value")}
	})
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(below, 0, 4), func(vs []value.Value) value.Value { return value.List(vs...) }),
		rapid.Map(rapid.SliceOfN(entry, 0, 12), func(es []value.Entry) value.Value { return value.Map(es...) }))
}

func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0.5
	}
	return f
}

func TestValueRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		for range 2 { // directly, and through encoding/json
			b, err := json.Marshal(struct{ V value.Value }{v})
			if err != nil {
				t.Fatal(err)
			}
			var back struct{ V value.Value }
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}
			direct, _ := v.MarshalJSON()
			again, _ := back.V.MarshalJSON()
			if !back.V.Equal(v) || !v.Equal(back.V) || string(direct) != string(again) {
				t.Fatalf("%s became %s", direct, again)
			}
			v = back.V
		}
	})
}

func TestValueKinds(t *testing.T) {
	cases := []struct{ in, kind, out string }{
		{"null", "null", "null"}, {" true ", "bool", "true"}, {"-0", "int", "0"}, {"1", "int", "1"}, {"1.0", "float", "1.0"},
		{"-0.0", "float", "-0.0"}, {"1e2", "float", "100.0"}, {"9223372036854775807", "int", "9223372036854775807"},
		{"9223372036854775808", "float", "9223372036854775808"}, {"-36893488147419103233", "float", "-36893488147419103233"}, {"1e300", "float", "1e+300"}, {"[]", "list", "[]"},
		{"{}", "map", "{}"}, {`{"b":1,"a":[null]}`, "map", `{"b":1,"a":[null]}`}, {`"\u00e9\ud83d\ude00\/"`, "string", `"é😀/"`},
	}
	for _, c := range cases {
		v, err := value.Parse([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		out, _ := v.MarshalJSON()
		if v.Kind().String() != c.kind || string(out) != c.out {
			t.Errorf("%s is %s %s, want %s %s", c.in, v.Kind(), out, c.kind, c.out)
		}
	}
}

func TestValueRefuses(t *testing.T) {
	deep := strings.Repeat("[", 1001) + strings.Repeat("]", 1001)
	cases := map[string]string{
		"":               "the text ends where a value is expected",
		"nul":            "'n' where a value is expected",
		"1 2":            "text after the value",
		"01":             "text after the value",
		"1.":             "the text ends where a digit is expected",
		"1e+":            "the text ends where a digit is expected",
		"-":              "the text ends where a digit is expected",
		"+1":             "'+' where a value is expected",
		"1e999":          "the number 1e999 is too large",
		"[1,]":           "']' where a value is expected",
		"[1":             "the text ends where ',' or ']' is expected",
		`{"a":1,"a":2}`:  `the key "a" appears twice`,
		`{"a" 1}`:        "'1' where ':' is expected",
		`{a:1}`:          "'a' where a key is expected",
		`{"a":1,}`:       "'}' where a key is expected",
		`"a`:             `the text ends where '"' is expected`,
		"\"\x01\"":       "control character in a string",
		"\"\xff\"":       "invalid UTF-8",
		`"\x"`:           "'x' where an escape is expected",
		`"\ud800"`:       "half a surrogate pair",
		`"\ud800\u0041"`: "half a surrogate pair",
		`"\udc00\ud800"`: "half a surrogate pair",
		`"\u12`:          "the text ends where a hexadecimal digit is expected",
		`"\u12xy"`:       `\u needs four hexadecimal digits`,
		`"\u+123"`:       `\u needs four hexadecimal digits`,
		deep:             "nested more than 1000 deep",
	}
	for in, want := range cases {
		_, err := value.Parse([]byte(in))
		if codeOf(err) != value.ValidationError || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", in, err, want)
		}
		if checked := value.Check([]byte(in)); checked == nil || checked.Error() != err.Error() {
			t.Errorf("%.20q: %v, and without the value %v", in, err, checked)
		}
	}
	v := value.List()
	for range 1001 {
		v = value.List(v)
	}
	if _, err := v.MarshalJSON(); err == nil {
		t.Error("a value that cannot be read back was written")
	}
	if _, err := value.Float(math.NaN()).MarshalJSON(); err == nil {
		t.Error("NaN was written")
	}
}

func TestValueAccess(t *testing.T) {
	var entries []value.Entry
	for _, k := range strings.Split("abcdefghijkl", "") {
		entries = append(entries, value.Entry{Key: k, Value: value.String(k)})
	}
	for _, n := range []int{3, 12} {
		m := value.Map(append(entries[:n:n], value.Entry{Key: "b", Value: value.Int(7)})...)
		b, ok := m.Get("b")
		_, none := m.Get("z")
		if m.Len() != n || !ok || b.Int() != 7 || none || m.Keys()[1] != "b" || m.Index(1).Int() != 7 || !m.Index(99).IsNull() {
			t.Errorf("map of %d: %v", n, m)
		}
	}
	if f := value.Int(3).Float(); f != 3 {
		t.Error(f)
	}
	if s := value.String("x"); s.String() != "x" || s.Int() != 0 || s.Float() != 0 || s.Bool() || s.Keys() != nil || s.Len() != 0 {
		t.Error(s)
	}
	if value.Int(1).Equal(value.Float(1)) || value.Null().Equal(value.List()) {
		t.Error("different values are equal")
	}
	if v, err := value.Of(map[string]any{"a": []int{1}}); err != nil || v.String() != `{"a":[1]}` {
		t.Error(v, err)
	}
	if _, err := value.Of(func() {}); err == nil {
		t.Error("a function became a value")
	}
}

func TestCanonical(t *testing.T) {
	cases := map[string]string{
		// RFC 8785, 3.2.2 and 3.2.3
		`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`:                                                                           `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		"{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\",\"\\ufb33\":\"Hebrew Letter Dalet With Dagesh\",\"1\":\"One\",\"\\ud83d\\ude00\":\"Emoji: Grinning Face\",\"\\u0080\":\"Control\",\"\\u00f6\":\"Latin Small Letter O With Diaeresis\"}": "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		"[ 1.0, -0, -0.0, 1e21, 9007199254740993, 18446744073709551615, 18446744073709551616 ]":                                                                                                                                                         "[1,0,0,1e+21,9007199254740993,18446744073709551615,18446744073709551616]",
		`"<\b\t\f\u000b>"`: `"<\b\t\f\u000b>"`,
		`{"aa":1,"a":2}`:   `{"a":2,"aa":1}`,
	}
	for in, want := range cases {
		got, err := value.Canonicalize(nil, []byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
	for _, in := range []string{`{"a":1,"a":1}`, "[", "1e999", "1 1", `["a" "b"]`, "truth"} {
		if _, err := value.Canonicalize(nil, []byte(in)); err == nil {
			t.Errorf("%s was accepted", in)
		}
	}
}

// Objects of every size around those at which they are kept in another way: order, values and a key that appears twice.
func TestObjectsOfEverySize(t *testing.T) {
	for n := range 20 {
		var keys, shuffled, sorted []string
		for i := range n {
			keys = append(keys, fmt.Sprintf("k%02d", (i*23+3)%n))
			shuffled = append(shuffled, fmt.Sprintf(`"\u006b%s":[%d,{"b":"é\n","a":-0}]`, keys[i][1:], i))
			sorted = append(sorted, fmt.Sprintf(`"%s":[%d,{"a":0,"b":"é\n"}]`, keys[i], i))
		}
		slices.Sort(sorted)
		text := "{" + strings.Join(shuffled, " , ") + "}"
		got, err := value.Canonicalize([]byte("before "), []byte(text))
		if want := "before {" + strings.Join(sorted, ",") + "}"; err != nil || string(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", text, got, err, want)
		}
		v, err := value.Parse([]byte(text))
		if err != nil || !slices.Equal(v.Keys(), keys) {
			t.Errorf("%s: keys %v, %v", text, v.Keys(), err)
		}
		for i, k := range keys {
			if x, ok := v.Get(k); !ok || x.Index(0).Int() != int64(i) {
				t.Errorf("%s: %s is %v", text, k, x)
			}
			twice := strings.TrimSuffix(text, "}") + `,"` + k + `":0}`
			_, canon := value.Canonicalize(nil, []byte(twice))
			_, parsed := value.Parse([]byte(twice))
			for _, err := range []error{canon, parsed, value.Check([]byte(twice))} {
				if err == nil || !strings.Contains(err.Error(), `the key "`+k+`" appears twice`) {
					t.Errorf("%s: %v", twice, err)
				}
			}
		}
	}
}

func TestCanonicalIsAFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		once, err := value.AppendCanonical(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := value.Canonicalize(nil, once)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("%s became %s, %v", once, twice, err)
		}
		if !json.Valid(once) {
			t.Fatalf("%s is not JSON", once)
		}
	})
}

func TestFormatFloat(t *testing.T) {
	// RFC 8785, appendix B
	cases := map[uint64]string{
		0: "0", 0x8000000000000000: "0", 1: "5e-324", 0x7fefffffffffffff: "1.7976931348623157e+308", 0x4340000000000000: "9007199254740992",
		0x4430000000000000: "295147905179352830000", 0x44b52d02c7e14af5: "9.999999999999997e+22", 0x44b52d02c7e14af6: "1e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000", 0x444b1ae4d6e2ef50: "1e+21", 0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001", 0x41b3de4355555553: "333333333.3333332", 0xbecbf647612f3696: "-0.0000033333333333333333", 0x43143ff3c1cb0959: "1424953923781206.2",
	}
	for bits, want := range cases {
		if got := value.FormatFloat(math.Float64frombits(bits)); got != want {
			t.Errorf("%x: %s, want %s", bits, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	in := map[string]any{"b": "<a&b>", "a": []byte("hi"), "c": 1.0}
	if got := value.JSON(in); got != `{"a":"aGk=","b":"<a&b>","c":1}` {
		t.Error(got)
	}
	if got := value.JSON(math.NaN()); got != "null" {
		t.Error(got)
	}
}

// A mark changes nothing but Mark, and other kinds have none, whatever their bits are.
func TestMark(t *testing.T) {
	for _, text := range []string{"", "2024-05-01"} {
		v := value.Marked(text, 255)
		if v.Mark() != 255 || v.String() != text || v.Kind() != value.StringKind || !v.Equal(value.String(text)) {
			t.Errorf("%q: %v, mark %d", text, v, v.Mark())
		}
	}
	for _, v := range []value.Value{value.Null(), value.Bool(true), value.Int(-1), value.Float(-1), value.String("x"), value.List(), value.Map()} {
		if v.Mark() != 0 {
			t.Errorf("%v: mark %d", v, v.Mark())
		}
	}
}

// Values are copied often, and Go keeps structs of four words in registers.
func TestValueIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(value.Optional{}); size > 4*unsafe.Sizeof(uintptr(0)) {
		t.Errorf("a value has %d bytes", size)
	}
}

// Tests of users compare structs that have values in them.
func TestDeepEqual(t *testing.T) {
	made := func() []value.Value {
		text := strings.Repeat("a", 2)
		return []value.Value{value.Null(), value.Bool(true), value.Int(1), value.Float(1), value.String(text), value.List(value.String(text)),
			value.Map(value.Entry{Key: text, Value: value.List(value.Null())}), value.Null().Some().Value()}
	}
	a, b := made(), made()
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Errorf("%v", a[i])
		}
		for j := range i {
			if reflect.DeepEqual(a[i], b[j]) != a[i].Equal(b[j]) {
				t.Errorf("%v and %v", a[i], b[j])
			}
		}
	}
}

func TestOptional(t *testing.T) {
	var absent value.Optional
	if absent.Present() || !absent.Value().IsNull() {
		t.Error("absent")
	}
	for _, v := range []value.Value{value.Null(), value.Bool(false), value.Int(0), value.String(""), value.Map()} {
		if o := v.Some(); !o.Present() || !o.Value().Equal(v) || o.Value().Kind() != v.Kind() {
			t.Errorf("%v", v)
		}
	}
}
