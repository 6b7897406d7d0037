package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Format is the version of the lines. A journal of another one is refused, never half-read.
const Format = 1

// The kinds of lines. A journal is a list of them, in the order in which things happened; the text form of a Journal has
// them sorted, one end for each call that has one.
const (
	KindRun    = "run"    // the first line: what runs
	KindResume = "resume" // the run goes on, perhaps with another program
	KindIntent = "intent" // an attempt begins
	KindEnd    = "end"    // it has ended
	KindAnswer = "answer" // a user has answered a question
	KindFinish = "finish" // the run has ended
)

// The lines. Kind is first, so that a reader of the file sees it.
type (
	runLine struct {
		Kind   string `json:"kind"`
		Format int    `json:"format"`
		Header
	}
	resumeLine struct {
		Kind    string            `json:"kind"`
		At      time.Duration     `json:"at_ns"`           // since the run's beginning
		Graph   string            `json:"graph,omitempty"` // "": as before
		Program string            `json:"program,omitempty"`
		Lock    string            `json:"lock,omitempty"`
		Nodes   map[string]string `json:"nodes,omitempty"`
		Again   []string          `json:"again,omitempty"` // keys of failed calls that are made once more
	}
	callLine struct {
		Kind string `json:"kind"`
		Record
	}
	answerLine struct {
		Kind string `json:"kind"`
		Answer
	}
	finishLine struct {
		Kind string `json:"kind"`
		Finish
	}
)

// Answer is what a user has said to the question of a call.
type Answer struct {
	Key     string    `json:"key"`
	Answer  string    `json:"answer"`
	At      time.Time `json:"at"`
	By      string    `json:"by,omitempty"` // who has answered, where that is known
	Comment string    `json:"comment,omitempty"`
}

// Finish is how a run ended.
type Finish struct {
	Outcome Outcome         `json:"outcome"`
	Output  json.RawMessage `json:"output,omitempty"` // of a run that succeeded
	Failure string          `json:"failure,omitempty"`
	Key     string          `json:"key,omitempty"`  // of the call that failed
	At      time.Duration   `json:"at_ns,omitzero"` // since the run's beginning
}

// MarshalText writes the journal as JSON Lines: the header, then the attempts in the order of key and attempt, then what
// people have said, then how it ended.
func (j *Journal) MarshalText() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(runLine{KindRun, Format, j.Header()}); err != nil {
		return nil, err
	}
	for _, r := range j.Records() {
		kind := KindEnd
		if !r.Done {
			kind = KindIntent
		}
		if err := enc.Encode(callLine{kind, r}); err != nil {
			return nil, fmt.Errorf("record %s: %w", r.Key, err)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, a := range j.answers {
		if err := enc.Encode(answerLine{KindAnswer, a}); err != nil {
			return nil, err
		}
	}
	if f := j.finish; f.Outcome != Open {
		if err := enc.Encode(finishLine{KindFinish, f}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// EncodeHeader is the first line of a journal.
func EncodeHeader(h Header) []byte { return encode(runLine{KindRun, Format, h}) }

// EncodeResume is the line of a run that goes on, at a time since its beginning, with the program that h tells about.
// The records of the calls in again count no more: they failed, and are made once more.
func EncodeResume(at time.Duration, h Header, again []string) []byte {
	return encode(resumeLine{Kind: KindResume, At: at, Graph: h.Graph, Program: h.Program, Lock: h.Lock, Nodes: h.Nodes, Again: again})
}

// EncodeAnswer is the line of an answer of a user.
func EncodeAnswer(a Answer) []byte { return encode(answerLine{KindAnswer, a}) }

// EncodeFinish is the last line of a journal.
func EncodeFinish(f Finish) []byte { return encode(finishLine{KindFinish, f}) }

// encode writes a line, without its end. All that can be in one can be encoded.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("journal: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

var (
	intentStart = []byte(`{"kind":"` + KindIntent + `",`)
	endStart    = []byte(`{"kind":"` + KindEnd + `",`)
)

// callKind is the kind of a line about a call that begins with it, where there is no second one; empty for others.
func callKind(line []byte) string {
	switch {
	case bytes.HasPrefix(line, intentStart):
		return KindIntent
	case bytes.HasPrefix(line, endStart):
		return KindEnd
	}
	return ""
}

// Add takes in one line, in the order in which lines were written. It refuses what it does not know: unknown kinds and
// fields, another format, values that are not JSON.
func (j *Journal) Add(line []byte) error { return j.add(line, span{}) }

func (j *Journal) add(line []byte, at span) error {
	if err := value.Check(line); err != nil {
		return err
	}
	var head struct {
		Kind   string `json:"kind"`
		Format int    `json:"format"`
	}
	if head.Kind = callKind(line); head.Kind == "" { // most lines are about calls
		at = span{}
		if err := json.Unmarshal(line, &head); err != nil {
			return plain.Misfit(err)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.records == nil {
		j.records = newTable()
	}
	if j.began == (head.Kind == KindRun) {
		if j.began {
			return errors.New("a second header")
		}
		return errors.New(`the first line of a journal has the kind "run"`)
	}
	switch head.Kind {
	case KindRun:
		return j.addRun(line, head.Format)
	case KindResume:
		return j.addResume(line)
	case KindIntent, KindEnd:
		return j.addCall(line, head.Kind, at)
	case KindAnswer:
		var l answerLine
		if err := strict(line, &l); err != nil {
			return err
		}
		j.answers = append(j.answers, l.Answer)
		return nil
	case KindFinish:
		var l finishLine
		if err := strict(line, &l); err != nil {
			return err
		}
		switch l.Outcome {
		case Succeeded, Failed, Cancelled, Waiting:
			j.finish = l.Finish
			return nil
		}
		return fmt.Errorf("unknown outcome %q", l.Outcome)
	}
	return fmt.Errorf("unknown kind of line %q: another version of flowgen wrote it", head.Kind)
}

func (j *Journal) addRun(line []byte, format int) error {
	if format != Format {
		return fmt.Errorf("the journal has format %d, this program reads %d", format, Format)
	}
	var l runLine
	if err := strict(line, &l); err != nil {
		return err
	}
	j.header, j.began = l.Header, true
	return nil
}

func (j *Journal) addResume(line []byte) error {
	var l resumeLine
	if err := strict(line, &l); err != nil {
		return err
	}
	if l.Graph != "" && l.Graph != j.header.Graph {
		j.edited = true
		for e := range j.records.all {
			before, now := j.header.Nodes[pathOf(j.header.Nodes, e.key)], l.Nodes[pathOf(l.Nodes, e.key)]
			if e.kind.node == "" && before != now {
				j.setNode(e, cmp.Or(before, "none"))
			}
		}
		j.header.Graph, j.header.Nodes = l.Graph, l.Nodes
	}
	j.header.Program, j.header.Lock = l.Program, l.Lock
	j.finish = Finish{}
	j.drop(l.Again)
	return nil
}

// addCall takes in an intent, which may come again when a run was resumed, or an end, which has all that its intent had
// when there was none.
func (j *Journal) addCall(line []byte, kind string, at span) error {
	r, err := decodeCall(line, kind)
	if err != nil {
		return err
	}
	before, intent := j.records.get(r.Key, r.Attempt), span{}
	switch {
	case before == nil:
	case before.result():
		if kind == KindEnd || !j.edited {
			return fmt.Errorf("a second record of %s, attempt %d", r.Key, r.Attempt)
		}
		j.forget(r.Key, r.Attempt) // it ran again because its node or its input has changed
	case kind == KindIntent:
		j.earlier = append(j.earlier, before) // it was interrupted
	}
	if kind == KindEnd {
		if r.Tool == "" && before != nil {
			was := before.brief()
			switch {
			case j.read == nil:
			case at.n > 0 && before.lastLen > 0 && !before.kind.done: // an intent, which is read with this line
				intent = before.last()
			default: // lines that no program writes in this order
				if was, at = j.record(*before), (span{}); was.Lost != nil {
					return was.Lost
				}
			}
			r.ends(was)
		}
	}
	if r.Tool == "" {
		return fmt.Errorf("the record of %s, attempt %d, does not say its tool", r.Key, r.Attempt)
	}
	j.keep(&r, intent, at)
	return nil
}

// forget drops the records of a call from an attempt on.
func (j *Journal) forget(key string, from int) {
	j.remove(func(e *kept) bool { return e.key == key && int(e.attempt) >= from })
}

// remove makes records earlier ones.
func (j *Journal) remove(which func(*kept) bool) {
	first := len(j.earlier)
	for e := range j.records.all {
		if which(e) {
			j.earlier = append(j.earlier, e)
			j.records.remove(e)
		}
	}
	slices.SortFunc(j.earlier[first:], byAttempt)
}

// Drop forgets calls that failed, and those that were cancelled because of it, so that they are made once more.
func (j *Journal) Drop(keys []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.drop(keys)
}

func (j *Journal) drop(keys []string) {
	if len(keys) == 0 {
		return
	}
	j.remove(func(e *kept) bool { return e.kind.cancelled == runtime.ByScope || slices.Contains(keys, e.key) })
}

// UnmarshalText reads a journal: what MarshalText wrote, or the lines of a log, whose sums are then checked and whose
// torn end is left out.
func (j *Journal) UnmarshalText(text []byte) error {
	lines, err := split(text)
	if err != nil {
		return err
	}
	var fresh Journal
	for i, line := range lines {
		if err := fresh.Add(line); err != nil {
			return fmt.Errorf("journal line %d: %w", i+1, err)
		}
	}
	if len(lines) == 0 {
		return errors.New("journal is empty")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.header, j.records, j.earlier, j.answers, j.finish = fresh.header, fresh.records, fresh.earlier, fresh.answers, fresh.finish
	j.began, j.edited = true, fresh.edited
	return nil
}

// split cuts text into lines. Those of a log have sums.
func split(text []byte) ([][]byte, error) {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if wal.Sealed(first) {
		r, err := wal.Recover(bytes.Clone(text))
		if err != nil {
			return nil, err
		}
		return r.Lines, nil
	}
	var lines [][]byte
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		lines, text = append(lines, line), rest
	}
	return lines, nil
}

// strict decodes one line, which is known to be JSON without duplicate keys.
func strict(line []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return plain.Misfit(err)
	}
	return nil
}

// Parse reads a journal from JSON Lines.
func Parse(text []byte) (*Journal, error) {
	j := New(Header{})
	if err := j.UnmarshalText(text); err != nil {
		return nil, err
	}
	return j, nil
}
