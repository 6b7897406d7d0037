package httptool

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestHTMLText(t *testing.T) {
	for _, tt := range []struct{ doc, title, text string }{
		{"", "", ""},
		{"plain", "", "plain"},
		{"a <b>bold</b>, <i>it</i>alic", "", "a bold, italic"},
		{"<p>one</p>\n\n  <p>two\n three</p>", "", "one\ntwo three"},
		{"a<br>b<br/>c<hr>d", "", "a\nb\nc\nd"},
		{"<ul><li>x<li>y</ul>", "", "x\ny"},
		{"<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>", "", "a b\nc"},
		{"&lt;p&gt; &amp;amp; &eacute;&nbsp;&#x263A; &bogus; &", "", "<p> &amp; é ☺ &bogus; &"},
		{"<title> My &amp;\n page </title><body>x", "My & page", "x"},
		{"<TITLE>A</TITLE><title>B</title>x", "A", "B\nx"},
		{"a<script>if (a < b) { '</p>' }</script>b", "", "a b"},
		{"a<SCRIPT src='x'>evil</Script >b<style>p{}</style>c", "", "a b c"},
		{"<script>never closed", "", ""},
		{"a<!-- <p>hidden</p> -->b<!-- open", "", "ab"},
		{"<!DOCTYPE html><?xml?><p>x", "", "x"},
		{"1 < 2 and 3<4 <> </> < b", "", "1 < 2 and 3<4 <> </> < b"},
		{`<a title="a>b" href='c>d'>link</a>`, "", "link"},
		{`<a title="open>rest`, "", ""},
		{"<p", "", ""},
		{"a<b", "", "a"},
		{"<custom-element>x</custom-element>", "", "x"},
		{"<h1>H</h1>text", "", "H\ntext"},
		{"<noscript>n</noscript><svg><text>s</text></svg>x", "", "x"},
	} {
		title, text := htmlText(tt.doc)
		if title != tt.title || text != tt.text {
			t.Errorf("%q: got %q, %q; want %q, %q", tt.doc, title, text, tt.title, tt.text)
		}
	}
}

func TestHTMLTextIsLinear(t *testing.T) {
	for _, unit := range []string{"<", "<p ", "<!--", "<!-", "</", "<a \"", "<script>", "</script", "&", "&#", "<script></", "<title>", "< ", "a\n"} {
		doc := strings.Repeat(unit, (1<<20)/len(unit))
		begin := time.Now()
		htmlText(doc)
		if d := time.Since(begin); d > 30*time.Second {
			t.Errorf("1 MiB of %q took %v", unit, d)
		}
	}
}

func FuzzHTMLText(f *testing.F) {
	f.Add("<title>a</title><p>b<script>c</script>&amp;")
	f.Fuzz(func(t *testing.T, doc string) {
		title, text := htmlText(doc)
		if utf8.ValidString(doc) && (!utf8.ValidString(title) || !utf8.ValidString(text)) {
			t.Fatalf("%q gives %q, %q", doc, title, text)
		}
		if strings.Contains(text, "\n\n") || strings.Contains(text, "  ") && !strings.Contains(doc, "&") {
			t.Fatalf("%q gives %q", doc, text)
		}
	})
}
