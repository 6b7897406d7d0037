package diag

import (
	"io"
	"net/url"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// SARIFOptions say who reports, and from where.
type SARIFOptions struct {
	Version string  // of flowgen; may be empty
	Codes   []Entry // the table with the examples of dialects; nil: Codes()
	Base    string  // the folder the command runs in, slash-separated and relative to the root of the repository; "" is the root
}

const (
	sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"
	homepage    = "https://github.com/flowgen-dev/flowgen"
	sourceRoot  = "%SRCROOT%"
)

// The objects of SARIF 2.1.0 that are written (OASIS, sections 3.13 to 3.57), with the property names of the standard.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool             sarifTool     `json:"tool"`
		ColumnKind       string        `json:"columnKind"`
		NewlineSequences []string      `json:"newlineSequences"`
		Results          []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               Code         `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
		FullDescription  sarifMessage `json:"fullDescription"`
		Help             sarifHelp    `json:"help"`
	}
	sarifHelp struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID           Code            `json:"ruleId,omitempty"`
		RuleIndex        *int            `json:"ruleIndex,omitempty"`
		Level            string          `json:"level"`
		Message          sarifMessage    `json:"message"`
		Locations        []sarifLocation `json:"locations"`
		RelatedLocations []sarifLocation `json:"relatedLocations,omitempty"`
		Fixes            []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		ID               *int          `json:"id,omitempty"`
		PhysicalLocation *sarifPlace   `json:"physicalLocation,omitempty"`
		Message          *sarifMessage `json:"message,omitempty"`
	}
	sarifPlace struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifFix struct {
		Description     sarifMessage  `json:"description"`
		ArtifactChanges []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		ArtifactLocation sarifArtifact      `json:"artifactLocation"`
		Replacements     []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		DeletedRegion   sarifRegion  `json:"deletedRegion"`
		InsertedContent sarifMessage `json:"insertedContent"`
	}
)

// SARIF writes the diagnostics as one log of the Static Analysis Results Interchange Format 2.1.0, for code scanning.
// Columns are UTF-16 code units, ends are exclusive. The rules are the codes that occur, with the text of the code
// table as their help; fixes are complete.
func SARIF(w io.Writer, list []Diagnostic, opts SARIFOptions) error {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "flowgen", Version: opts.Version, InformationURI: homepage, Rules: []sarifRule{}}},
		ColumnKind: "utf16CodeUnits", NewlineSequences: []string{"\r\n", "\n", "\r"}, Results: make([]sarifResult, len(list)),
	}
	occurs := map[Code]bool{}
	for i := range list {
		occurs[list[i].Code] = true
	}
	index := map[Code]int{}
	codes := opts.Codes
	if codes == nil {
		codes = Codes()
	}
	for _, e := range codes {
		if occurs[e.Code] {
			index[e.Code] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(e))
		}
	}
	for i := range list {
		run.Results[i] = sarifResultOf(&list[i], opts.Base)
		if at, ok := index[list[i].Code]; ok {
			run.Results[i].RuleIndex = &at
		}
	}
	return writeJSON(w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func sarifRuleOf(e Entry) sarifRule {
	text, markdown := e.Cause, e.Cause
	for _, x := range []struct{ title, text string }{{"Wrong", e.Wrong}, {"Right", e.Right}} {
		if x.text != "" {
			text += "\n\n" + x.title + ":\n\n" + visible(x.text)
			markdown += "\n\n" + x.title + ":\n\n```yaml\n" + visible(x.text) + "```"
		}
	}
	return sarifRule{ID: e.Code, ShortDescription: sarifMessage{capital(e.Title) + "."}, FullDescription: sarifMessage{e.Cause}, Help: sarifHelp{text, markdown}}
}

func sarifResultOf(d *Diagnostic, base string) sarifResult {
	text := []string{d.Message}
	for i, h := range helpLines(d) {
		if i == 0 {
			h = "help: " + h
		}
		text = append(text, h)
	}
	r := sarifResult{RuleID: d.Code, Level: d.Severity.String(), Message: sarifText(strings.Join(text, "\n")), Locations: []sarifLocation{}}
	if d.Span.File != nil {
		r.Locations = append(r.Locations, sarifLocation{PhysicalLocation: sarifPlaceOf(d.Span, base)})
	}
	for i, rel := range d.Related {
		m := sarifText(rel.Message)
		l := sarifLocation{ID: &i, Message: &m}
		if rel.Span.File != nil {
			l.PhysicalLocation = sarifPlaceOf(rel.Span, base)
		}
		r.RelatedLocations = append(r.RelatedLocations, l)
	}
	for _, f := range d.Fixes {
		r.Fixes = append(r.Fixes, sarifFixOf(f, base))
	}
	return r
}

// sarifText is a message. What looks like a link in it is text of a file: `](` would make viewers render one (3.11.6).
func sarifText(s string) sarifMessage {
	return sarifMessage{strings.ReplaceAll(s, "](", "] (")}
}

// sarifFixOf groups the edits of a fix by file, in order of appearance.
func sarifFixOf(f Fix, base string) sarifFix {
	out := sarifFix{Description: sarifText(f.Title), ArtifactChanges: []sarifChange{}}
	at := map[string]int{}
	for _, e := range f.Edits {
		if e.Span.File == nil {
			continue
		}
		i, ok := at[e.Span.File.Name]
		if !ok {
			i = len(out.ArtifactChanges)
			at[e.Span.File.Name] = i
			out.ArtifactChanges = append(out.ArtifactChanges, sarifChange{ArtifactLocation: sarifArtifactOf(e.Span.File, base)})
		}
		c := &out.ArtifactChanges[i]
		c.Replacements = append(c.Replacements, sarifReplacement{sarifRegionOf(e.Span), sarifMessage{e.New}})
	}
	return out
}

func sarifPlaceOf(s source.Span, base string) *sarifPlace {
	p := &sarifPlace{ArtifactLocation: sarifArtifactOf(s.File, base)}
	if hasSnippet(s) {
		r := sarifRegionOf(s)
		p.Region = &r
	}
	return p
}

// sarifArtifactOf is where a file is: relative to the root of the repository unless it is outside of it.
func sarifArtifactOf(f *source.File, base string) sarifArtifact {
	name := path.Clean(based(base, f))
	switch {
	case f.Module != "":
		return sarifArtifact{URI: (&url.URL{Path: name}).String()}
	case path.IsAbs(name):
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: name}).String()}
	case len(name) > 1 && name[1] == ':':
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: "/" + name}).String()}
	case name == ".." || strings.HasPrefix(name, "../"):
		return sarifArtifact{URI: (&url.URL{Path: name}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: name}).String(), URIBaseID: sourceRoot}
}

func sarifRegionOf(s source.Span) sarifRegion {
	startLine, startColumn := utf16Pos(s.File, s.Lo)
	endLine, endColumn := utf16Pos(s.File, s.Hi)
	return sarifRegion{startLine, startColumn, endLine, endColumn}
}

// utf16Pos converts an offset to line and column, both from 1, the column in UTF-16 code units.
func utf16Pos(f *source.File, off int) (line, col int) {
	off = max(0, min(off, len(f.Text)))
	line, col = f.Pos(off).Line, 1
	for i := f.Offset(line, 1); i < off; {
		r, n := utf8.DecodeRuneInString(f.Text[i:])
		col += max(1, utf16.RuneLen(r))
		i += n
	}
	return line, col
}
