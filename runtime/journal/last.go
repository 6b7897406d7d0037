package journal

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
)

// Last returns the output of the last successful call that q asks for, in the order in which calls ended; nil when there is none.
func (j *Journal) Last(q runtime.LastCall) []byte {
	var found *Record
	for _, r := range j.Records() {
		rest, ok := strings.CutPrefix(r.Key, q.Node)
		if !ok || rest == "" || rest[0] != '[' && rest[0] != '#' || strings.Count(rest, "/") != 1 {
			continue // not a call that this agent made
		}
		if r.Tool != q.Tool || !r.Result() || r.Error != nil || r.Cancelled != "" || r.Output == nil {
			continue
		}
		if found == nil || r.End >= found.End {
			found = &r
		}
	}
	if found == nil {
		return nil
	}
	return found.Output
}
