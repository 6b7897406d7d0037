package journal

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// kept is what a journal keeps of a record: all of it, or what became of the call and where its lines are, which say the rest when
// somebody asks for it. There can be millions of them: it has 80 bytes.
type kept struct {
	key                string
	kind               *kind
	more               *more // nil: there is nothing
	start, end         time.Duration
	intentAt, lastAt   int64 // where its lines are
	intentLen, lastLen int32 // 0: there is none, or it is not needed
	attempt            int32
	number             uint32 // in the order of being added, for who marks some of them
}

// more is what few records have.
type more struct {
	whole *Record
	usage.Spend
}

// kind is what many records have in common, which is kept once.
type kind struct {
	tool, effects, node, cancelled string
	done, denied, metered          bool
}

// span is where a line is in a log.
type span struct {
	at int64
	n  int32
}

// NewLazy returns a journal that waits for its first line and keeps of the records what became of the calls. read returns a line again
// as AddAt has got it; it must be safe for concurrent use.
func NewLazy(read func(at int64, n int) ([]byte, error)) *Journal { return &Journal{read: read} }

// AddAt is Add of the line that a log has at a place, with its length there.
func (j *Journal) AddAt(line []byte, at int64, n int) error {
	if n <= 0 || n > math.MaxInt32 {
		return j.add(line, span{})
	}
	return j.add(line, span{at, int32(n)})
}

// keep makes a record known. at is where its last line is, and intent the one before that it needs.
func (j *Journal) keep(r *Record, intent, at span) {
	e := &kept{key: r.Key, attempt: int32(r.Attempt), start: r.Start, end: r.End, number: j.added}
	j.added++
	switch {
	case at.n == 0 || j.read == nil:
		e.more = &more{whole: r}
	case r.CostUSD != 0 || r.Tokens != 0:
		e.more = &more{Spend: usage.Spend{Cost: r.CostUSD, Tokens: r.Tokens}}
	}
	if e.whole() == nil {
		e.intentAt, e.intentLen, e.lastAt, e.lastLen = intent.at, intent.n, at.at, at.n
	}
	e.kind = j.shared(kind{r.Tool, r.Effects, r.Node, r.Cancelled, r.Done, r.Denied, r.Metered})
	j.records.put(e)
}

// whole is the record where all of it is kept.
func (e *kept) whole() *Record {
	if e.more == nil {
		return nil
	}
	return e.more.whole
}

func (e *kept) last() span { return span{e.lastAt, e.lastLen} }

// maxKinds bounds how many are shared: the rest is as it would be without.
const maxKinds = 1024

func (j *Journal) shared(k kind) *kind {
	if s, ok := j.kinds[k]; ok {
		return s
	}
	s := new(k)
	if j.kinds == nil {
		j.kinds = map[kind]*kind{}
	}
	if len(j.kinds) < maxKinds {
		j.kinds[k] = s
	}
	return s
}

// setNode says that the node of a call was another one than that of the header.
func (j *Journal) setNode(e *kept, node string) {
	k := *e.kind
	k.node = node
	e.kind = j.shared(k)
	if whole := e.whole(); whole != nil {
		r := *whole
		r.Node = node
		e.more = &more{whole: &r}
	}
}

// brief is the record without what is only in its lines.
func (e *kept) brief() Record {
	if r := e.whole(); r != nil {
		return *r
	}
	k := e.kind
	r := Record{Key: e.key, Attempt: int(e.attempt), Tool: k.tool, Effects: k.effects, Node: k.node, Cancelled: k.cancelled, Done: k.done,
		Denied: k.denied, Metered: k.metered, Start: e.start, End: e.end}
	if e.more != nil {
		r.CostUSD, r.Tokens = e.more.Cost, e.more.Tokens
	}
	return r
}

// record is all of the record. Where its lines cannot be read any more it is brief, and Lost says why. j.mu need not be held.
func (j *Journal) record(e kept) Record {
	if r := e.whole(); r != nil {
		return *r
	}
	r, err := j.again(e)
	if err != nil {
		r = e.brief()
		r.Lost = fmt.Errorf("the record of call %s cannot be read again: %w", e.key, err)
	}
	return r
}

// again reads the lines of a record, which were held to what they may be when they were added.
func (j *Journal) again(e kept) (r Record, err error) {
	if r, err = j.line(e.last()); err != nil {
		return r, err
	}
	if e.intentLen > 0 {
		intent, err := j.line(span{e.intentAt, e.intentLen})
		if err != nil {
			return r, err
		}
		r.ends(intent)
	}
	if r.Key != e.key || r.Attempt != int(e.attempt) {
		return r, errors.New("its lines are of another call")
	}
	r.Node = e.kind.node // which a later line may have said
	return r, nil
}

func (j *Journal) line(at span) (Record, error) {
	line, err := j.read(at.at, int(at.n))
	if err != nil {
		return Record{}, err
	}
	return decodeCall(line, callKind(line))
}

// chosen are copies of what is kept of the records for which which holds, in the order of key and attempt.
func (j *Journal) chosen(which func(*kept) bool) []kept {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []kept
	for e := range j.records.all {
		if which(e) {
			out = append(out, *e)
		}
	}
	slices.SortFunc(out, func(a, b kept) int { return byAttempt(&a, &b) })
	return out
}

func byAttempt(a, b *kept) int {
	return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.attempt, b.attempt))
}

// recordsOf are the records for which which holds.
func (j *Journal) recordsOf(which func(*kept) bool) []Record {
	list := j.chosen(which)
	out := make([]Record, len(list))
	for i, e := range list {
		out[i] = j.record(e)
	}
	return out
}

// find returns what is kept of a record now.
func (j *Journal) find(key string, attempt int) (kept, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e := j.records.get(key, attempt); e != nil {
		return *e, true
	}
	return kept{}, false
}
