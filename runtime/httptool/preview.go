package httptool

import (
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Response is a response in the shape that people and models read: what it is,
// its beginning as text, and the document when it is JSON.
type Response struct {
	Status      int64       `json:"status"`
	URL         string      `json:"url"`          // after redirects, without its query
	ContentType string      `json:"content_type"` // without parameters
	Title       string      `json:"title"`        // of an HTML page
	Text        string      `json:"text"`         // HTML without markup; empty for what is no text
	JSON        value.Value `json:"json"`         // null when it is not JSON, or not whole
	Bytes       int64       `json:"bytes"`        // of the body, decompressed, as far as it was read
	Truncated   bool        `json:"truncated"`    // there is more text than Text holds
}

// Preview binds a request whose result describes the response and holds its
// beginning, whatever it is: JSON, text, HTML as text, or something else. Text
// has at most PreviewBytes bytes, and Truncated says when there was more; the
// body itself is read up to MaxOutput.
func Preview[In any](name string, e flow.Effects, f func(In) Request, o ...Option) *flow.Tool[In, Response] {
	return bind(name, e, f, nil, o, (*exchange).describe)
}

func (x *exchange) describe() (Response, error) {
	kind, charset := x.contentType()
	r := Response{Status: int64(x.resp.StatusCode), URL: x.address(), ContentType: clip(kind, 100)}
	data, cut, err := x.body(x.maxOutput)
	if err != nil {
		return Response{}, err
	}
	r.Bytes, r.Truncated = int64(len(data)), cut
	if cut {
		data = wholeRunes(data)
	}
	data, err = x.utf8(data, charset)
	if err != nil {
		return r, nil // no text that can be shown
	}
	text := string(data)
	switch {
	case isHTML(kind):
		r.Title, text = htmlText(text)
		r.Title = clip(r.Title, 300)
	case isJSON(kind) && !cut:
		if r.JSON, err = value.Parse(data); err != nil {
			return Response{}, x.invalid("is not valid JSON: " + reason(err))
		}
	}
	r.Text = clip(text, x.config.preview)
	r.Truncated = cut || len(r.Text) < len(text)
	return r, nil
}

// wholeRunes takes the part of a character off the end of a text that was cut.
func wholeRunes(data []byte) []byte {
	for n := 1; n <= 3 && n <= len(data); n++ {
		c := data[len(data)-n]
		if c < 0x80 {
			break
		}
		if c >= 0xC0 {
			return data[:len(data)-n]
		}
	}
	return data
}
