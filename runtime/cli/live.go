package cli

import (
	"container/list"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
)

const (
	redrawEvery = 100 * time.Millisecond
	// maxRows bounds the moving part of the display, whatever the terminal's height.
	maxRows = 12
)

// live redraws what is running, below the lines of what has ended. Observe only
// notes an event; a goroutine of its own draws, at most once per tick, so a slow
// terminal never holds up the run. It moves the cursor and erases, nothing
// else: even a killed program leaves the terminal usable.
type live struct {
	s     *system
	style style
	logs  logView
	stop  chan struct{}
	ended chan struct{}

	mu      sync.Mutex
	ledger  ledger
	running map[string]*list.Element // of *row, by key
	rows    *list.List               // in order of start
	fresh   []line                   // ended since the last frame
	printed []string                 // by programs since the last frame
	size    int                      // of printed, in bytes

	drawing sync.Mutex // held by who writes to the terminal
	held    bool       // a question has the terminal
	drawn   []int      // widths of the moving lines on the screen; drawing only
	turn    int        // of the spinner; drawing only
}

// row is a node that is running.
type row struct {
	key   string
	begin time.Time
	again time.Time // the next attempt begins; zero when none is awaited
	note  string    // why it is awaited
	said  string    // the end of what the call has said
}

// longestSaid is how much of what a call says is kept, in bytes.
const longestSaid = 400

// say keeps the last line of what a call says.
func (r *row) say(text string) {
	text = r.said + text
	if i := strings.LastIndexByte(strings.TrimRight(text, " \t\r\n"), '\n'); i >= 0 {
		text = text[i+1:]
	}
	if len(text) > longestSaid {
		text = strings.ToValidUTF8(text[len(text)-longestSaid:], "")
	}
	r.said = text
}

func newLive(s *system, logs logView) *live {
	l := &live{
		s:       s,
		style:   newStyle(s.env),
		logs:    logs,
		stop:    make(chan struct{}),
		ended:   make(chan struct{}),
		running: map[string]*list.Element{},
		rows:    list.New(),
	}
	ticks, stopTicks := s.ticks()
	go func() {
		defer close(l.ended)
		defer stopTicks()
		for {
			select {
			case <-ticks:
				l.draw(false)
			case <-l.stop:
				l.draw(true)
				return
			}
		}
	}()
	return l
}

// close draws the last frame, which shows only what has ended.
func (l *live) close(err error) {
	l.mu.Lock()
	l.add(l.ledger.rest(err))
	l.mu.Unlock()
	close(l.stop)
	<-l.ended
}

// add takes in lines that stay; l.mu is held.
func (l *live) add(list []entry) {
	for _, n := range list {
		l.fresh = append(l.fresh, l.style.lasting(n.outcome, n.text, n.about()))
	}
}

func (l *live) Observe(e runtime.Event) {
	now := l.s.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Kind {
	case runtime.NodeStart:
		l.running[e.Key] = l.rows.PushBack(&row{key: e.Key, begin: now})
	case runtime.NodeEnd:
		if at, ok := l.running[e.Key]; ok {
			l.rows.Remove(at)
			delete(l.running, e.Key)
		}
	case runtime.Retrying:
		if e.Wait == 0 {
			break
		}
		if at, ok := l.running[e.Key]; ok {
			r := at.Value.(*row)
			r.again, r.note, r.said = now.Add(e.Wait), reason(e.Err), ""
		}
	}
	if at, ok := l.running[e.Key]; ok && e.Kind == runtime.Output {
		at.Value.(*row).say(e.Text)
	}
	l.print(l.logs.lines(&e))
	l.add(l.ledger.record(e))
}

// maxPrinted is how much of what programs print waits for the next frame, in bytes.
const maxPrinted = 4 << 20

// print takes in lines of programs; l.mu is held.
func (l *live) print(lines []string) {
	for _, line := range lines {
		if before := l.size; before <= maxPrinted {
			if l.size += len(line); l.size > maxPrinted {
				line = "[more than can be shown]"
			}
			l.printed = append(l.printed, line)
		}
	}
}

// draw writes one frame: it goes back over the moving lines, erases them, and
// writes the lines that stay and the new moving ones.
func (l *live) draw(last bool) {
	l.drawing.Lock()
	defer l.drawing.Unlock()
	if l.held && !last {
		return
	}
	l.frame(last)
}

// pause takes the moving lines away and draws no more until resume.
func (l *live) pause() {
	l.drawing.Lock()
	defer l.drawing.Unlock()
	l.frame(true)
	l.held = true
}

func (l *live) resume() {
	l.drawing.Lock()
	defer l.drawing.Unlock()
	l.held = false
}

// frame draws one frame, the last one without moving lines.
func (l *live) frame(last bool) {
	wide, high, ok := l.s.size()
	if !ok || wide <= 0 || high <= 0 {
		wide, high = 80, 24
	}
	printed, fresh, moving := l.take(last, high)
	if len(printed) == 0 && len(fresh) == 0 && len(moving) == 0 && len(l.drawn) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString(back(l.drawn, wide))
	for _, one := range printed {
		b.WriteString(one + "\n")
	}
	for _, one := range fresh {
		b.WriteString(one.fit(wide-1, l.style) + "\n")
	}
	l.drawn = l.drawn[:0]
	for _, one := range moving {
		text := one.fit(wide-1, l.style)
		b.WriteString(text + "\n")
		l.drawn = append(l.drawn, min(one.width(), wide-1))
	}
	l.turn++
	_, _ = io.WriteString(l.s.stderr, b.String()) // progress is no reason to fail
}

// take returns what the next frame holds.
func (l *live) take(last bool, high int) (printed []string, fresh, moving []line) {
	now := l.s.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(l.ledger.rest(nil)) // the run has gone on
	printed, l.printed, l.size = l.printed, nil, 0
	fresh, l.fresh = l.fresh, nil
	if last {
		return printed, fresh, nil
	}
	room := min(maxRows, high-1) // a frame as high as the terminal would scroll
	more := 0
	if l.rows.Len() > room {
		room--
		more = l.rows.Len() - max(room, 0)
	}
	for at := l.rows.Front(); at != nil && len(moving) < room; at = at.Next() {
		moving = append(moving, l.moving(at.Value.(*row), now))
	}
	if more > 0 && room >= 0 {
		moving = append(moving, l.style.more(more))
	}
	return printed, fresh, moving
}

func (l *live) moving(r *row, now time.Time) line {
	note := duration(now.Sub(r.begin))
	if m := l.ledger.maps[r.key]; m.total > 0 {
		note = m.String() + ", " + note
	}
	if wait := r.again.Sub(now); wait > 0 {
		note += ", next attempt in " + duration(wait) + ": " + r.note
	}
	out := l.style.spinning(l.turn, safe(r.key), note)
	if said := safe(strings.TrimSpace(r.said)); said != "" && r.again.Sub(now) <= 0 {
		out = append(out, piece{"  " + tail(said, shownSaid), dim})
	}
	return out
}

// shownSaid is how many characters are shown of what a call says: its end.
const shownSaid = 60

func tail(s string, n int) string {
	r := []rune(s)
	return string(r[max(0, len(r)-n):])
}

// back returns to the first of the lines of the given widths and erases them.
// A terminal made narrower since has broken them into several.
func back(widths []int, wide int) string {
	if len(widths) == 0 {
		return ""
	}
	up := 0
	for _, w := range widths {
		up += max(1, (w+wide-1)/wide)
	}
	return "\r\x1b[" + itoa(up) + "A\x1b[J"
}

// style is how the terminal wants to be written to.
type style struct {
	colour   bool
	glyphs   [moreLine + 1]string
	spinner  []string
	ellipsis string
}

var (
	plainGlyphs = [...]string{okLine: "+", failedLine: "x", cancelledLine: "-", waitingLine: "!", retryLine: "!", warningLine: "!", moreLine: " "}
	fineGlyphs  = [...]string{okLine: "✓", failedLine: "✗", cancelledLine: "−", waitingLine: "!", retryLine: "↻", warningLine: "!", moreLine: " "}
)

// newStyle honours NO_COLOR (https://no-color.org) and locales without UTF-8.
func newStyle(env func(string) string) style {
	s := style{colour: env("NO_COLOR") == "", glyphs: fineGlyphs, spinner: []string{"⠋", "⠙", "⠸", "⠴", "⠦", "⠇"}, ellipsis: "…"}
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set decides
		if locale = strings.ToLower(env(name)); locale != "" {
			break
		}
	}
	if locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8") {
		s.glyphs, s.spinner, s.ellipsis = plainGlyphs, []string{"|", "/", "-", `\`}, "..."
	}
	return s
}

// line is one line as pieces with a colour each.
type line []piece

type piece struct{ text, colour string }

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	dim    = "\x1b[2m"
	reset  = "\x1b[0m"
)

var outcomeColours = [...]string{okLine: green, failedLine: red, cancelledLine: dim, waitingLine: yellow, retryLine: yellow, warningLine: yellow, moreLine: ""}

func (s *style) lasting(o outcome, text, note string) line {
	return line{{s.glyphs[o], outcomeColours[o]}, {" " + text, ""}, {" " + note, dim}}
}

func (s *style) spinning(turn int, text, note string) line {
	return line{{s.spinner[turn%len(s.spinner)], cyan}, {" " + text, ""}, {" " + note, dim}}
}

func (s *style) more(n int) line { return line{{"  and " + itoa(n) + " more", dim}} }

func (l line) width() int {
	n := 0
	for _, p := range l {
		n += width(p.text)
	}
	return n
}

// fit returns the line cut to at most wide columns.
func (l line) fit(wide int, s style) string {
	room, end := wide, ""
	if l.width() > wide {
		end = prefix(s.ellipsis, wide)
		room -= width(end)
	}
	var b strings.Builder
	for _, p := range l {
		text := prefix(p.text, room)
		room -= width(text)
		if s.colour && p.colour != "" && text != "" {
			b.WriteString(p.colour + text + reset)
		} else {
			b.WriteString(text)
		}
		if len(text) < len(p.text) {
			break
		}
	}
	return b.String() + end
}

// prefix returns the longest prefix of s of at most wide columns.
func prefix(s string, wide int) string {
	n := 0
	for i, r := range s {
		if n += runeWidth(r); n > wide {
			return s[:i]
		}
	}
	return s
}

func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// narrow are this package's own symbols.
var narrow = []rune("✓✗−↻…⠋⠙⠸⠴⠦⠇\uFFFD")

// runeWidth is an upper bound of the columns r takes: a line that is too short
// does no harm, a line that wraps breaks the display. Scripts and symbols from
// U+1100 on may be wide.
func runeWidth(r rune) int {
	if r < 0x1100 || slices.Contains(narrow, r) {
		return 1
	}
	return 2
}
