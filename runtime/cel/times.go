package cel

import (
	"math"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// inRange reports whether a time has a text form: that of RFC 3339 has years of four digits.
func inRange(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1 && year <= 9999
}

// ParseTime returns the time that a text in the form of RFC 3339 says, VALIDATION_ERROR for other texts.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || !inRange(t) {
		return time.Time{}, value.Invalid("timestamp(%q): this is not a time such as 2026-01-31T12:00:00Z", shortened(text))
	}
	return t, nil
}

// ParseDuration returns the duration that a text such as 1h30m says, VALIDATION_ERROR for other texts.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, value.Invalid("duration(%q): this is not a duration such as 1h30m or 500ms", shortened(text))
	}
	return d, nil
}

// shortened is a text as an error quotes it.
func shortened(text string) string {
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "") + "..."
	}
	return text
}

// AddTime returns t + d, VALIDATION_ERROR outside the years 1 to 9999. So does SubTime for t - d.
func AddTime(t time.Time, d time.Duration) (time.Time, error) {
	sum := t.Add(d)
	if !inRange(sum) {
		return time.Time{}, value.Invalid("%s + %s is out of the range of time", t.Format(time.RFC3339Nano), d)
	}
	return sum, nil
}

// SubTime returns t - d, VALIDATION_ERROR outside the years 1 to 9999.
func SubTime(t time.Time, d time.Duration) (time.Time, error) {
	before := t.Add(-d)
	if d == math.MinInt64 { // it has no opposite
		before = t.Add(math.MaxInt64).Add(1)
	}
	if !inRange(before) {
		return time.Time{}, value.Invalid("%s - %s is out of the range of time", t.Format(time.RFC3339Nano), d)
	}
	return before, nil
}

// Since returns a - b, VALIDATION_ERROR when it is more than a duration holds, which is about 292 years.
func Since(a, b time.Time) (time.Duration, error) {
	d := a.Sub(b)
	if !b.Add(d).Equal(a) {
		return 0, value.Invalid("%s - %s is out of the range of duration", a.Format(time.RFC3339Nano), b.Format(time.RFC3339Nano))
	}
	return d, nil
}

// AddDuration returns a + b, VALIDATION_ERROR on overflow. So does SubDuration for a - b.
func AddDuration(a, b time.Duration) (time.Duration, error) {
	sum := a + b
	if (sum > a) != (b > 0) {
		return 0, value.Invalid("%s + %s is out of the range of duration", a, b)
	}
	return sum, nil
}

// SubDuration returns a - b, VALIDATION_ERROR on overflow.
func SubDuration(a, b time.Duration) (time.Duration, error) {
	difference := a - b
	if (difference < a) != (b > 0) {
		return 0, value.Invalid("%s - %s is out of the range of duration", a, b)
	}
	return difference, nil
}
