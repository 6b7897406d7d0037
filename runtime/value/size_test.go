package value

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type sized struct {
	Text   string            `json:"text"`
	List   []string          `json:"list,omitempty"`
	Rows   []sizedRow        `json:"rows"`
	Map    map[string]string `json:"map"`
	Any    Value             `json:"any"`
	Ptr    *sized            `json:"ptr"`
	Bytes  []byte            `json:"bytes"`
	Floats []float64         `json:"floats"`
}

type sizedRow struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
	N    int64     `json:"n"`
	OK   bool      `json:"ok"`
}

// What fits has JSON within the limit, and what is much smaller than the limit fits.
func TestFits(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x00\x01\x02", "<>&", "\u2028", `"\`, "\xff", strings.Repeat("é", 20)}))
	row := rapid.Custom(func(t *rapid.T) sizedRow {
		return sizedRow{text.Draw(t, "name"), time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "at"), 999999999).In(time.FixedZone("", -3600)), rapid.Int64().Draw(t, "n"), rapid.Bool().Draw(t, "ok")}
	})
	dynamic := rapid.Custom(func(t *rapid.T) Value {
		return Map(Entry{text.Draw(t, "key"), String(text.Draw(t, "v"))}, Entry{"list", List(Int(math.MinInt64), Float(-math.MaxFloat64), Null(), Bool(false))})
	})
	all := rapid.Custom(func(t *rapid.T) sized {
		s := sized{Text: text.Draw(t, "text"), List: rapid.SliceOf(text).Draw(t, "list"), Rows: rapid.SliceOf(row).Draw(t, "rows"),
			Map: rapid.MapOf(text, text).Draw(t, "map"), Any: dynamic.Draw(t, "any"), Bytes: []byte(text.Draw(t, "bytes")),
			Floats: rapid.SliceOf(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)).Draw(t, "floats")}
		s.Ptr = &sized{Text: s.Text}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		s := all.Draw(t, "value")
		b, err := json.Marshal(&s)
		if err != nil {
			t.Fatal(err)
		}
		if Fits(&s, len(b)-1) {
			t.Errorf("%d bytes fit into less: %s", len(b), b)
		}
		if s.Map = nil; !Fits(&s, 40*len(b)) {
			t.Errorf("%d bytes do not fit into %d: %s", len(b), 40*len(b), b)
		}
		if Fits(&s.Text, len(b)) && len(s.Text) > len(b) || Fits(&s.Any, 1) {
			t.Error("parts fit that do not")
		}
	})
}

// A Size that knows its type says what Fits says.
func TestSizeOf(t *testing.T) {
	type name string
	type inner struct{ N, M int64 }
	type flat struct {
		Text  string    `json:"text"`
		Named name      `json:"named,omitempty"`
		At    time.Time `json:"at"`
		inner
		List [3]bool `json:"list"`
		Last string
	}
	type single struct {
		inner
		Text string `json:"text"`
	}
	only := SizeOf[single]()
	size := SizeOf[flat]()
	if !size.flat || len(size.texts) != 3 {
		t.Fatalf("%+v", size)
	}
	for _, other := range []bool{SizeOf[sized]().flat, SizeOf[Value]().flat, SizeOf[string]().flat, SizeOf[struct{ V Value }]().flat, SizeOf[*flat]().flat} {
		if other {
			t.Error("a type that has to be looked at is not")
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := flat{Text: rapid.String().Draw(t, "text"), Named: name(rapid.String().Draw(t, "named")), Last: rapid.String().Draw(t, "last")}
		v.N = rapid.Int64().Draw(t, "n")
		if limit := rapid.IntRange(-1, 6000).Draw(t, "limit"); size.Fits(&v, limit) != Fits(&v, limit) {
			t.Errorf("%d bytes: %v, without a type known before %v", limit, size.Fits(&v, limit), Fits(&v, limit))
		} else if size.Short(&v, limit) {
			t.Errorf("%d bytes: one of three texts is enough", limit)
		}
		one := single{v.inner, v.Text}
		if limit := rapid.IntRange(-1, 600).Draw(t, "limit"); only.Short(&one, limit) != Fits(&one, limit) {
			t.Errorf("%d bytes with one text: %v, without a type known before %v", limit, only.Short(&one, limit), Fits(&one, limit))
		}
	})
}

func TestFitsAllocatesNothing(t *testing.T) {
	s := sized{Text: "text", List: []string{"a"}, Rows: make([]sizedRow, 3), Any: Map(Entry{"k", Int(1)}), Ptr: &sized{}}
	text, dynamic := "text", Map(Entry{"k", Int(1)})
	if n := testing.AllocsPerRun(100, func() {
		local := s
		if !Fits(&local, 1<<20) || !Fits(&text, 1<<20) || !Fits(&dynamic, 1<<20) {
			t.Error("does not fit")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBounded(t *testing.T) {
	if !Bounded[struct {
		N int64
		T time.Time
		B [3]bool
	}]() || !Bounded[struct{}]() || !Bounded[float64]() {
		t.Error("short values are not bounded")
	}
	if Bounded[string]() || Bounded[struct{ T []int }]() || Bounded[Value]() || Bounded[*int]() || Bounded[map[string]int]() || Bounded[sized]() {
		t.Error("long values are bounded")
	}
}
