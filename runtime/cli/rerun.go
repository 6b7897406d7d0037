package cli

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// rerunCommand begins a new run with what another has done.
func rerunCommand(s *system, w *workflow, args []string) int {
	x := newExecution(s, w, &runFlags{})
	from, sets := "", []string{}
	rest, code, ok := x.verb(args, []string{"from", "set", "sync"}, func(set *flag.FlagSet) {
		set.StringVar(&from, "from", "", "")
		set.StringVar(&x.f.keep.sync, "sync", "", "")
		set.Func("set", "", func(s string) error {
			if !strings.Contains(s, "=") {
				return errors.New("write --set PATH=VALUE, as in --set input.pr=8 or --set plan.route=fix")
			}
			sets = append(sets, s)
			return nil
		})
	})
	if !ok {
		return code
	}
	id, code, ok := x.find(rest, 1)
	if !ok {
		return code
	}
	if from == "" && len(sets) == 0 {
		s.complain(mistake{"what is to be different?", "--from NODE does a node and all that follows from it again; --set PATH=VALUE changes an input or a result"})
		return exitUsage
	}
	j, err := x.folder.Read(id)
	if err != nil {
		return x.unreadable(err)
	}
	if code, ok := x.mine(id, j); !ok {
		return code
	}
	now, err := hashes(w.info)
	if err != nil {
		s.complain(mistake{err.Error(), "generate its code again"})
		return exitFault
	}
	again, wrong := following(w.info, now, from)
	if wrong != nil {
		s.complain(*wrong)
		return exitUsage
	}
	base := j.Without(func(r journal.Record) bool {
		return !r.Result() || r.Cancelled != "" || slices.ContainsFunc(again, func(node string) bool { return journal.Below(r.Key, node) })
	})
	input := j.Header().Input
	for _, set := range sets {
		path, text, _ := strings.Cut(set, "=")
		if input, err = change(base, input, path, text); err != nil {
			s.complain(mistake{"--set " + path + ": " + err.Error(), ""})
			return exitUsage
		}
	}
	if len(again) > 0 && !x.f.quiet {
		_, _ = fmt.Fprintln(s.stderr, "done again: "+safe(strings.Join(again, ", ")))
	}
	x.engine, x.past = x.folder.Fork(w.info, id, base), base
	return x.run(input)
}

// following lists a node at the top of the workflow and all that depend on it.
func following(info *runtime.Info, now *journal.Hashes, from string) ([]string, *mistake) {
	if from == "" {
		return nil, nil
	}
	next := map[string][]string{}
	for node, before := range now.From {
		for _, b := range before {
			next[b] = append(next[b], node)
		}
	}
	for _, e := range info.Edges {
		next[e.From] = append(next[e.From], e.To)
	}
	var names []string
	for _, n := range info.Nodes {
		names = append(names, n.ID)
	}
	if !slices.Contains(names, from) {
		m := &mistake{"there is no node " + from, "see graph"}
		if near := nearest(from, names); near != "" {
			m.help = "did you mean " + near + "?"
		}
		return nil, m
	}
	seen := map[string]bool{}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		if node := todo[0]; !seen[node] && node != "end" {
			seen[node] = true
			todo = append(todo, next[node]...)
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// change sets a field of the input, "input.pr", or of the recorded result of a node, "plan.route" or "plan".
func change(j *journal.Journal, input []byte, path, text string) ([]byte, error) {
	root, fields, _ := strings.Cut(path, ".")
	if root == "input" {
		if fields == "" {
			return nil, errors.New("name a field of the input, as in input.pr")
		}
		return setAt(input, fields, text)
	}
	attempt := 0
	for _, r := range j.Records() {
		if r.Key == root && r.Error == nil {
			attempt = r.Attempt
		}
	}
	if attempt == 0 {
		return nil, fmt.Errorf("the run has no result of a node %s that is kept; a node that is done again cannot be set", root)
	}
	r, _ := j.Lookup(root, attempt)
	out, err := setAt(r.Output, fields, text)
	if err != nil {
		return nil, err
	}
	r.Output = out
	j.Put(r)
	return input, nil
}

// setAt replaces what stands at a path of fields and list places in JSON. The new value is JSON where it can be read as
// such and what it replaces is no text; otherwise it is text.
func setAt(doc []byte, path, text string) ([]byte, error) {
	v, err := runtime.ParseValue(doc)
	if err != nil {
		return nil, err
	}
	var fields []string
	if path != "" {
		fields = strings.Split(path, ".")
	}
	v, err = setValue(v, fields, text)
	if err != nil {
		return nil, err
	}
	return v.MarshalJSON()
}

func setValue(v runtime.Value, fields []string, text string) (runtime.Value, error) {
	if len(fields) == 0 {
		if v.Kind() == runtime.StringKind {
			return runtime.StringValue(text), nil
		}
		if parsed, err := runtime.ParseValue([]byte(text)); err == nil {
			return parsed, nil
		}
		return runtime.StringValue(text), nil
	}
	switch v.Kind() {
	case runtime.MapKind:
		old, ok := v.Get(fields[0])
		if !ok {
			return v, fmt.Errorf("there is no field %s", fields[0])
		}
		sub, err := setValue(old, fields[1:], text)
		if err != nil {
			return v, err
		}
		entries := make([]runtime.Entry, 0, v.Len())
		for _, key := range v.Keys() {
			item, _ := v.Get(key)
			if key == fields[0] {
				item = sub
			}
			entries = append(entries, runtime.Entry{Key: key, Value: item})
		}
		return runtime.MapValue(entries...), nil
	case runtime.ListKind:
		i, err := strconv.Atoi(fields[0])
		if err != nil || i < 0 || i >= v.Len() {
			return v, fmt.Errorf("the list has no place %s: it has %d", fields[0], v.Len())
		}
		items := make([]runtime.Value, v.Len())
		for k := range items {
			items[k] = v.Index(k)
		}
		if items[i], err = setValue(items[i], fields[1:], text); err != nil {
			return v, err
		}
		return runtime.ListValue(items...), nil
	}
	return v, fmt.Errorf("there is no field %s: it is no object", fields[0])
}
