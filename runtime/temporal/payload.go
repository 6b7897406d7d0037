package temporal

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/flowgen-dev/flowgen/runtime/engine"
)

// What an activity is given and returns has no more bytes than in a workflow that is written by hand: the id of the activity says key,
// attempt, version and input; tool, run and limit are known to the server.

// format is the version of what calls leave in histories. It is part of the build id, so that a worker begins no task of a run of
// another format.
const format = "4"

// sent is a call on its way to its activity: in, when it is an object, [in], [in, 0] with a limit that the server has as well, or [in, the rest].
type sent struct {
	engine.Carried
	id    string // of the activity
	wrong error  // the payload is none
}

// spare is how much longer than the worker the server waits for an attempt with a limit.
const spare = 5 * time.Second

// MarshalJSON implements json.Marshaler.
func (s sent) MarshalJSON() ([]byte, error) {
	rest := s.Carried
	rest.In = nil
	known := calledBy(s.id)
	if known.Path == rest.Path && known.Node == rest.Node && known.Visit == rest.Visit && known.Attempt == rest.Attempt {
		rest.Path, rest.Node, rest.Visit, rest.Attempt = "", "", 0, 0
	}
	rest.Tool, rest.Run, rest.Pos = "", "", ""
	limited := false
	if l := rest.Limit; l != nil && *l == *limitOf(l.Left).Limit {
		rest.Limit, limited = nil, true
	}
	more, err := json.Marshal(&rest)
	if err != nil {
		return nil, err
	}
	b := append([]byte{'['}, s.In...)
	switch {
	case string(more) == nothing && !limited && bare(s.In):
		return s.In, nil
	case string(more) != nothing:
		if limited {
			rest.Limit = s.Limit
			if more, err = json.Marshal(&rest); err != nil {
				return nil, err
			}
		}
		b = append(append(b, ','), more...)
	case limited:
		b = append(b, ",0"...)
	}
	return append(b, ']'), nil
}

// bare reports whether an input is sent without a list: it is an object, and not to be taken for a call of the first format.
func bare(in []byte) bool { return bytes.HasPrefix(in, []byte{'{'}) && !bytes.HasPrefix(in, formerly) }

var formerly = []byte(`{"tool":`)

// nothing is a rest without more than the id says.
const nothing = `{"tool":"","node":"","in":null}`

// UnmarshalJSON implements json.Unmarshaler. What is wrong is told by the activity: the server would have one that cannot be decoded
// made again without end.
func (s *sent) UnmarshalJSON(b []byte) error {
	if bare(b) {
		s.In = bytes.Clone(b)
		return nil
	}
	var parts []json.RawMessage
	s.wrong = json.Unmarshal(b, &parts)
	switch {
	case s.wrong != nil, len(parts) == 1:
	case len(parts) != 2: // of null as well
		s.wrong = errors.New("expected a list of an input and what bounds the call")
	case string(parts[1]) == "0":
		s.Carried = limitOf(1)
	default:
		s.wrong = json.Unmarshal(parts[1], &s.Carried)
	}
	if s.wrong == nil {
		s.In = parts[0]
	}
	return nil
}

// complete adds what the server knows, and which tool the activity calls.
func (s *sent) complete(i activity.Info, tool string) error {
	if i.IsLocalActivity { // it was never encoded
		return nil
	}
	if s.wrong != nil {
		return fmt.Errorf("the payload of call %s is not of this flowgen version: %w. Run a worker of the program that started the run", i.ActivityID, s.wrong)
	}
	known := calledBy(i.ActivityID)
	if s.Node == "" {
		s.Path, s.Node, s.Visit, s.Attempt = known.Path, known.Node, known.Visit, known.Attempt
	}
	s.Run, s.Tool = i.WorkflowExecution.ID, tool
	if s.Limit != nil && *s.Limit == *limitOf(1).Limit {
		s.Limit = limitOf(i.StartToCloseTimeout - spare).Limit
	}
	return nil
}

// limitOf has the limit of an attempt that nothing else than its own time bounds.
func limitOf(d time.Duration) (c engine.Carried) {
	n := strconv.FormatInt(int64(d), 10)
	_ = json.Unmarshal([]byte(`{"limit":{"left":`+n+`,"of":`+n+`}}`), &c) // is JSON
	return c
}

// calledBy is what the id of an activity says about its call.
func calledBy(id string) (c engine.Carried) {
	if i := strings.LastIndexByte(id, '@'); i >= 0 {
		id = id[:i]
	}
	c.Attempt, c.Visit = 1, 1
	number := func(sep byte, to *int32) {
		i := strings.LastIndexByte(id, sep)
		if i < 0 {
			return
		}
		if n, err := strconv.ParseInt(id[i+1:], 10, 32); err == nil {
			id, *to = id[:i], int32(n)
		}
	}
	number('~', &c.Attempt)
	i := strings.LastIndexByte(id, '/') + 1
	c.Path, id = id[:i], id[i:]
	number('#', &c.Visit)
	c.Node = id
	return c
}

// receipt identifies what is called: the version of the node, the tool and the input.
func receipt(version string, c *engine.Carried) string {
	sum := sha256.Sum256([]byte(version + "\x00" + c.Asked()))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

// got is a result: out, when it is a text, a number or a bool, or [out], of a call that was made and has nothing else to tell, with the id
// where the server keeps none, or all of it.
type got struct{ engine.Landed }

// MarshalJSON implements json.Marshaler.
func (g got) MarshalJSON() ([]byte, error) {
	rest := g.Landed
	rest.Out, rest.Ran, rest.Asked = nil, false, ""
	more, err := json.Marshal(&rest)
	if err != nil || !g.Ran || len(g.Out) == 0 || string(more) != "{}" {
		return json.Marshal(&g.Landed)
	}
	if g.Asked == "" && !bytes.ContainsAny(g.Out[:1], "[{n") {
		return g.Out, nil
	}
	b := append([]byte{'['}, g.Out...)
	if g.Asked != "" {
		b = append(b, ',')
		id, err := json.Marshal(g.Asked)
		if err != nil {
			return nil, err
		}
		b = append(b, id...)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (g *got) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '[':
	case '{', 'n':
		return json.Unmarshal(b, &g.Landed)
	default:
		g.Landed = engine.Landed{Out: bytes.Clone(b), Ran: true}
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	if len(parts) == 0 || len(parts) > 2 {
		return errors.New("expected a list of an output and an id")
	}
	g.Landed = engine.Landed{Out: parts[0], Ran: true}
	if len(parts) == 2 {
		return json.Unmarshal(parts[1], &g.Asked)
	}
	return nil
}
