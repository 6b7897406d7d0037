package httptool

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	// slack is what a compressed body may be larger than the cap: gzip can make data that does not compress larger.
	slack = 64 << 10

	// drained is how much of a body that nobody wants is read so that the connection can be used again.
	drained = 64 << 10

	// patience is how long a body that nobody needs is waited for.
	patience = 2 * time.Second

	// keptBuffer is the largest buffer that is kept for the next call.
	keptBuffer = 256 << 10
)

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func putBuffer(b *[]byte) {
	if cap(*b) <= keptBuffer {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

var gzips sync.Pool

// wire counts and bounds what comes in, and remembers why it ended.
type wire struct {
	body io.Reader
	left int64
	over bool
	err  error // other than io.EOF
}

func (w *wire) Read(p []byte) (int, error) {
	if w.left <= 0 {
		// At the cap exactly there may be nothing more.
		var one [1]byte
		n, err := w.body.Read(one[:])
		if n == 0 {
			return 0, w.ended(err)
		}
		w.over = true
		return 0, io.EOF
	}
	n, err := w.body.Read(p[:min(int64(len(p)), w.left)])
	w.left -= int64(n)
	return n, w.ended(err)
}

func (w *wire) ended(err error) error {
	if err != nil && err != io.EOF {
		w.err = err
	}
	return err
}

// body reads the response's body, at most limit bytes of it. cut says that there was more.
func (x *exchange) body(limit int64) (data []byte, cut bool, err error) {
	gzipped, err := x.encoding()
	if err != nil {
		return nil, false, err
	}
	x.wire = wire{body: x.resp.Body, left: limit}
	w := &x.wire
	if x.spills {
		w.left = runtime.MaxBlob + 1 // so that one which is larger still can be told
	}
	var r io.Reader = w
	if gzipped {
		w.left += slack
		z, err := x.unzip(w)
		if z == nil {
			return nil, w.over, err
		}
		defer gzips.Put(z)
		r = z
	}
	x.buf = buffers.Get().(*[]byte)
	data, err = fill(*x.buf, r, limit)
	*x.buf = data
	if cut = int64(len(data)) > limit; cut {
		if x.spills && w.err == nil {
			err = x.spill(io.MultiReader(bytes.NewReader(data), r))
		}
		data = data[:limit]
	}
	switch {
	case x.spills && cut && w.err == nil:
		return data, true, err
	case w.err != nil:
		return data, false, x.failed(w.err)
	case w.over:
		return data, true, nil
	case err != nil && !cut:
		return data, false, x.invalid("is not valid gzip data")
	}
	return data, cut, nil
}

// fill appends what r has to b, until it ends or there are more than limit bytes.
func fill(b []byte, r io.Reader, limit int64) ([]byte, error) {
	for {
		if int64(len(b)) > limit {
			return b, nil
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// encoding says whether the body is compressed.
func (x *exchange) encoding() (bool, error) {
	values := x.resp.Header["Content-Encoding"]
	if len(values) == 0 {
		return false, nil
	}
	switch e := strings.ToLower(strings.TrimSpace(strings.Join(values, ","))); e {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	default:
		return false, x.invalid("is encoded as " + plain.Line(e, 64) + ", which was not asked for")
	}
}

// unzip returns a reader of what w holds compressed; nil without an error when w is empty.
func (x *exchange) unzip(w *wire) (*gzip.Reader, error) {
	z, _ := gzips.Get().(*gzip.Reader)
	var err error
	before := w.left
	if z == nil {
		z, err = gzip.NewReader(w)
	} else {
		err = z.Reset(w)
	}
	switch {
	case err == nil:
		return z, nil
	case w.err != nil:
		return nil, x.failed(w.err)
	case err == io.EOF && w.left == before: // the answer to HEAD, or nothing to say
		return nil, nil
	}
	return nil, x.invalid("is not valid gzip data")
}

// whole reads the body and refuses one that is larger than most bytes.
func (x *exchange) whole(most int64) ([]byte, error) {
	if x.resp.ContentLength > most+slack {
		return nil, x.tooLarge() // need not be read to be known
	}
	data, cut, err := x.body(most)
	if err == nil && cut {
		err = x.tooLarge()
	}
	return data, err
}

// start returns the beginning of a body that is larger than the cap, and keeps the whole where there is a store.
func (x *exchange) start() ([]byte, error) {
	x.spills = tool.CanSpill(x.ctx)
	if x.resp.ContentLength > runtime.MaxBlob {
		return nil, x.tooLarge()
	}
	data, cut, err := x.body(x.maxOutput)
	if err != nil || !cut {
		return data, err
	}
	if !x.spills {
		if int64(len(data)) < x.maxOutput { // compressed data that never becomes anything
			return nil, x.tooLarge()
		}
		err = x.spill(nil)
	}
	return wholeRunes(data), err
}

// spill keeps the body, which the runtime attaches to the call.
func (x *exchange) spill(body io.Reader) error {
	kind, _ := x.contentType()
	err := tool.Spill(x.ctx, body, clip(kind, 100))
	if w := &x.wire; w.err != nil {
		return x.failed(w.err)
	}
	return err
}

func (x *exchange) tooLarge() error {
	e := value.Errorf(value.PolicyDenied, "the response of %s is larger than the %d bytes allowed: raise max_output", x.host(), x.maxOutput)
	e.Details = value.Map(value.Entry{Key: "max_output", Value: value.Int(x.maxOutput)})
	return e
}

// discard reads what is left of a body, when that is not much, so that its connection can serve another call.
func (x *exchange) discard() {
	if n := x.resp.ContentLength; n <= drained {
		defer x.hurry()()
		_, _ = io.CopyN(io.Discard, x.resp.Body, drained) // nobody wants it: that it ends early is not an error
	}
}

// hurry closes a body that is only nice to have when it does not come soon. The function it returns ends that.
func (x *exchange) hurry() func() bool {
	body := x.resp.Body
	return time.AfterFunc(patience, func() { _ = body.Close() }).Stop
}

func (x *exchange) drop() (struct{}, error) {
	x.discard()
	return struct{}{}, nil
}

func (x *exchange) text() (string, error) {
	data, err := x.start()
	if err != nil {
		return "", err
	}
	kind, charset := x.contentType()
	if data, err = x.utf8(data, charset); err != nil {
		return "", err
	}
	if x.html && isHTML(kind) {
		_, text := htmlText(string(data))
		return text, nil
	}
	return string(data), nil
}

func (x *exchange) any() (value.Value, error) {
	if x.resp.StatusCode == http.StatusNoContent {
		return value.Null(), nil
	}
	if kind, _ := x.contentType(); kind == "" || isJSON(kind) {
		return decode[value.Value](x)
	}
	text, err := x.text()
	return value.String(text), err
}

func decode[Out any](x *exchange) (out Out, err error) {
	limit := int(x.maxOutput)
	data, err := x.whole(int64(tool.Room[Out](x.ctx, limit)))
	if err != nil {
		return out, err
	}
	kind, charset := x.contentType()
	if data, err = x.utf8(data, charset); err != nil {
		return out, err
	}
	if len(data) == 0 {
		return out, x.invalid("is empty, JSON expected")
	}
	switch {
	case len(data) > limit:
		err = tool.Cut(x.ctx, data, limit, &out)
	case x.closed:
		err = value.Decode(data, &out)
	default:
		err = value.DecodeKnown(data, &out)
	}
	if err == nil {
		return out, nil
	}
	var te *value.ToolError
	if !errors.As(err, &te) {
		return out, x.invalid(plain.Line(x.redact(err.Error()), messageRunes))
	}
	e := *te
	e.Message = "response of " + x.host() + ": " + x.redact(e.Message)
	if !isJSON(kind) && kind != "" {
		e.Message += " (its content type is " + plain.Line(kind, 64) + ")"
	}
	return out, &e
}

// contentType returns the media type in lower case and the charset.
func (x *exchange) contentType() (kind, charset string) {
	h := x.resp.Header["Content-Type"]
	if len(h) == 0 {
		return "", ""
	}
	if h[0] == "application/json" { // what most responses say
		return h[0], ""
	}
	kind, params, err := mime.ParseMediaType(h[0])
	if err != nil {
		kind, _, _ = strings.Cut(h[0], ";")
		return strings.ToLower(strings.TrimSpace(kind)), ""
	}
	return kind, strings.ToLower(params["charset"])
}

func isJSON(kind string) bool {
	return kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "text/json"
}

func isHTML(kind string) bool { return kind == "text/html" || kind == "application/xhtml+xml" }

// utf8 returns the body in UTF-8, without a byte order mark.
func (x *exchange) utf8(data []byte, charset string) ([]byte, error) {
	switch charset {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
	case "iso-8859-1", "latin1", "latin-1":
		return latin1(data), nil
	default:
		return nil, x.invalid("is in charset " + plain.Line(charset, 64) + "; utf-8, us-ascii and iso-8859-1 can be read")
	}
	if !utf8.Valid(data) {
		return nil, x.invalid("is not UTF-8 text")
	}
	return bytes.TrimPrefix(data, []byte("\uFEFF")), nil
}

func latin1(data []byte) []byte {
	out := make([]byte, 0, len(data)+len(data)/8)
	for _, c := range data {
		out = utf8.AppendRune(out, rune(c))
	}
	return out
}

// invalid is the error of a response that is not what the tool declares.
func (x *exchange) invalid(why string) error {
	return value.Invalid("the response of %s %s", x.host(), why)
}
