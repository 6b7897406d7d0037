package httptool

import (
	"html"
	"strings"
)

// hidden are the elements whose content no reader sees.
var hidden = map[string]bool{"script": true, "style": true, "template": true, "noscript": true, "svg": true, "math": true, "iframe": true, "object": true}

// blocks are the elements that are on lines of their own.
var blocks = map[string]bool{
	"address": true, "article": true, "aside": true, "blockquote": true, "body": true, "br": true, "dd": true, "details": true,
	"div": true, "dl": true, "dt": true, "fieldset": true, "figcaption": true, "figure": true, "footer": true, "form": true,
	"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "head": true, "header": true, "hr": true, "html": true, "li": true,
	"main": true, "nav": true, "ol": true, "option": true, "p": true, "pre": true, "section": true, "select": true, "summary": true,
	"table": true, "tbody": true, "tfoot": true, "thead": true, "title": true, "tr": true, "ul": true,
}

// cells are parts of a line that stand apart.
var cells = map[string]bool{"td": true, "th": true}

// htmlText returns a page's title and what a reader sees of it: blocks on lines, white space as one space, entities as
// characters. It reads any text, in linear time, and is not a parser: markup that is broken comes out as a browser would
// not show it, but nothing between < and > of a tag does.
func htmlText(doc string) (title, text string) {
	w := &lines{}
	for len(doc) > 0 {
		open := strings.IndexByte(doc, '<')
		if open < 0 {
			open = len(doc)
		}
		w.add(doc[:open])
		doc = doc[open:]
		if doc == "" {
			break
		}
		var name string
		var end bool
		name, end, doc = tag(doc, w)
		switch {
		case name == "":
		case hidden[name] && !end:
			doc = after(doc, name)
			w.space()
		case name == "title" && title == "" && !end:
			content := doc
			doc = after(doc, name)
			content = content[:len(content)-len(doc)]
			if shut := strings.LastIndex(content, "</"); shut >= 0 {
				content = content[:shut]
			}
			title = strings.Join(strings.Fields(html.UnescapeString(content)), " ")
			w.line()
		case blocks[name]:
			w.line()
		case cells[name]:
			w.space()
		}
	}
	return title, w.text()
}

// tag reads what starts with <: a tag, a comment or a declaration. What is none of these is text, and goes to w.
func tag(doc string, w *lines) (name string, end bool, rest string) {
	if strings.HasPrefix(doc, "<!--") {
		_, rest, _ = strings.Cut(doc[4:], "-->")
		return "", false, rest
	}
	s := doc[1:]
	if s != "" && (s[0] == '!' || s[0] == '?') {
		_, rest, _ = strings.Cut(s, ">")
		return "", false, rest
	}
	if end = strings.HasPrefix(s, "/"); end {
		s = s[1:]
	}
	n := 0
	for n < len(s) && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || n > 0 && (s[n] >= '0' && s[n] <= '9' || s[n] == '-')) {
		n++
	}
	if n == 0 {
		w.add("<")
		return "", false, doc[1:]
	}
	name, s = strings.ToLower(s[:min(n, 32)]), s[n:]
	var quote byte
	for i := range len(s) { // > may be in the value of an attribute
		switch c := s[i]; {
		case quote == 0 && c == '>':
			return name, end, s[i+1:]
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return name, end, ""
}

// after skips to behind the end tag of name.
func after(doc, name string) string {
	for at := 0; ; {
		i := strings.Index(doc[at:], "</")
		if i < 0 {
			return ""
		}
		at += i + 2
		if len(doc)-at >= len(name) && strings.EqualFold(doc[at:at+len(name)], name) {
			_, rest, _ := strings.Cut(doc[at+len(name):], ">")
			return rest
		}
	}
}

// lines builds text of lines: white space collapses, empty lines vanish.
type lines struct {
	b       strings.Builder
	pending byte // space or line break that is due before the next word
}

func (w *lines) space() {
	if w.pending == 0 {
		w.pending = ' '
	}
}

func (w *lines) line() { w.pending = '\n' }

func (w *lines) add(raw string) {
	if raw == "" {
		return
	}
	if strings.IndexByte(raw, '&') >= 0 {
		raw = html.UnescapeString(raw)
	}
	start := -1
	for i, r := range raw {
		if blank := r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' || r == '\u00a0'; !blank {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			w.word(raw[start:i])
			start = -1
		}
		w.space()
	}
	if start >= 0 {
		w.word(raw[start:])
	}
}

func (w *lines) word(s string) {
	if w.pending != 0 && w.b.Len() > 0 {
		w.b.WriteByte(w.pending)
	}
	w.pending = 0
	w.b.WriteString(s)
}

func (w *lines) text() string { return w.b.String() }
