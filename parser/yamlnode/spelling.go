package yamlnode

import (
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
)

// This file knows what files of other languages look like, where YAML reads them as something else or not at all.

// otherEnum is an enum in any brackets, with any separators. The lengths are bounded: lines may be megabytes long.
var (
	otherEnum = lazyregexp.New(`^[eE]num ?(?:\[([^\[\]<>(){}\n]{1,500})\]|\(\[?([^\[\]<>(){}\n]{1,500})\]?\)|<([^\[\]<>(){}\n]{1,500})>)`)
	enumWord  = lazyregexp.New(`^[A-Za-z0-9_.+-]{1,100}$`)
	noColon   = lazyregexp.New(`^\s*([a-z_]{1,100}) ?([\[{])[ \t\r]*(?:#.*)?$`)
	noColonIn = lazyregexp.New(`^([a-z_]{1,100}) ?(\{).{0,1000}\}[ \t\r]*(?:#.*)?$`)
)

// EnumMistake says how enums are written.
const EnumMistake = "the words of an enum are written in `<>`, with `|` between them"

// EnumSpelling is how the enum is written that text begins with, such as `enum[low, high]`, and how long that is; 0 when text begins
// with none, or with one that is written so.
func EnumSpelling(text string) (n int, spelling string) {
	m := otherEnum.FindStringSubmatch(text)
	if m == nil || m[3] != "" && !strings.Contains(m[3], ",") {
		return 0, ""
	}
	spelling = EnumOf(strings.FieldsFunc(m[1]+m[2]+m[3], func(c rune) bool { return c == ',' || c == '|' }))
	if spelling == "" || spelling == m[0] {
		return 0, ""
	}
	return len(m[0]), spelling
}

// EnumOf is the type of words, written as text; empty when they cannot be values of an enum.
func EnumOf(words []string) string {
	for i, w := range words {
		words[i] = strings.Trim(w, " \t\"'")
		if !enumWord.MatchString(words[i]) {
			return ""
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "enum<" + strings.Join(words, "|") + ">"
}

// enumInFlow recognises an enum in square brackets, at lo, which is not YAML in flow style.
func (p *parser) enumInFlow(lo int) *Problem {
	n, spelling := EnumSpelling(p.src[lo:p.lineText(lo).Hi])
	if n == 0 {
		return nil
	}
	at := p.span(lo, lo+n)
	return &Problem{Kind: ForeignType, Span: at, Message: EnumMistake,
		Help: "replace with `" + spelling + "`", Fix: &Replacement{at, spelling}}
}

// bracketFault explains a bracket after a key that has no colon, as in `input {`: the lines after it make no sense then.
func (p *parser) bracketFault(f fault) *Problem {
	for _, at := range []int{f.at, f.start} {
		if at < 0 || at > len(p.src) {
			continue
		}
		line := StartOfLine(p.src, at)
		for i := range 2 { // this line, and the one before it
			text := p.src[line:EndOfLine(p.src, line)]
			m := noColon.FindStringSubmatchIndex(text)
			if m == nil && i == 0 {
				m = noColonIn.FindStringSubmatchIndex(text)
			}
			if m != nil {
				key := p.span(line+m[2], line+m[5])
				name, open := p.src[line+m[2]:line+m[3]], p.src[line+m[4]:line+m[5]]
				pr := &Problem{Kind: Syntax, Span: key, Message: "a `:` is missing after `" + name + "`"}
				pr.Help = "write `" + name + ":` and indent the lines below it, without brackets"
				if i == 0 && strings.Contains(text, "}") {
					pr.Help = "write `" + name + ": {`"
				} else if open == "[" {
					pr.Help = "write `" + name + ":` and the items below it, each after `- `"
				}
				return pr
			}
			if line == 0 {
				break
			}
			line = StartOfLine(p.src, line-1)
		}
	}
	return nil
}

// openQuote recognises a quote that is closed only by the opening one of a later line.
func (p *parser) openQuote(f fault) *Problem {
	end := min(f.at, len(p.src)) - 1
	if end < 1 || p.src[end] != '"' && p.src[end] != '\'' || strings.IndexByte(" \t[{,\n", p.src[end-1]) < 0 {
		return nil
	}
	open := strings.LastIndexByte(p.src[:end], p.src[end])
	if open < 1 || !strings.Contains(p.src[open:end], "\n") || strings.IndexByte(" \t[{,\n", p.src[open-1]) < 0 {
		return nil
	}
	return p.neverClosed(open)
}

// neverClosed is the mistake of a quote without its second one.
func (p *parser) neverClosed(open int) *Problem {
	return &Problem{Kind: Syntax, Span: p.char(open), Message: "this quote is never closed",
		Help: "add the closing quote; inside '…' a quote is written twice, inside \"…\" as \\\""}
}
