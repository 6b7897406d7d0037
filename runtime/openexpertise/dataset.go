package openexpertise

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/js"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxDataset bounds a file of records in bytes.
const maxDataset = 64 << 20

// File makes a tool of a file of records: an array of JSON, a JSON value on each line (jsonl), or CSV with a header, whose
// cells stay text. Files in Parquet are not read, as in the engine. A relative name is looked for as Place says.
func File(name, uri, format string) *flow.Tool[struct{}, value.Value] {
	return flow.Bind(name, flow.Reads, func(context.Context, struct{}) (value.Value, error) {
		data, err := readFile(uri)
		if err != nil {
			return value.Value{}, err
		}
		return records(uri, format, data)
	}, tool.Cancellable(), flow.MaxOutput(-1))
}

// Place is where a file that an experience names is: a relative name is looked for next to the workflow file when flowgen
// runs it, and else in the working directory. The error is that there is no such file.
func Place(uri string) (string, error) {
	name := filepath.FromSlash(uri)
	if !filepath.IsAbs(name) {
		if wf := os.Getenv("FLOWGEN_FILE"); wf != "" {
			name = filepath.Join(filepath.Dir(wf), name)
		}
	}
	st, err := os.Stat(name)
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a file")
	}
	if err != nil {
		return "", value.Errorf(value.ValidationError, "dataset %s cannot be read: %v", uri, cause(err))
	}
	return name, nil
}

// A RecordsFile is a file that Records reads.
type RecordsFile struct {
	URI    string `json:"uri"`
	Format string `json:"format" flow:"enum=json|jsonl|csv|parquet"` // parquet: the call fails and says what to do instead
}

// Records reads a file as File does, for the native language, in which it is a tool like any other:
// `go: github.com/flowgen-dev/flowgen/runtime/openexpertise.Records`.
func Records(_ context.Context, in RecordsFile) ([]value.Value, error) {
	data, err := readFile(in.URI)
	if err != nil {
		return nil, err
	}
	v, err := records(in.URI, in.Format, data)
	if err != nil {
		return nil, err
	}
	items, _ := dynamic.Of(v).Items()
	return items, nil
}

func readFile(uri string) ([]byte, error) {
	name, err := Place(uri)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, value.Errorf(value.ValidationError, "dataset %s cannot be read: %v", uri, cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDataset+1))
	switch {
	case err != nil:
		return nil, value.Errorf(value.Unknown, "dataset %s cannot be read: %v", uri, cause(err))
	case len(data) > maxDataset:
		return nil, value.Errorf(value.ValidationError, "dataset %s is larger than %d MiB", uri, maxDataset>>20)
	}
	return data, nil
}

// cause is an error of a file without its name.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func records(uri, format string, data []byte) (value.Value, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch format {
	case "parquet":
		return value.Value{}, value.Errorf(value.ValidationError, "dataset %s: Parquet is not read: convert the file to JSON Lines", uri)
	case "csv":
		return csvRecords(uri, data)
	case "jsonl":
		return lineRecords(uri, data)
	}
	v, err := js.Parse(data)
	if err != nil {
		return v, value.Errorf(value.ValidationError, "dataset %s is not JSON: %v", uri, err)
	}
	if v.Kind() != value.ListKind {
		return v, value.Errorf(value.ValidationError, "dataset %s is not an array", uri)
	}
	return v, nil
}

func lineRecords(uri string, data []byte) (value.Value, error) {
	var items []value.Value
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxDataset)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		v, err := js.Parse(line)
		if err != nil {
			return v, value.Errorf(value.ValidationError, "dataset %s, line %d is not JSON: %v", uri, n, err)
		}
		items = append(items, v)
	}
	return value.List(items...), lines.Err()
}

func csvRecords(uri string, data []byte) (value.Value, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return value.List(), nil
	}
	var items []value.Value
	for err == nil {
		var row []string
		if row, err = r.Read(); err != nil {
			break
		}
		entries := make([]value.Entry, 0, len(header))
		for i, name := range header {
			if i < len(row) {
				entries = append(entries, value.Entry{Key: name, Value: value.String(row[i])})
			}
		}
		items = append(items, value.Map(entries...))
	}
	if !errors.Is(err, io.EOF) {
		return value.Value{}, value.Errorf(value.ValidationError, "dataset %s is not CSV: %v", uri, err)
	}
	return value.List(items...), nil
}

// Dataset runs a dataset node: its records become the value of one field.
func (f *Flow) Dataset(r *flow.Run, n *flow.Node, t *flow.Tool[struct{}, value.Value], p Policy, into string) (Ended, error) {
	return f.run(r, n, p, func() (result, error) {
		rows, err := flow.Call(r, n, t, struct{}{})
		if err != nil {
			return result{}, err
		}
		return result{delta: dynamic.Object(dynamic.Put(into, dynamic.Of(rows))).Value()}, nil
	})
}

// Response runs a dataset node whose records are what a server answered, read by rows: Array or Wrapped.
func (f *Flow) Response(r *flow.Run, n *flow.Node, t *flow.Tool[struct{}, string], p Policy, into string, rows func(text string) (value.Value, error)) (Ended, error) {
	return f.run(r, n, p, func() (result, error) {
		text, err := flow.Call(r, n, t, struct{}{})
		if err != nil {
			return result{}, err
		}
		v, err := rows(text)
		if err != nil {
			return result{}, err
		}
		return result{delta: dynamic.Object(dynamic.Put(into, dynamic.Of(v))).Value()}, nil
	})
}

// Array is an answer that has to be an array.
func Array(text string) (value.Value, error) {
	v, err := js.Parse([]byte(text))
	switch {
	case err != nil:
		return v, value.Errorf(value.ValidationError, "the answer is not JSON: %v", err)
	case v.Kind() != value.ListKind:
		return v, value.Errorf(value.ValidationError, "the answer is %s, and not an array", kind(v))
	}
	return v, nil
}

// Wrapped is an answer that is the one item of an array when it is none.
func Wrapped(text string) (value.Value, error) {
	v, err := js.Parse([]byte(text))
	switch {
	case err != nil:
		return v, value.Errorf(value.ValidationError, "the answer is not JSON: %v", err)
	case v.Kind() == value.ListKind:
		return v, nil
	}
	return value.List(v), nil
}
