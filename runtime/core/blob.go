package core

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Blobs stores outputs that exceed MaxOutput (Agent Tools 5.4). It is safe for concurrent use. Package blob has an
// implementation.
type Blobs interface {
	// Create begins a blob of a tenant, which may be empty.
	Create(ctx context.Context, tenant, contentType string) (Blob, error)
}

// Blob is a blob that is being written, by one goroutine. Either Commit or Abort ends it.
type Blob interface {
	io.Writer
	// Commit keeps the blob and returns the URL under which the tenant finds it.
	Commit() (url string, err error)
	// Abort forgets it.
	Abort()
}

// WithBlobs stores outputs beyond MaxOutput in full, in place of the store that an engine may have. Text and values of
// type Value are truncated: text to its beginning; any other Value is replaced by the map {truncated, preview, url,
// content_type, bytes}. The envelope has truncated and an attachment with the full output (Agent Tools 5.4), and
// observers receive a warning that names it. Without a store there is no attachment and no url. Typed outputs are
// POLICY_DENIED, because a part of a struct or list would be a different value; the envelope of their call has the
// attachment.
func WithBlobs(b Blobs) Option { return func(rt *Runtime) { rt.blobs = b } }

// MaxBlob is the largest blob that a call may write: 64 MiB.
const MaxBlob = 64 << 20

// CanSpill reports whether there is a store for Spill.
func CanSpill(ctx context.Context) bool {
	c := callOf(ctx)
	if c == nil {
		return false
	}
	r, _ := c.place()
	return r.state.blobs != nil
}

// Spill keeps the whole of an output that the running tool gives back only the beginning of: it reads whole to its end, at
// most MaxBlob bytes, takes out secrets, and attaches it to the call, whose envelope says truncated. Without a store the
// envelope says so, and nothing is read.
func Spill(ctx context.Context, whole io.Reader, contentType string) error {
	c := callOf(ctx)
	if c == nil {
		return value.Errorf(value.PolicyDenied, "no store for large outputs is configured")
	}
	r, _ := c.place()
	if r.state.blobs == nil {
		r.cut(c.Head(), Attachment{})
		return nil
	}
	a, err := r.spill(ctx, whole, contentType)
	if err != nil {
		return err
	}
	r.cut(c.Head(), a)
	return nil
}

func (r *Run) spill(ctx context.Context, whole io.Reader, contentType string) (Attachment, error) {
	blob, err := r.state.blobs.Create(ctx, r.state.tenant, contentType)
	if err != nil {
		return Attachment{}, noBlob(ctx, err)
	}
	n := &counted{w: blob}
	clean := r.state.rt.redactor.Load().Writer(n)
	read, err := io.Copy(clean, io.LimitReader(whole, MaxBlob+1))
	if err = errors.Join(err, clean.Close()); err != nil || read > MaxBlob {
		blob.Abort()
		if err == nil {
			return Attachment{}, value.Errorf(value.PolicyDenied, "output has more than %d bytes, the maximum that is stored", MaxBlob)
		}
		return Attachment{}, noBlob(ctx, err)
	}
	url, err := blob.Commit()
	if err != nil {
		return Attachment{}, noBlob(ctx, err)
	}
	return Attachment{Kind: "blob", URL: url, ContentType: contentType, Bytes: n.n}, nil
}

// noBlob is the error of an output that could not be kept: of the caller who has given up, of a tool error, or of the store.
func noBlob(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if te := value.ToolErrorOf(err); te != nil {
		return te
	}
	return value.Errorf(value.PolicyDenied, "output is too large and cannot be kept: %v", err)
}

type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// whole is spill for a run that may have no store: then nothing is kept, and the attachment has no URL.
func (r *Run) whole(ctx context.Context, content io.Reader, bytes int, contentType string) (Attachment, error) {
	if r.state.blobs == nil {
		return Attachment{Kind: "blob", ContentType: contentType, Bytes: int64(bytes)}, nil
	}
	return r.spill(ctx, content, contentType)
}

// truncate cuts an output whose JSON is larger than limit, and keeps the whole. ptr points to the output. It is false
// when the output is of a type that cannot be cut.
func (r *Run) truncate(ctx context.Context, h *Head, ptr any, limit int) (cut bool, err error) {
	switch out := ptr.(type) {
	case *string:
		*out, err = r.cutText(ctx, h, *out, limit)
		return true, err
	case *value.Value:
		if out.Kind() == value.StringKind {
			text, err := r.cutText(ctx, h, out.String(), limit)
			*out = value.String(text)
			return true, err
		}
		whole, err := out.MarshalJSON() // without the escapes for HTML
		if err != nil {
			return false, nil
		}
		*out, err = r.cutJSON(ctx, h, whole, limit)
		return true, err
	}
	return false, nil
}

// cutText keeps the whole of a text and returns its beginning, whose JSON has at most limit bytes.
func (r *Run) cutText(ctx context.Context, h *Head, whole string, limit int) (string, error) {
	a, err := r.whole(ctx, strings.NewReader(whole), len(whole), "text/plain; charset=utf-8")
	if err != nil {
		return "", err
	}
	r.cut(h, a)
	return beginning(r.state.rt.redactor.Load().Text(whole), limit), nil
}

// cutJSON keeps the whole of a document and returns what stands for it, whose JSON has at most limit bytes.
func (r *Run) cutJSON(ctx context.Context, h *Head, whole []byte, limit int) (value.Value, error) {
	const kind = "application/json"
	a, err := r.whole(ctx, bytes.NewReader(whole), len(whole), kind)
	if err != nil {
		return value.Null(), err
	}
	short := func(preview string) value.Value {
		entries := []value.Entry{{Key: "truncated", Value: value.Bool(true)}, {Key: "preview", Value: value.String(preview)}, {Key: "url", Value: value.String(a.URL)},
			{Key: "content_type", Value: value.String(kind)}, {Key: "bytes", Value: value.Int(a.Bytes)}}
		if a.URL == "" {
			entries = slices.Delete(entries, 2, 3)
		}
		return value.Map(entries...)
	}
	frame, err := json.Marshal(short(""))
	if err != nil || len(frame) > limit {
		return value.Null(), tooLarge(h, len(whole), limit) // not even that fits
	}
	r.cut(h, a)
	return short(beginning(r.state.rt.redactor.Load().Text(string(whole)), limit-len(frame)+2)), nil
}

// refuseLarge is the error of an output that cannot be cut. The whole is kept.
func (r *Run) refuseLarge(ctx context.Context, h *Head, whole []byte, limit int) error {
	te := tooLarge(h, len(whole), limit)
	if r.state.blobs == nil {
		return te
	}
	kind := "application/json"
	if !json.Valid(whole) {
		kind = "text/plain; charset=utf-8"
	}
	a, err := r.spill(ctx, bytes.NewReader(whole), kind)
	if err != nil {
		return err
	}
	r.attached(h, a, false)
	return te
}

// attached notes what belongs to the output of a call; cut says that the output is a part of it.
func (r *Run) attached(h *Head, a Attachment, cut bool) {
	attaching.Lock()
	defer attaching.Unlock()
	b := h.metadata()
	b.Truncated = b.Truncated || cut
	if a.URL != "" {
		b.Attachments = append(b.Attachments, a)
	}
}

// cut notes that the output of a call is only a part of a.
func (r *Run) cut(h *Head, a Attachment) {
	r.attached(h, a, true)
	if !r.observed() {
		return
	}
	where := "the rest is not stored"
	if a.URL != "" {
		where = "all of it is " + a.URL
	}
	r.emit(Event{Kind: Warning, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: r.Now(), Message: "the output of " + h.Tool + " is cut; " + where})
}

func tooLarge(h *Head, bytes, limit int) *value.ToolError {
	name, _ := SplitTool(h.Tool)
	te := value.Errorf(value.PolicyDenied, "output has %d bytes, at most %d are allowed: raise max_output of %s", bytes, limit, name)
	te.Details = value.Map(value.Entry{Key: "max_output", Value: value.Int(int64(limit))})
	return te
}

// Room is how many bytes the output of the running tool may have so that Cut or Beginning take it: limit, or MaxBlob
// where outputs of type Out can be cut, or the run has a store.
func Room[Out any](ctx context.Context, limit int) int {
	switch any((*Out)(nil)).(type) {
	case *string, *value.Value:
		if callOf(ctx) != nil {
			return max(limit, MaxBlob)
		}
	}
	if CanSpill(ctx) {
		return max(limit, MaxBlob)
	}
	return limit
}

// Cut is Decode for the output of the running tool: of data that has more than limit bytes it keeps the whole in the
// store of the run, as WithBlobs describes. It is for data within Room.
func Cut[Out any](ctx context.Context, data []byte, limit int, out *Out) error {
	if len(data) <= limit {
		return value.Decode(data, out)
	}
	c := callOf(ctx)
	if c == nil {
		return tooLarge(&Head{}, len(data), limit)
	}
	r, _ := c.place()
	text, isText := any(out).(*string)
	v, isValue := any(out).(*value.Value)
	if !isText && !isValue {
		return r.refuseLarge(ctx, c.Head(), data, limit)
	}
	if isValue && data[0] != '"' { // it is not decoded: values take many times as much as their text
		if !json.Valid(data) {
			return value.Decode(data, out)
		}
		cut, err := r.cutJSON(ctx, c.Head(), data, limit)
		*v = cut
		return err
	}
	var whole string
	if err := value.Decode(data, &whole); err != nil {
		return err
	}
	begin, err := r.cutText(ctx, c.Head(), whole, limit)
	if isText {
		*text = begin
	} else {
		*v = value.String(begin)
	}
	return err
}

// Beginning returns text if it has at most limit bytes, and else what Cut makes of it. It is for text within Room.
func Beginning(ctx context.Context, text string, limit int) (string, error) {
	if len(text) <= limit {
		return text, nil
	}
	c := callOf(ctx)
	if c == nil {
		return "", tooLarge(&Head{}, len(text), limit)
	}
	r, _ := c.place()
	return r.cutText(ctx, c.Head(), text, limit)
}

// beginning is the longest beginning of s, of whole characters, whose JSON has at most limit bytes.
func beginning(s string, limit int) string {
	size := 2 // the quotes
	for i, c := range s {
		n := utf8.RuneLen(c)
		if c < ' ' || strings.ContainsRune("\"\\<>&\u2028\u2029\x7f", c) || n < 0 || c == utf8.RuneError {
			n = 6 // the longest escape
		}
		if size += n; size > limit {
			return s[:i]
		}
	}
	return s
}
