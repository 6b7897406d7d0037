package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Blobs keeps what is too large for an output (Agent Tools 5.4). It is safe for concurrent use. Package blob has one.
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

// WithBlobs gives outputs beyond MaxOutput a place to be kept whole. Without one they are POLICY_DENIED. With one, text
// and values of type Value are cut: text is then its beginning, any other Value is replaced by the map
// {truncated, preview, url, content_type, bytes}. The envelope says truncated, and has the whole as an attachment
// (Agent Tools 5.4). Typed outputs stay denied: a part of a struct or list would be another one.
func WithBlobs(b Blobs) Option { return func(rt *Runtime) { rt.blobs = b } }

// MaxBlob is the largest blob that a call may write: 64 MiB.
const MaxBlob = 64 << 20

// CanSpill reports whether the running tool may call Spill.
func CanSpill(ctx context.Context) bool {
	c := callOf(ctx)
	if c == nil {
		return false
	}
	r, _ := c.place()
	return r.state.rt.blobs != nil
}

// Spill keeps the whole of an output that the running tool gives back only the beginning of: it reads whole to its end, at
// most MaxBlob bytes, takes out secrets, and attaches it to the call, whose envelope says truncated.
func Spill(ctx context.Context, whole io.Reader, contentType string) error {
	c := callOf(ctx)
	if c == nil || !CanSpill(ctx) {
		return Errorf(PolicyDenied, "there is no store for large outputs")
	}
	r, _ := c.place()
	a, err := r.spill(ctx, whole, contentType)
	if err != nil {
		return err
	}
	if err := Attach(ctx, a); err != nil {
		return err
	}
	attaching.Lock()
	defer attaching.Unlock()
	c.Head().beside().Truncated = true
	return nil
}

func (r *Run) spill(ctx context.Context, whole io.Reader, contentType string) (Attachment, error) {
	blob, err := r.state.rt.blobs.Create(ctx, r.state.tenant, contentType)
	if err != nil {
		return Attachment{}, noBlob(ctx, err)
	}
	n := &counted{w: blob}
	clean := r.state.rt.redactor.Load().Writer(n)
	read, err := io.Copy(clean, io.LimitReader(whole, MaxBlob+1))
	if err = errors.Join(err, clean.Close()); err != nil || read > MaxBlob {
		blob.Abort()
		if err == nil {
			return Attachment{}, Errorf(PolicyDenied, "output has more than %d bytes, which is the most that is kept", MaxBlob)
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
	if te := toolError(err); te != nil {
		return te
	}
	return Errorf(PolicyDenied, "output is too large and cannot be kept: %v", err)
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

// truncate cuts an output whose JSON is larger than limit, and keeps the whole. ptr points to the output. It is false
// when there is no store, or the output is of a type that cannot be cut.
func (r *Run) truncate(ctx context.Context, h *Head, ptr any, limit int) (bool, error) {
	if r.state.rt.blobs == nil {
		return false, nil
	}
	var whole []byte
	kind := "application/json"
	text, isText := ptr.(*string)
	value, isValue := ptr.(*Value)
	switch {
	case isText:
		whole, kind = []byte(*text), "text/plain; charset=utf-8"
	case isValue && value.Kind() == StringKind:
		whole, kind = []byte(value.text), "text/plain; charset=utf-8"
	case isValue:
		b, err := value.MarshalJSON() // without the escapes for HTML
		if err != nil {
			return false, nil
		}
		whole = b
	default:
		return false, nil
	}
	a, err := r.spill(ctx, bytes.NewReader(whole), kind)
	if err != nil {
		return false, err
	}
	switch {
	case isText:
		*text = beginning(*text, limit)
	case value.Kind() == StringKind:
		*value = StringValue(beginning(value.text, limit))
	default:
		short := func(preview string) Value {
			return MapValue(Entry{"truncated", BoolValue(true)}, Entry{"preview", StringValue(preview)}, Entry{"url", StringValue(a.URL)},
				Entry{"content_type", StringValue(kind)}, Entry{"bytes", IntValue(a.Bytes)})
		}
		frame, err := json.Marshal(short(""))
		if err != nil || len(frame) > limit {
			return false, nil // not even that fits
		}
		*value = short(beginning(string(whole), limit-len(frame)+2))
	}
	attaching.Lock()
	defer attaching.Unlock()
	b := h.beside()
	b.Truncated, b.Attachments = true, append(b.Attachments, a)
	return true, nil
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
