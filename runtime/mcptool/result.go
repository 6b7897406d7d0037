package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// block is what all kinds of content have.
type block struct {
	Type string  `json:"type"`
	Text *string `json:"text"`
}

// maxLinks is how many resources of a result are kept next to it.
const maxLinks = 100

// attach puts what a result only points at next to it: links to resources, and resources by their address.
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
		a := tool.Attachment{Kind: "blob", URL: l.URI, ContentType: l.MIMEType, Bytes: l.Size}
		if strings.HasPrefix(l.MIMEType, "image/") {
			a.Kind = "image"
		}
		if err := tool.Attach(ctx, a); err != nil {
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

func (c *call) allow(bytes, most int) error {
	if bytes <= most {
		return nil
	}
	return c.server.fault(value.PolicyDenied, c.name()+" sent more bytes than allowed: raise max_output",
		value.Entry{Key: "max_output", Value: value.Int(int64(c.pin.MaxOutput))})
}

func (c *call) invalid(why string) error {
	return c.server.fault(value.ValidationError, c.name()+" answered with "+why)
}

func (c *call) structured() []byte {
	if raw := c.result.Structured; len(raw) > 0 && string(raw) != "null" {
		return raw
	}
	return nil
}

func text(ctx context.Context, c *call) (string, error) {
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
	return c.beginning(ctx, out)
}

// beginning is text, cut where that is possible.
func (c *call) beginning(ctx context.Context, text string) (string, error) {
	if err := c.allow(len(text), tool.Room[string](ctx, c.pin.MaxOutput)); err != nil {
		return "", err
	}
	return tool.Beginning(ctx, text, c.pin.MaxOutput)
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

func decode[Out any](ctx context.Context, c *call) (out Out, err error) {
	data := c.structured()
	if data == nil {
		texts := c.texts()
		if len(texts) != 1 {
			return out, c.invalid("neither structured content nor one block of text that is JSON")
		}
		data = []byte(texts[0])
	}
	if err := c.allow(len(data), tool.Room[Out](ctx, c.pin.MaxOutput)); err != nil {
		return out, err
	}
	switch {
	case len(data) > c.pin.MaxOutput:
		err = tool.Cut(ctx, data, c.pin.MaxOutput, &out)
	case c.pin.Open:
		err = value.DecodeKnown(data, &out)
	default:
		err = value.Decode(data, &out)
	}
	return out, c.unreadable(err)
}

func dynamic(ctx context.Context, c *call) (v value.Value, err error) {
	data := c.structured()
	if data == nil {
		blocks := c.blocks()
		if len(blocks) == 1 && blocks[0].Type == "text" && blocks[0].Text != nil {
			text, err := c.beginning(ctx, *blocks[0].Text)
			return value.String(text), err
		}
		data, _ = json.Marshal(c.result.Content) // raw messages that came out of a decoder
	}
	if err := c.allow(len(data), tool.Room[value.Value](ctx, c.pin.MaxOutput)); err != nil {
		return v, err
	}
	if string(data) == "null" { // no content at all
		return value.List(), nil
	}
	if err = tool.Cut(ctx, data, c.pin.MaxOutput, &v); err != nil {
		return v, c.unreadable(err)
	}
	return v, nil
}

// unreadable says whose result it is that the decoder complains about.
func (c *call) unreadable(err error) error {
	if err == nil {
		return nil
	}
	var te *value.ToolError
	if !errors.As(err, &te) {
		return c.invalid(shown(err.Error()))
	}
	e := *te
	e.Message = "result of " + c.name() + ": " + c.session.redactor.Text(e.Message)
	e.Details = c.server.details()
	return &e
}
