package wasmtool

import (
	"strconv"
	"strings"
)

// bounded keeps what a module writes, up to a limit. Beyond it the module is stopped.
type bounded struct {
	text  []byte
	limit int
	full  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > b.limit {
		b.full()
		return 0, errFull
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

// beginning keeps the beginning of what is written to it. Write never fails.
type beginning struct {
	text  []byte
	limit int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), b.limit-len(b.text))]...)
	return len(p), nil
}

// string is the text as valid UTF-8.
func (b *beginning) string() string { return strings.ToValidUTF8(string(b.text), "\uFFFD") }

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
