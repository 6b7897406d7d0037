package ir

import (
	"math"
	"regexp"
	"strconv"
	"time"
)

// The words and forms of what is said about a tool, in a workflow file or next to the function.
var (
	ToolStates  = []string{"active", "deprecated", "blocked"}
	ReplayWords = []string{"must-stub", "fail-loud", "recorded-result"}
	Categories  = []string{"api", "code", "data", "search", "utility"} // of Agent Tools 3.3

	MoneyForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,9})?$`)       // dollars: 0.002
	QueueForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$`) // a task queue: gpu
	RateForm  = regexp.MustCompile(`^[1-9][0-9]{0,8}/(s|m|h)$`)          // calls per time: 5/s
	sizeForm  = regexp.MustCompile(`^([0-9]+) ?([A-Za-z]*)$`)
	dayForm   = regexp.MustCompile(`^([0-9]+)d`)

	// EffectWords are the effects as they are written.
	EffectWords = map[string]Effects{"none": EffectsNone, "reads": EffectsReads, "writes": EffectsWrites, "external": EffectsExternal}

	// SizeUnits are the units of sizes, in bytes.
	SizeUnits = map[string]int64{
		"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9,
	}
)

// ParseSize reads a number of bytes, more than zero: 2MiB, 500kB, 1024.
func ParseSize(s string) (int64, bool) {
	m := sizeForm.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseInt(m[1], 10, 64)
	unit := SizeUnits[m[2]]
	return v * unit, err == nil && unit > 0 && v > 0 && v <= math.MaxInt64/unit
}

// ParseDuration reads Go's syntax with d for days of 24 hours: 500ms, 1h30m, 2d12h.
func ParseDuration(s string) (time.Duration, bool) {
	const day = 24 * time.Hour
	var days time.Duration
	if m := dayForm.FindStringSubmatch(s); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil || n > int64(math.MaxInt64/day) {
			return 0, false
		}
		days = time.Duration(n) * day
		if s = s[len(m[0]):]; s == "" {
			return days, true
		}
		if s[0] == '-' || s[0] == '+' {
			return 0, false
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d > math.MaxInt64-days {
		return 0, false
	}
	return days + d, true
}
