package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Envelope is the receipt of one attempt of a tool call (Agent Tools 3.2). Attempts of one call share the CallID.
// In JSON every field is always present: null or [] when empty.
type Envelope struct {
	CallID      string           `json:"call_id"`
	Name        string           `json:"name"`
	Version     string           `json:"version"`
	Input       json.RawMessage  `json:"input"`
	Output      json.RawMessage  `json:"output"` // null when the call failed
	Error       *value.ToolError `json:"error"`  // null when it succeeded
	TStart      time.Time        `json:"t_start"`
	TEnd        time.Time        `json:"t_end"`
	Cached      bool             `json:"cached"`
	Truncated   bool             `json:"truncated"`
	Attachments []Attachment     `json:"attachments"`
}

// Attachment is a large or rich part of an output, stored separately from it (Agent Tools 3.2).
type Attachment struct {
	Kind        string `json:"kind"` // blob, image or table
	URL         string `json:"url"`
	ContentType string `json:"content_type,omitempty"`
	Bytes       int64  `json:"bytes,omitempty"`
}

// MarshalJSON writes all fields, times in UTC as RFC 3339.
func (e Envelope) MarshalJSON() ([]byte, error) {
	type plain Envelope
	p := plain(e)
	p.TStart, p.TEnd = p.TStart.UTC(), p.TEnd.UTC()
	if p.Attachments == nil {
		p.Attachments = []Attachment{}
	}
	if p.Error != nil {
		p.Output = nil
	}
	return json.Marshal(p)
}

// CallID returns the deterministic id of a call (Agent Tools 6.1): the SHA-256 in hex of tool@version, the canonical
// input and the call's key, separated by NUL. The key stands for the document's sequence number, because the order of
// arrival is not deterministic under parallel branches.
func CallID(tool string, input []byte, key string) string {
	h := sha256.New()
	h.Write([]byte(tool))
	h.Write([]byte{0})
	h.Write(input)
	h.Write([]byte{0})
	h.Write([]byte(key))
	var sum [sha256.Size]byte
	var id [2 * sha256.Size]byte
	hex.Encode(id[:], h.Sum(sum[:0]))
	return string(id[:])
}

// SplitTool splits "name@version".
func SplitTool(tool string) (name, version string) {
	if i := strings.LastIndexByte(tool, '@'); i >= 0 {
		return tool[:i], tool[i+1:]
	}
	return tool, ""
}
