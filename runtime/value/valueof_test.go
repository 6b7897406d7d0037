package value_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

type level string

type marshals struct{ n int }

func (m marshals) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `{"m":%d}`, m.n), nil }

type texted int

func (t texted) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "t%d", int(t)), nil }

type pointed struct{ n int }

func (p *pointed) MarshalJSON() ([]byte, error) { return []byte(`"pointed"`), nil }

type inner struct {
	A int64 `json:"a"`
	B *inner
}

type wide struct {
	Text   string             `json:"text"`
	Level  level              `json:"level"`
	Small  int8               `json:"small"`
	Big    uint64             `json:"big"`
	Float  float64            `json:"float"`
	Single float32            `json:"single"`
	On     bool               `json:"on"`
	Bytes  []byte             `json:"bytes"`
	List   []inner            `json:"list"`
	Dict   map[level]*int64   `json:"dict"`
	Opt    *string            `json:"opt"`
	Any    any                `json:"any"`
	Value  value.Value        `json:"value"`
	Time   time.Time          `json:"time"`
	Wait   time.Duration      `json:"wait"`
	Own    marshals           `json:"own"`
	Point  *pointed           `json:"point"`
	Tag    texted             `json:"tag"`
	Array  [2]bool            `json:"array"`
	Keys   map[texted]float64 `json:"keys"`
	Skip   int                `json:"-"`
	Error  *value.ToolError   `json:"error"`
	hidden int
}

type optional struct {
	A int    `json:"a,omitempty"`
	B string `json:"b,omitzero"`
	C int    `json:",string"`
	inner
}

// TestValueOfIsJSON: a value converted directly is what its JSON reads as.
func TestValueOfIsJSON(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "<&>\u2028", "\xff\xfe", "a\x00"}))
	number := rapid.Int64()
	rapid.Check(t, func(t *rapid.T) {
		in := inner{A: number.Draw(t, "a")}
		n := number.Draw(t, "n")
		w := wide{
			Text: text.Draw(t, "text"), Level: level(text.Draw(t, "level")), Small: int8(n), Big: uint64(n), Float: rapid.Float64Range(-1e300, 1e300).Draw(t, "float"), Single: float32(int32(n)) / 7,
			On: n%2 == 0, Time: time.Unix(n%1e9, 0).UTC(), Wait: time.Duration(n), Own: marshals{int(n)}, Tag: texted(n), hidden: 1, Skip: 2,
			Value: anyValue(2).Draw(t, "value"),
		}
		if n%3 != 0 {
			w.Bytes, w.List, w.Opt = []byte(w.Text), []inner{in, {B: &in}}, &w.Text
			w.Dict = map[level]*int64{"b": &n, level(w.Text): nil}
			w.Any, w.Point, w.Keys = []any{n, w.Text, in, &in, nil}, &pointed{1}, map[texted]float64{1: 2}
			w.Error = value.Invalid("%s", strings.ToValidUTF8(w.Text, ""))
		}
		for _, v := range []any{w, &w, w.List, w.Dict, w.Any, w.Text, w.Float, w.Point, *new(pointed), optional{A: int(n % 2), B: w.Text, inner: in}, []optional{{}}, map[string]any{"x": w}, struct{}{}, nil} {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			want, err := value.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			got, err := value.Of(v)
			if err != nil {
				t.Fatal(err)
			}
			x, _ := value.AppendCanonical(nil, want)
			y, _ := value.AppendCanonical(nil, got)
			if string(x) != string(y) || fmt.Sprint(want.Keys()) != fmt.Sprint(got.Keys()) {
				t.Fatalf("%T\nJSON %s\nis   %s", v, x, y)
			}
		}
	})
	if v, err := value.Of(struct{ F float64 }{1}); err != nil || v.String() != `{"F":1.0}` {
		t.Error(v, err)
	}
	for _, v := range []any{math.NaN(), struct{ F float32 }{float32(math.Inf(1))}, func() {}, make(chan int), []any{func() {}}, struct{ C complex128 }{}, map[int]func(){1: nil}} {
		if got, err := value.Of(v); err == nil {
			t.Errorf("%v became %s", reflect.TypeOf(v), got)
		}
	}
	loop := map[string]any{}
	loop["x"] = loop
	if _, err := value.Of(loop); err == nil {
		t.Error("a value without end was converted")
	}
}

// below has what EntriesAt and At look at: what is read where it stands, and what is not.
type below struct {
	Plain  inner          `json:"plain"`
	Point  *inner         `json:"point"`
	Wide   wide           `json:"wide"`
	List   []inner        `json:"list"`
	Small  int8           `json:"small"`
	Float  float64        `json:"float"`
	Text   level          `json:"text"`
	Value  value.Value    `json:"value"`
	Omits  optional       `json:"omits"`
	Dict   map[string]any `json:"dict"`
	Nested struct {
		Inner *inner `json:"inner"`
		On    bool   `json:"on"`
	} `json:"nested"`
}

// TestAt: what is below a key is what the whole has there, as a value and as entries.
func TestAt(t *testing.T) {
	for i := range 8 {
		in := inner{A: int64(i)}
		v := below{Plain: inner{A: 1, B: &in}, List: []inner{in}, Small: int8(-i), Float: float64(i) / 2, Text: "t", Dict: map[string]any{"a": 1}, Value: value.Map(value.Entry{Key: "k", Value: value.Int(1)})}
		if i%2 == 1 {
			v.Point, v.Nested.Inner, v.Value = &in, &in, value.String("x")
		}
		if i == 6 {
			v.Text, v.Value = "\xff", value.Null()
		}
		whole, err := value.Of(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range append(whole.Keys(), "none") {
			want, there := whole.Get(key)
			got, ok, err := value.At(&v, key)
			if err != nil || ok != there || got.String() != want.String() {
				t.Errorf("%s: %v, %t, %v, want %v", key, got, ok, err, want)
			}
			entries, kind, ok, err := value.EntriesAt(nil, &v, key)
			if err != nil || ok != there || kind != want.Kind() || kind == value.MapKind && value.Map(entries...).String() != want.String() || kind != value.MapKind && entries != nil {
				t.Errorf("%s: %v, %v, %t, %v, want %v", key, entries, kind, ok, err, want)
			}
		}
	}
	nan := below{Float: math.NaN(), Plain: inner{A: 2}}
	if _, ok, err := value.At(&nan, "float"); err == nil || ok {
		t.Error("NaN became a value")
	}
	if got, ok, err := value.At(&nan, "plain"); err != nil || !ok || got.Len() == 0 {
		t.Error(got, ok, err)
	}
	text := "x"
	if _, ok, err := value.At(&text, "k"); ok || err != nil {
		t.Error(ok, err)
	}
	dynamic := value.Map(value.Entry{Key: "k", Value: value.Map(value.Entry{Key: "n", Value: value.Int(2)})})
	if got, kind, ok, err := value.EntriesAt(nil, &dynamic, "k"); len(got) != 1 || kind != value.MapKind || !ok || err != nil {
		t.Error(got, kind, ok, err)
	}
}
