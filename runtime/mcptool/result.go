package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
)

// block is what all kinds of content have.
type block struct {
	Type string  `json:"type"`
	Text *string `json:"text"`
}

// maxLinks is how many resources of a result are kept beside it.
const maxLinks = 100

// attach puts what a result only points at beside it: links to resources, and resources by their address.
func (c *call) attach(ctx context.Context) error {
	n := 0
	for _, raw := range c.result.Content {
		var b struct {
			Type string `json:"type"`
			link
			Resource link `json:"resource"`
		}
		if json.Unmarshal(raw, &b) != nil {
			continue
		}
		l := b.link
		switch b.Type {
		case "resource":
			l = b.Resource
		case "resource_link":
		default:
			continue
		}
		if n++; n > maxLinks {
			break
		}
		a := runtime.Attachment{Kind: "blob", URL: l.URI, ContentType: l.MIMEType, Bytes: l.Size}
		if strings.HasPrefix(l.MIMEType, "image/") {
			a.Kind = "image"
		}
		if err := runtime.Attach(ctx, a); err != nil {
			return c.invalid("a resource that cannot be kept: " + shown(err.Error()))
		}
	}
	return nil
}

// link is a resource of a server.
type link struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Size     int64  `json:"size"`
}

func (c *call) blocks() []block {
	out := make([]block, len(c.result.Content))
	for i, raw := range c.result.Content {
		if json.Unmarshal(raw, &out[i]) != nil {
			out[i] = block{Type: "unknown"}
		}
	}
	return out
}

// texts are the blocks of text.
func (c *call) texts() []string {
	var out []string
	for _, b := range c.blocks() {
		if b.Type == "text" && b.Text != nil {
			out = append(out, *b.Text)
		}
	}
	return out
}

func (c *call) allow(bytes int) error {
	if bytes <= c.pin.MaxOutput {
		return nil
	}
	return c.server.fault(runtime.PolicyDenied, c.name()+" answered with more than the bytes allowed",
		runtime.Entry{Key: "max_output", Value: runtime.IntValue(int64(c.pin.MaxOutput))})
}

func (c *call) invalid(why string) error {
	return c.server.fault(runtime.ValidationError, c.name()+" answered with "+why)
}

func (c *call) structured() []byte {
	if raw := c.result.Structured; len(raw) > 0 && string(raw) != "null" {
		return raw
	}
	return nil
}

func text(c *call) (string, error) {
	texts := c.texts()
	if texts == nil {
		if kinds := c.kinds(); kinds != "" {
			return "", c.invalid(kinds + ", and text is expected")
		}
		if c.structured() != nil {
			return "", c.invalid("structured content only, and text is expected")
		}
		return "", nil // a tool may have nothing to say
	}
	out := strings.Join(texts, "\n")
	return out, c.allow(len(out))
}

// kinds are the kinds of the blocks that are not text.
func (c *call) kinds() string {
	var out []string
	for _, b := range c.blocks() {
		if b.Type != "text" {
			out = append(out, shown(b.Type))
		}
	}
	return clip(strings.Join(out, ", "), nameRunes)
}

func decode[Out any](c *call) (out Out, err error) {
	data := c.structured()
	if data == nil {
		texts := c.texts()
		if len(texts) != 1 {
			return out, c.invalid("neither structured content nor one block of text that is JSON")
		}
		data = []byte(texts[0])
	}
	if err := c.allow(len(data)); err != nil {
		return out, err
	}
	if c.pin.Open {
		err = runtime.DecodeKnown(data, &out)
	} else {
		err = runtime.Decode(data, &out)
	}
	return out, c.unreadable(err)
}

func dynamic(c *call) (runtime.Value, error) {
	data := c.structured()
	if data == nil {
		blocks := c.blocks()
		if len(blocks) == 1 && blocks[0].Type == "text" && blocks[0].Text != nil {
			return runtime.StringValue(*blocks[0].Text), c.allow(len(*blocks[0].Text))
		}
		data, _ = json.Marshal(c.result.Content) // raw messages that came out of a decoder
	}
	if err := c.allow(len(data)); err != nil {
		return runtime.Null(), err
	}
	if string(data) == "null" { // no content at all
		return runtime.ListValue(), nil
	}
	v, err := runtime.ParseValue(data)
	return v, c.unreadable(err)
}

// unreadable says whose result it is that the decoder complains about.
func (c *call) unreadable(err error) error {
	if err == nil {
		return nil
	}
	var te *runtime.ToolError
	if !errors.As(err, &te) {
		return c.invalid(shown(err.Error()))
	}
	e := *te
	e.Message = "result of " + c.name() + ": " + c.session.redact(e.Message)
	e.Details = c.server.details()
	return &e
}
