package httptool

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Body is the body of a request with its content type. A Content-Type header of
// the request counts instead.
type Body struct {
	kind string
	data []byte
	text string // in place of data
	err  error
}

// TextBody is text in UTF-8.
func TextBody(text string) Body {
	return Body{kind: "text/plain; charset=utf-8", text: text}
}

// JSONBody is the JSON of a value of a journalled type. A value that has none
// fails the call with VALIDATION_ERROR.
func JSONBody(v any) Body {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return Body{err: value.Invalid("the body: %s", plain.Line(err.Error(), 200))}
	}
	return Body{kind: "application/json", data: bytes.TrimSuffix(buf.Bytes(), []byte("\n"))}
}

// FormBody is an HTML form's URL-encoded fields.
func FormBody(fields ...Field) Body {
	b := []byte{}
	for i, f := range fields {
		if i > 0 {
			b = append(b, '&')
		}
		b = append(escape(b, f.Name, false), '=')
		b = escape(b, f.Value, false)
	}
	return Body{kind: "application/x-www-form-urlencoded", data: b}
}

// reader returns the body from its beginning, nil when there is none.
func (b *Body) reader() io.Reader {
	switch {
	case b.data == nil && b.kind == "":
		return nil
	case b.data == nil:
		return strings.NewReader(b.text)
	}
	return bytes.NewReader(b.data)
}
