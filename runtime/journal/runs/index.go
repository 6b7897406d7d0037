package runs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// The index of a journal is a file beside it with what a Reader keeps, so that a long journal is parsed once. It is a cache: what it
// says about the run as a whole is read from the journal again, it counts only while the journal still begins with the bytes that it
// was made of, and without it, or where it cannot be written, everything works as well.
//
// Its form: the word below; how many bytes and lines of the journal it has and their CRC-32C; whether the program has changed; the
// places of the lines about the run and of answers; the names that calls share; the calls; the CRC-32C of all of that.
const (
	indexName = "journal.index"
	indexWord = "flowgen journal index 1\n"

	maxSpecial = 1000 // lines that are read again
	leastEntry = 16   // bytes of a call in an index
)

// leastIndexed is how many bytes a journal has before an index is made, or made anew.
var leastIndexed int64 = 1 << 20 // a variable for tests

// castagnoli is prepared when an index is read or written, which most runs never do.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// index is what a Reader knows of its index.
type index struct {
	tried bool   // it was looked for
	sum   uint32 // of what was read of the journal
	has   int64  // bytes of the journal that it is of
}

func (r *Reader) indexFile() string { return filepath.Join(r.folder.dir, r.id, indexName) }

// save writes the index where the journal has grown by enough. That it cannot be written is not an error.
func (r *Reader) save() {
	if grown := r.cursor.Offset - r.index.has; r.folder.opts.ReadOnly || grown < leastIndexed || grown < r.index.has/4 || len(r.special) > maxSpecial {
		return
	}
	if wal.Replace(r.folder.opts.Disk, r.indexFile(), r.writeIndex) == nil {
		r.index.has = r.cursor.Offset
	}
}

// writer writes the parts of an index. An error stays in the buffer until it is flushed.
type writer struct {
	*bufio.Writer
	few [binary.MaxVarintLen64]byte
}

func (w *writer) int(v int64) { _, _ = w.Write(w.few[:binary.PutVarint(w.few[:], v)]) }

func (w *writer) text(s string) { w.int(int64(len(s))); _, _ = w.WriteString(s) }

func (w *writer) span(s span) { w.int(s.at); w.int(s.n) }

func (r *Reader) writeIndex(out io.Writer) error {
	sum := crc32.New(castagnoli())
	w := &writer{Writer: bufio.NewWriterSize(io.MultiWriter(out, sum), 64<<10)}
	_, _ = w.WriteString(indexWord)
	w.int(r.cursor.Offset)
	w.int(int64(r.cursor.Lines))
	w.int(int64(r.index.sum))
	w.int(flags(r.edited))
	w.int(int64(len(r.special)))
	for _, s := range r.special {
		w.span(s)
	}
	w.int(int64(len(r.answers)))
	for key, s := range r.answers {
		w.text(key)
		w.span(s)
	}
	numbers, names := map[string]int64{}, []string{}
	for i := range r.calls {
		c := &r.calls[i]
		for _, s := range [...]string{c.Tool, c.Effects, c.Code, c.cancelled} {
			if _, known := numbers[s]; !known {
				numbers[s] = int64(len(names))
				names = append(names, s)
			}
		}
	}
	w.int(int64(len(names)))
	for _, s := range names {
		w.text(s)
	}
	w.int(int64(len(r.calls)))
	for i := range r.calls {
		c := &r.calls[i]
		w.int(flags(c.Cached, c.Denied, c.Metered, c.Again, c.done, c.more))
		w.text(c.Key)
		w.int(int64(c.Attempt))
		for _, s := range [...]string{c.Tool, c.Effects, c.Code, c.cancelled} {
			w.int(numbers[s])
		}
		w.text(c.CallID)
		w.int(int64(c.Start))
		w.int(int64(c.End - c.Start))
		w.int(int64(c.Limit))
		w.int(c.Tokens)
		w.int(int64(c.CostUSD))
		w.span(c.intent)
		w.span(c.end)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := out.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

func flags(on ...bool) (bits int64) {
	for i, b := range on {
		if b {
			bits |= 1 << i
		}
	}
	return bits
}

// load takes in the index, all of it or nothing.
func (r *Reader) load() bool {
	fresh := &Reader{folder: r.folder, id: r.id, answers: map[string]span{}}
	if fresh.readIndex() != nil {
		return false
	}
	fresh.index.tried = true
	*r = *fresh
	return true
}

var errIndex = errors.New("the index is damaged, or of another journal")

func (r *Reader) readIndex() error {
	disk := r.folder.opts.Disk
	file, size, err := wal.OpenFile(disk, r.indexFile())
	if err != nil {
		return err
	}
	defer file.Close()
	whole, err := r.folder.Size(r.id)
	if err != nil || size > whole+leastIndexed || size < 4 {
		return errors.Join(err, errIndex) // all that is in it is in the journal, in more words
	}
	summed := crc32.New(castagnoli())
	in := &reader{in: bufio.NewReaderSize(io.TeeReader(io.LimitReader(file, size-4), summed), 64<<10), left: size - 4, texts: &r.texts}
	if err := r.parseIndex(in, whole); err != nil {
		return err
	}
	var sum [4]byte
	if _, err := io.ReadFull(file, sum[:]); err != nil || in.left != 0 || summed.Sum32() != binary.LittleEndian.Uint32(sum[:]) {
		return errors.Join(err, errIndex)
	}
	return r.sameJournal()
}

// parseIndex reads what is in an index, with nothing believed that could lead out of the journal, which has whole bytes.
func (r *Reader) parseIndex(in *reader, whole int64) error {
	if string(in.bytes(int64(len(indexWord)))) != indexWord {
		return errIndex
	}
	r.index.has = in.within(1, whole)
	in.most = r.index.has
	r.cursor.Skip(r.index.has, int(in.within(1, r.index.has)))
	r.index.sum = uint32(in.within(0, 1<<32-1))
	r.edited = in.within(0, 1) == 1
	r.special = make([]span, in.within(1, maxSpecial))
	for i := range r.special {
		r.special[i] = in.span()
	}
	for range in.count(3) {
		key := in.text(false)
		r.answers[key] = in.span()
	}
	names := make([]string, in.count(1))
	for i := range names {
		names[i] = in.text(false)
	}
	name := func() string {
		if n := in.within(0, int64(len(names))-1); n >= 0 && n < int64(len(names)) {
			return names[n]
		}
		return ""
	}
	n := in.count(leastEntry)
	r.calls = make([]Call, n)
	for i := range r.calls {
		c := &r.calls[i]
		f := in.within(0, 1<<6-1)
		c.Cached, c.Denied, c.Metered, c.Again, c.done, c.more = f&1 != 0, f&2 != 0, f&4 != 0, f&8 != 0, f&16 != 0, f&32 != 0
		c.Key, c.Attempt = in.text(true), int(in.within(1, 1<<31-1))
		c.Tool, c.Effects, c.Code, c.cancelled = name(), name(), name(), name()
		c.CallID = in.text(true)
		c.Start = time.Duration(in.within(0, 1<<61))
		c.End = c.Start + time.Duration(in.within(0, 1<<61))
		c.Limit, c.Tokens, c.CostUSD = time.Duration(in.int()), in.int(), usage.USD(in.int())
		c.intent, c.end = in.span(), in.span()
		if in.err != nil {
			break
		}
	}
	return in.err
}

// sameJournal reads again what the index is of: the sum of its bytes must be the same. The lines about the run say what it is.
func (r *Reader) sameJournal() error {
	file, _, err := wal.OpenFile(r.folder.opts.Disk, r.folder.log(r.id))
	if err != nil {
		return err
	}
	defer file.Close()
	sum, buf := uint32(0), make([]byte, 256<<10)
	for left := r.index.has; left > 0; {
		n, err := io.ReadFull(file, buf[:min(left, int64(len(buf)))])
		if err != nil {
			return err
		}
		sum, left = crc32.Update(sum, castagnoli(), buf[:n]), left-int64(n)
	}
	if sum != r.index.sum || r.special[0].at != 0 {
		return errIndex
	}
	special, cursor := r.special, new(wal.Cursor)
	r.special = nil
	for _, s := range special {
		data, _, err := wal.ReadRange(r.folder.opts.Disk, r.folder.log(r.id), s.at, s.n+1)
		if err != nil {
			return err
		}
		if s.at > 0 {
			cursor = cursor.At(s.at)
		}
		before := len(r.special)
		err = cursor.Scan(data, func(_ int64, _ int, line []byte) error { return r.about(s, line) })
		if err != nil || len(r.special) != before+1 {
			return errors.Join(err, errIndex)
		}
	}
	cursor.Skip(r.index.has, r.cursor.Lines)
	r.cursor = *cursor
	return nil
}

// reader reads the parts of an index. After an error it returns zeros.
type reader struct {
	in    *bufio.Reader
	left  int64 // bytes of the index
	most  int64 // bytes of the journal
	texts *texts
	err   error
}

func (in *reader) fail() int64 {
	if in.err == nil {
		in.err = errIndex
	}
	return 0
}

// bytes are the next n, until the next call. They may not be more than there are.
func (in *reader) bytes(n int64) []byte {
	if in.err != nil || n < 0 || n > in.left {
		in.fail()
		return nil
	}
	b, err := in.in.Peek(int(min(n, int64(in.in.Size()))))
	if int64(len(b)) < n { // longer than the buffer
		b = make([]byte, n)
		_, err = io.ReadFull(in.in, b)
	} else {
		_, _ = in.in.Discard(len(b))
	}
	if err != nil {
		in.fail()
		return nil
	}
	in.left -= n
	return b
}

func (in *reader) int() int64 {
	if in.err != nil {
		return 0
	}
	b, _ := in.in.Peek(binary.MaxVarintLen64)
	v, n := binary.Varint(b)
	if n <= 0 {
		return in.fail()
	}
	in.bytes(int64(n))
	return v
}

// within is a number that must be in a range.
func (in *reader) within(least, most int64) int64 {
	if v := in.int(); v >= least && v <= most {
		return v
	}
	return in.fail()
}

// count is how many things follow that have at least so many bytes each.
func (in *reader) count(least int64) int64 { return in.within(0, in.left/least) }

func (in *reader) text(own bool) string {
	b := in.bytes(in.int())
	if own {
		return in.texts.own(b)
	}
	return in.texts.share(b)
}

func (in *reader) span() span {
	s := span{in.within(0, in.most), in.int()}
	if s.n < 0 || s.n > in.most-s.at {
		in.fail()
		return span{}
	}
	return s
}
