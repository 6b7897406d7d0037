package bind

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A jsonReader reads JSON that is in a file as values of the workflow. Each has the place of its own token, so that
// mistakes point there and their fixes change nothing else; the quotes of a text are not part of its place.
type jsonReader struct {
	dec  *json.Decoder
	text string
	at   source.Span // of the text
}

// newJSONReader reads text, which is valid JSON and ends where at does.
func newJSONReader(at source.Span, text string) *jsonReader {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return &jsonReader{dec: dec, text: text, at: source.Span{File: at.File, Lo: at.Hi - len(text), Hi: at.Hi}}
}

// token is the next token and its place.
func (r *jsonReader) token() (json.Token, source.Span, error) {
	lo := int(r.dec.InputOffset())
	token, err := r.dec.Token()
	hi := int(r.dec.InputOffset())
	for lo < hi && strings.IndexByte(" \t\r\n,:", r.text[lo]) >= 0 { // what lies between two tokens
		lo++
	}
	if _, ok := token.(string); ok && hi-lo >= 2 {
		lo, hi = lo+1, hi-1
	}
	return token, source.Span{File: r.at.File, Lo: r.at.Lo + lo, Hi: r.at.Lo + hi}, err
}

// value is the next value, with all that is in it.
func (r *jsonReader) value() ir.Value {
	token, at, err := r.token()
	scalar := func(text, tag string) ir.Value {
		return &ir.Scalar{Text: source.Text{Value: text, Span: at, Opaque: true}, Tag: tag}
	}
	if err != nil {
		return scalar("null", "!!null") // not reached: the JSON is valid
	}
	switch v := token.(type) {
	case json.Delim:
		return r.nested(v, at)
	case bool:
		return scalar(strconv.FormatBool(v), "!!bool")
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return scalar(v.String(), "!!float")
		}
		return scalar(v.String(), "!!int")
	case string:
		return scalar(v, "!!str")
	}
	return scalar("null", "!!null")
}

// nested is the rest of a list or an object that has begun.
func (r *jsonReader) nested(open json.Delim, at source.Span) ir.Value {
	if open == '[' {
		list := &ir.List{}
		for r.dec.More() {
			list.Items = append(list.Items, r.value())
		}
		list.Span = r.closed(at)
		return list
	}
	o := &ir.Object{}
	for r.dec.More() {
		token, key, _ := r.token()
		name, _ := token.(string)
		o.Entries = append(o.Entries, &ir.Entry{Key: ir.Ident{Name: name, Span: key}, Value: r.value()})
	}
	o.Span = r.closed(at)
	return o
}

// closed is the place of what began at open and ends with the next token.
func (r *jsonReader) closed(open source.Span) source.Span {
	_, end, _ := r.token()
	return source.Span{File: open.File, Lo: open.Lo, Hi: end.Hi}
}
