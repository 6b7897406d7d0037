package diff

import "strings"

// Line is one line of a text that was compared.
type Line struct {
	Mark byte // ' ' in both, '-' in the old text only, '+' in the new one only
	Text string
}

// maxTable bounds the table of two texts' lines. Beyond it the lines that differ are one block.
const maxTable = 4 << 20

// Lines compares two texts line by line.
func Lines(old, now string) []Line {
	a, b := strings.Split(strings.TrimSuffix(old, "\n"), "\n"), strings.Split(strings.TrimSuffix(now, "\n"), "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []Line
	put := func(mark byte, lines ...string) {
		for _, l := range lines {
			out = append(out, Line{mark, l})
		}
	}
	put(' ', a[:head]...)
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if (len(x)+1)*(len(y)+1) > maxTable {
		put('-', x...)
		put('+', y...)
	} else {
		middle(x, y, put)
	}
	put(' ', a[len(a)-tail:]...)
	return out
}

// middle compares by the longest common subsequence.
func middle(x, y []string, put func(byte, ...string)) {
	n := len(y) + 1
	longest := make([]int32, (len(x)+1)*n) // of x[i:], y[j:]
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				longest[i*n+j] = longest[(i+1)*n+j+1] + 1
			} else {
				longest[i*n+j] = max(longest[(i+1)*n+j], longest[i*n+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		switch {
		case x[i] == y[j]:
			put(' ', x[i])
			i, j = i+1, j+1
		case longest[(i+1)*n+j] >= longest[i*n+j+1]:
			put('-', x[i])
			i++
		default:
			put('+', y[j])
			j++
		}
	}
	put('-', x[i:]...)
	put('+', y[j:]...)
}

// Hunks leaves out what is the same but for some lines around each change. skip is called where lines are left out, with
// their number.
func Hunks(lines []Line, around int, line func(Line), skip func(n int)) {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l.Mark != ' ' {
			for k := max(i-around, 0); k <= min(i+around, len(lines)-1); k++ {
				keep[k] = true
			}
		}
	}
	left := 0
	for i, l := range lines {
		if !keep[i] {
			left++
			continue
		}
		if left > 0 {
			skip(left)
			left = 0
		}
		line(l)
	}
	if left > 0 {
		skip(left)
	}
}
