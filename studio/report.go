package studio

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// ReportOptions say what of a run a report contains.
type ReportOptions struct {
	Version   string // of flowgen
	Full      bool   // inputs and outputs entirely; else the first 16 KiB of each
	NoContent bool   // the shapes of inputs and outputs, and no texts of errors and logs
}

// A report without Full is refused beyond this size.
const (
	maxReport = 50 << 20 // bytes
	excerpt   = 16 << 10 // bytes of a value
)

// ErrReportSize is the error of a report that would be too large to send.
var ErrReportSize = fmt.Errorf("the file would have more than %d MB", maxReport>>20)

// reportData is what the page reads in place of requests: web/report.ts has the same names.
type reportData struct {
	Version string   `json:"version"`
	Head    *runHead `json:"head"`
	Calls   *columns `json:"calls"`
	Graph   any      `json:"graph,omitempty"`
	Details []detail `json:"details"`
}

// detail is what calls in columns do not have of a call. The page makes one of aCall of both.
type detail struct {
	Effects     string            `json:"effects"`
	CallID      string            `json:"call_id"`
	Truncated   bool              `json:"truncated,omitempty"`
	Sandbox     string            `json:"sandbox,omitempty"`
	Cancelled   string            `json:"cancelled,omitempty"`
	Error       *value.ToolError  `json:"error,omitempty"`
	Stack       string            `json:"stack,omitempty"`
	Logs        string            `json:"logs,omitempty"`
	Attachments []tool.Attachment `json:"attachments,omitempty"`
	Input       *aValue           `json:"input,omitempty"`
	Output      *aValue           `json:"output,omitempty"`
}

// Report returns one run as a page that needs nothing else: its script, its style and its data are in it, and it loads nothing. It has
// what the journal has, which is redacted. The run is as it is now; one that is being executed is not followed.
func Report(folder *runs.Folder, id string, o ReportOptions) ([]byte, error) {
	reader, err := folder.Follow(id)
	if err != nil {
		return nil, err
	}
	damage := reader.All()
	if errors.Is(damage, runs.ErrNoRun) || damage != nil && len(reader.Calls()) == 0 && reader.Header().Workflow == "" {
		return nil, damage
	}
	s := &Server{opts: Options{Runs: folder}}
	data := &reportData{Version: o.Version, Head: s.headOf(reader, damage)}
	if p, err := s.graphOf(reader, []string{}); err == nil {
		data.Graph = p
	}
	if err := data.fill(reader, o); err != nil {
		return nil, err
	}
	return data.page(id, o)
}

// fill adds the calls.
func (d *reportData) fill(r *runs.Reader, o ReportOptions) error {
	all := make([]int, len(r.Calls()))
	for i := range all {
		all[i] = i
	}
	d.Calls = columnsOf(r, all)
	most := int64(excerpt)
	if o.Full {
		most = 1 << 40
	}
	size := 0
	for i := range all {
		rec, err := r.Record(i)
		if err != nil {
			return err
		}
		if o.NoContent {
			conceal(&rec)
		}
		c, err := callOf(r, i, rec, most)
		if err != nil {
			return err
		}
		one := detail{c.Effects, c.CallID, c.Truncated, c.Sandbox, c.Cancelled, c.Error, c.Stack, c.Logs, c.Attachments, c.Input, c.Output}
		if one.Input != nil {
			size += len(one.Input.Text)
		}
		if one.Output != nil {
			size += len(one.Output.Text)
		}
		if size > 20*maxReport { // it does not come below with gzip, and has to be kept in memory
			return ErrReportSize
		}
		d.Details = append(d.Details, one)
	}
	if o.NoContent {
		d.Head.Input, d.Head.Output, d.Head.Failure = shape(d.Head.Input), shape(d.Head.Output), ""
		for i := range d.Head.Waits {
			d.Head.Waits[i].Text, d.Head.Waits[i].Choices = "", nil
		}
	}
	return nil
}

// page puts the data into the page.
func (d *reportData) page(id string, o ReportOptions) ([]byte, error) {
	var packed bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	enc := json.NewEncoder(zip)
	enc.SetEscapeHTML(false)
	if err := errors.Join(enc.Encode(d), zip.Close()); err != nil {
		return nil, err
	}
	script, err := dist.ReadFile("dist/studio.js")
	if err != nil {
		return nil, err
	}
	style, err := dist.ReadFile("dist/studio.css")
	if err != nil {
		return nil, err
	}
	hash := func(text []byte) string {
		sum := sha256.Sum256(text)
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<link rel="icon" href="data:,">
<style>%s</style>
</head>
<body>
<div id="app"><noscript>The page needs JavaScript.</noscript></div>
<script type="text/plain" id="report" data-run="%[3]s">`, hash(script), hash(style), html.EscapeString(id), style)
	b64 := base64.NewEncoder(base64.StdEncoding, &out)
	_, _ = b64.Write(packed.Bytes()) // a buffer takes everything
	_ = b64.Close()
	fmt.Fprintf(&out, "</script>\n<script>%s</script>\n</body>\n</html>\n", script)
	if out.Len() > maxReport && !o.Full {
		return nil, ErrReportSize
	}
	return out.Bytes(), nil
}

// conceal leaves the shapes of what a call has received and returned.
func conceal(rec *journal.Record) {
	rec.Input, rec.Output, rec.Stack, rec.Logs, rec.Attachments = shape(rec.Input), shape(rec.Output), "", "", nil
	if rec.Error != nil {
		rec.Error = &value.ToolError{Code: rec.Error.Code}
	}
}

// shape replaces texts, numbers and truth values of JSON by their types. The names of fields stay.
func shape(text json.RawMessage) json.RawMessage {
	var v any
	if len(text) == 0 || json.Unmarshal(text, &v) != nil {
		return nil
	}
	out, _ := json.Marshal(shapeOf(v)) // made of JSON
	return out
}

func shapeOf(v any) any {
	switch v := v.(type) {
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case []any:
		for i := range v {
			v[i] = shapeOf(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = shapeOf(v[k])
		}
	}
	return v
}

// report answers with a run as a file.
func (s *Server) report(w http.ResponseWriter, r *http.Request) (any, error) {
	page, err := Report(s.opts.Runs, r.PathValue("id"), ReportOptions{Version: s.opts.Version})
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment; filename=run.html")
	_, err = io.Copy(w, bytes.NewReader(page))
	return nil, err
}
