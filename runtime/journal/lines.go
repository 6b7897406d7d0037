package journal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime"
)

// MarshalText writes the journal as JSON Lines: the header, then the records in the order of key and attempt.
func (j *Journal) MarshalText() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(j.Header()); err != nil {
		return nil, err
	}
	for _, r := range j.Records() {
		if err := enc.Encode(r); err != nil {
			return nil, fmt.Errorf("record %s: %w", r.Key, err)
		}
	}
	return b.Bytes(), nil
}

// UnmarshalText reads what MarshalText wrote. It refuses unknown fields, duplicate records and values that are not JSON.
func (j *Journal) UnmarshalText(text []byte) error {
	records := map[id]*Record{}
	var header Header
	n := 0
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if n++; n == 1 {
			if err := strict(line, &header); err != nil {
				return fmt.Errorf("journal line 1: %w", err)
			}
			continue
		}
		var r Record
		if err := strict(line, &r); err != nil {
			return fmt.Errorf("journal line %d: %w", n, err)
		}
		k := id{r.Key, r.Attempt}
		if r.Key == "" || r.Attempt < 1 {
			return fmt.Errorf("journal line %d: a record needs a key and an attempt", n)
		}
		if records[k] != nil {
			return fmt.Errorf("journal line %d: a second record of %s, attempt %d", n, r.Key, r.Attempt)
		}
		records[k] = &r
	}
	if n == 0 {
		return fmt.Errorf("journal is empty")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.header, j.records = header, records
	return nil
}

// strict decodes one line after checking it as outside data: depth, duplicate keys, UTF-8.
func strict(line []byte, v any) error {
	if _, err := runtime.ParseValue(line); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// Parse reads a journal from JSON Lines.
func Parse(text []byte) (*Journal, error) {
	j := New(Header{})
	if err := j.UnmarshalText(text); err != nil {
		return nil, err
	}
	return j, nil
}
