package ir

import (
	"strconv"
	"strings"
)

func (d *dumper) dynamic(w *Dynamic) {
	if w == nil {
		return
	}
	d.line("dialect", w.Dialect, dumpFlag(w.Upstream, "upstream"), "concurrency", strconv.Itoa(w.Concurrency))
	for _, ph := range w.Phases {
		var names []string
		for _, n := range ph.Nodes {
			names = append(names, n.ID.Name)
		}
		head := [...]string{PhaseGraph: "graph", PhasePipeline: "pipeline", PhaseLoop: "loop"}[ph.Kind]
		if ph.Over != nil {
			head += " over " + ph.Over.Text.Value
		}
		if ph.Until != nil {
			head += " until " + ph.Until.String()
		}
		if ph.Max > 0 {
			head += " max " + strconv.Itoa(ph.Max)
		}
		d.line("phase", ph.ID.Name, head+":", strings.Join(names, ", "))
	}
	d.tokens(w.Tokens)
}

func dumpFlag(set bool, word string) string {
	if set {
		return word
	}
	return ""
}

func (d *dumper) dynamicNode(n *DynamicNode) {
	if n == nil {
		return
	}
	names := func(word string, ids []Ident) {
		if len(ids) > 0 {
			var list []string
			for _, id := range ids {
				list = append(list, id.Name)
			}
			d.line(word, strings.Join(list, ", "))
		}
	}
	if n.Args != nil {
		d.line("args", dumpValue(n.Args))
	}
	names("reads", n.Reads)
	names("writes", n.Writes)
	for _, p := range n.Whens {
		d.line("when", p.String())
	}
	for _, r := range n.Routes {
		when := ""
		if r.When != nil {
			when = "when " + r.When.String()
		}
		d.line("after", r.From.Name, when)
	}
	if n.Each != nil {
		d.line("for_each", n.Each.Over.Text.Value, "concurrency", strconv.Itoa(n.Each.Concurrency))
	}
	switch {
	case n.Attempts > 0:
		d.line("on_error retry", strconv.Itoa(n.Attempts), "base", n.Base.String(), dumpFlag(n.Double, "double"))
	case n.OnSpent == SpentSkip:
		d.line("on_error skip")
	}
	for _, m := range []struct {
		word string
		text *Mixed
	}{{"system", n.System}, {"prompt", n.Prompt}} {
		if m.text != nil {
			d.line(m.word, strconv.Quote(m.text.Text.Value))
		}
	}
	d.line(dumpFlag(n.JSON, "json"))
	d.line(dumpOpt("schema", n.Schema))
	d.token(n.Token)
}
