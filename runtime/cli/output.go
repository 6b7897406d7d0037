package cli

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
)

// encode returns v as JSON for people and programs: indented by two spaces, no
// HTML escapes, one line break at the end. Characters that could move a
// terminal's cursor or hide text, which JSON allows as they are, are written as
// \u escapes: the same value, harmless wherever it is printed.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return harmless(b.Bytes()), nil
}

// harmless escapes what plain.Line would. Outside its strings JSON has ASCII
// only, and inside them ASCII controls are escaped already, DEL excepted.
func harmless(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		if c := data[i]; c < utf8.RuneSelf && c != 0x7f {
			out = append(out, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r >= 0x7f && r < 0xa0 || plain.Hidden(r) && r <= 0xffff:
			out = append(out, `\u`...)
			out = append(out, strconv.FormatInt(int64(r)+0x10000, 16)[1:]...)
		case plain.Hidden(r): // beyond 16 bits JSON needs a surrogate pair
			r -= 0x10000
			out = append(out, `\u`+strconv.FormatInt(int64(0xd800+r>>10), 16)+`\u`+strconv.FormatInt(int64(0xdc00+r&0x3ff), 16)...)
		default:
			out = append(out, data[i:i+size]...)
		}
		i += size
	}
	return out
}

// maxMessage bounds one message from outside, in characters.
const maxMessage = 4000

// safe makes text from outside fit for one line of a terminal.
func safe(s string) string { return plain.Line(s, maxMessage) }
