package redact_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/internal/encoders"
	"github.com/flowgen-dev/flowgen/runtime/redact"
)

// randomSecret draws from all bytes: text, keys with punctuation, several lines, or anything.
func randomSecret(r *rand.Rand) string {
	n := 8 + r.IntN(40)
	if r.IntN(8) == 0 {
		n += 100
	}
	var b []byte
	kind := r.IntN(5)
	for len(b) < n {
		switch kind {
		case 0:
			b = append(b, byte(r.IntN(256)))
		case 1:
			b = append(b, byte(' '+r.IntN(95)))
		case 2:
			const marks = "AZaz09+/=_-. \\\"'%&;<>#$`~\n\t\x00\x1b\x7f"
			b = append(b, marks[r.IntN(len(marks))])
		case 3:
			b = utf8.AppendRune(b, []rune{rune(r.IntN(0x80)), rune(r.IntN(0x250)), rune(r.IntN(0xD800)), rune(0x10000 + r.IntN(0x10000))}[r.IntN(4)])
		case 4:
			b = append(b, "0123456789abcdefABCDEFghijklmnopqrstuvwxyz+/"[r.IntN(44)])
		}
	}
	return string(b)
}

// Secrets of any bytes, through one encoder or two of Go, Python, JavaScript and PHP, are taken out, and next to nothing
// of what they became stays.
func TestRandomSecretsInRandomEncoders(t *testing.T) {
	rounds, each, seed := 150, 8, uint64(1)
	if os.Getenv("CAMPAIGN") == "full" {
		rounds, seed = 10000, rand.Uint64()
	}
	ways := append(append(encoders.Go(), encoders.Program(t, "python3", "-c", encoders.Python)...), encoders.Program(t, "node", "-e", encoders.Node)...)
	t.Logf("%d encoders, seed %d", len(ways), seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	n := 0
	for round := range rounds {
		first, second := ways[round%len(ways)], ways[rnd.IntN(len(ways))]
		secrets := make([]string, each) // the first is "", which shows what the encoders themselves add
		for i := 1; i < each; i++ {
			secrets[i] = randomSecret(rnd)
		}
		once, err := first.Do(secrets)
		if err != nil {
			t.Fatalf("%s: %v", first.Name, err)
		}
		twice, err := second.Do(once)
		if err != nil {
			t.Fatalf("%s: %v", second.Name, err)
		}
		for i, s := range secrets[1:] {
			r := redact.New(s)
			for _, out := range []struct {
				what string
				all  []string
			}{{first.Name, once}, {first.Name + ", then " + second.Name, twice}} {
				form := out.all[i+1]
				before, after := strings.Repeat("a ", rnd.IntN(20)), strings.Repeat(" b", rnd.IntN(20))
				got := r.Text(before + form + after)
				rest := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(got, before), after), redact.Redacted, "")
				n++
				if most := len(out.all[0]) + 32; strings.Contains(rest, s) || !strings.Contains(got, redact.Redacted) || len(rest) > most {
					t.Errorf("seed %d: %s of %q:\n%q is\n%q", seed, out.what, s, form, got)
				}
			}
		}
	}
	t.Logf("%d texts", n)
}
