package cel_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/cel"
)

func ExampleAt() {
	xs := []string{"a", "b"}
	fmt.Println(*cel.At(xs, 1), cel.At(xs, 2), cel.At(xs, -1))
	// Output: b <nil> <nil>
}

func ExampleSubstring() {
	part, err := cel.Substring("日本語", 1, 2)
	fmt.Println(part, err)
	_, err = cel.Substring("ab", 1, 3)
	fmt.Println(err)
	// Output:
	// 本 <nil>
	// VALIDATION_ERROR: substring(1, 3) of a text of 2 characters: 0 <= start <= end <= size must be true
}

// TestSubstring: parts of a text with characters of several bytes are those of its runes.
func TestSubstring(t *testing.T) {
	for _, s := range []string{"", "abc", "日本語", "a日b", "\xff日"} {
		runes := []rune(s)
		for lo := -1; lo <= len(runes)+1; lo++ {
			for hi := -1; hi <= len(runes)+1; hi++ {
				got, err := cel.Substring(s, int64(lo), int64(hi))
				fits := 0 <= lo && lo <= hi && hi <= len(runes)
				if (err == nil) != fits || fits && len([]rune(got)) != hi-lo {
					t.Errorf("%q from %d to %d: %q, %v", s, lo, hi, got, err)
				}
			}
		}
	}
}

// TestTimesAtTheirBounds: what is out of range is an error, and never wraps around.
func TestTimesAtTheirBounds(t *testing.T) {
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	most, least := time.Duration(math.MaxInt64), time.Duration(math.MinInt64)
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, err := range map[string]error{
		"first - 1s": second(cel.SubTime(first, time.Second)), "last + 1s": second(cel.AddTime(last, time.Second)), "first + least": second(cel.AddTime(first, least)),
		"last - least": second(cel.SubTime(last, least)), "last - first": second(cel.Since(last, first)), "most + 1": second(cel.AddDuration(most, 1)),
		"least - 1": second(cel.SubDuration(least, 1)), "0 - least": second(cel.SubDuration(0, least)), "a text": second(cel.ParseTime("today")),
		"a date": second(cel.ParseTime("2026-01-31")), "year 0": second(cel.ParseTime("0000-01-01T00:00:00Z")), "hours": second(cel.ParseDuration("2 hours")),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	sum, err := cel.SubTime(now, least)
	if want := now.Add(most).Add(1); err != nil || !sum.Equal(want) {
		t.Errorf("now - least: %v, %v, want %v", sum, err, want)
	}
}

func second[T any](_ T, err error) error { return err }
