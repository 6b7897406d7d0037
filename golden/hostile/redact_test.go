package hostile

import (
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/internal/cputime"
	"github.com/flowgen-dev/flowgen/runtime/redact"
)

// Sixteen times the text takes about sixteen times as long, not its square: whatever it is made of.
func TestRedactorIsLinear(t *testing.T) {
	r := redact.New(strings.Repeat("a", 64)+"b", `\\host\share`, "abaab/aa+b", `p"w\n' &<ü>d`, "hunter2hunter2", "aaaab", "\xff\x00\x01binary\x80", "line one of it is long\nline two of it is longer")
	for name, unit := range map[string]string{
		"words": "the quick brown fox ", "backslashes": `\`, "percent": "%25", "ampersands": "&amp;", "quotes": "'", "base64": "YWFh", "of secrets": "aHVudGVyMmh1bnRlcjI=",
		"lines": "a\n", "digits": "6", "hex of hex": "3631", "beginnings": "aaaa", "secrets": "hunter2hunter2", "escaped": `a`, "gaps": "a \n   ", "newlines": "\n",
	} {
		took := func(n int) time.Duration {
			s := strings.Repeat(unit, n/len(unit))
			best := time.Hour
			for range 3 {
				best = min(best, cputime.Of(func() { r.Text(s) }))
			}
			return best
		}
		short, long := took(1<<9), took(1<<13)
		t.Logf("%s: %v, %v", name, short, long)
		if long > 64*max(short, 100*time.Microsecond) {
			t.Errorf("%s: 512 bytes take %v, 8 KiB %v", name, short, long)
		}
	}
}
