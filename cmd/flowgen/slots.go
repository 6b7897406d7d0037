package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// slotFlag adds what runs in place of slots.
func (a *app) slotFlag(cmd *cobra.Command) {
	cmd.Flags().Var(&slotValue{a}, "slot", "a shell command in place of a slot: it reads the input as JSON and writes the output; repeatable")
}

// A slotValue reads NAME=COMMAND.
type slotValue struct{ a *app }

func (v *slotValue) String() string { return "" }
func (v *slotValue) Type() string   { return "NAME=COMMAND" }

func (v *slotValue) Set(text string) error {
	name, command, ok := strings.Cut(text, "=")
	if !ok || name == "" || command == "" {
		return errors.New("expected NAME=COMMAND")
	}
	if v.a.slots == nil {
		v.a.slots = map[string]string{}
	}
	v.a.slots[name] = command
	return nil
}

// fillSlots puts commands in the place of the slots of a workflow and its sub-workflows.
func (a *app) fillSlots(w *ir.Workflow) {
	a.filled = append(a.filled, fill(w, a.slots, a.standIns)...)
	for _, f := range w.Flows {
		a.fillSlots(f)
	}
}

func fill(w *ir.Workflow, commands map[string]string, all bool) (names []string) {
	for _, t := range w.Tools {
		s, ok := t.Binding.(*ir.SlotTool)
		if !ok {
			continue
		}
		command, named := commands[s.Name.Name]
		if short, _, _ := strings.Cut(t.Key.Name, "@"); !named && short != "" {
			command, named = commands[short]
			names = append(names, short)
		}
		if named || all {
			s.StandIn = &command
		}
		names = append(names, s.Name.Name)
	}
	return names
}

// unknownSlot refuses a command for a slot that no compiled workflow has.
func (a *app) unknownSlot() error {
	for _, name := range slices.Sorted(maps.Keys(a.slots)) {
		if slices.Contains(a.filled, name) {
			continue
		}
		if near := diag.Nearest(name, a.filled); near != "" {
			return unusablef("--slot: the workflow has no slot %q, did you mean %q?", name, near)
		}
		return unusablef("--slot: the workflow has no slot %q", name)
	}
	return nil
}

// alone is what is said of a workflow that is to be a program of its own: where only a program that embeds it could bring
// the code, that is an error.
func (c *compiled) alone(standIns bool) []diag.Diagnostic {
	if c.program == nil {
		return c.list
	}
	sink := &diag.Sink{}
	for _, d := range c.list {
		if d.Code != diag.OpenSlot {
			sink.Report(d)
		}
	}
	for _, t := range c.program.Slots() {
		d := diag.Diagnostic{Code: diag.OpenSlot, Span: t.Key.Span, Message: "no code is declared for " + t.Binding.(*ir.SlotTool).Name.Name + ", which a program that embeds the workflow can bring",
			Help: "write a Go function in place of `slot`, or generate the Go and call it in a program of yours;\n`flowgen run --slot NAME=COMMAND` runs a command in its place, `flowgen respond --later` needs none"}
		if i := slices.IndexFunc(c.list, func(w diag.Diagnostic) bool { return w.Code == diag.OpenSlot && w.Span == t.Key.Span }); i >= 0 {
			d = c.list[i]
			d.Severity = diag.Error
		}
		sink.Report(d)
	}
	for _, p := range c.program.Providers() {
		if standIns { // cassettes answer, or nothing is called
			break
		}
		sink.Report(diag.Diagnostic{Code: diag.OpenSlot, Span: p.Span, Message: "provider " + p.Name + " is brought by the Go program that embeds the workflow",
			Help: "try the workflow with `scripted:answers.yaml` in place of this model, or call its generated Go in a program of yours"})
	}
	return sink.List()
}
