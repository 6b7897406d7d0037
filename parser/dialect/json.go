package dialect

import (
	"encoding/json"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
)

// JSON is the JSON of constants, as Reader.Value reads them, with the keys in the order of the file.
func JSON(v ir.Value) string {
	var b strings.Builder
	writeJSON(&b, v)
	return b.String()
}

func writeJSON(b *strings.Builder, v ir.Value) {
	switch v := v.(type) {
	case *ir.Object:
		b.WriteByte('{')
		for i, e := range v.Entries {
			if i > 0 {
				b.WriteByte(',')
			}
			writeText(b, e.Key.Name)
			b.WriteByte(':')
			writeJSON(b, e.Value)
		}
		b.WriteByte('}')
	case *ir.List:
		b.WriteByte('[')
		for i, x := range v.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, x)
		}
		b.WriteByte(']')
	case *ir.Scalar:
		switch v.Tag {
		case "!!null":
			b.WriteString("null")
		case "!!int", "!!float", "!!bool":
			b.WriteString(v.Text.Value)
		default:
			writeText(b, v.Text.Value)
		}
	default:
		b.WriteString("null")
	}
}

func writeText(b *strings.Builder, s string) {
	text, err := json.Marshal(s)
	if err != nil {
		text = []byte(`""`)
	}
	b.Write(text)
}
