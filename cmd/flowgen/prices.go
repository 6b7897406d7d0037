package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/runtime/llm/catalog"
)

func (a *app) pricesCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "prices [TEXT]",
		Short: "List prices of models",
		Long: "Prices lists the models that flowgen knows: dollars per million tokens, and the token limits of prompts and of\n" +
			"answers. TEXT selects models by name. `plan` and cost limits use this list, unless a model\n" +
			"has its own `price`.\n\n" +
			"--prices FILE, here and with the commands that compile, uses another list, in the format of --format json.\n" +
			"Its models replace the built-in ones, and compiled programs use its prices, except for models that are selected\n" +
			"by environment variables at run time.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			text := ""
			if len(args) == 1 {
				text = args[0]
			}
			return a.listPrices(format, text)
		},
	}
	a.pricesFlag(cmd)
	formatFlag(cmd, &format, "text", "json")
	return cmd
}

func (a *app) pricesFlag(cmd *cobra.Command) {
	cmd.Flags().Var(&pricesValue{a}, "prices", "`FILE` with prices of models that replace the built-in ones: see flowgen prices")
}

// A pricesValue reads the name of a list of prices, and the list.
type pricesValue struct{ a *app }

func (v *pricesValue) String() string { return "" }
func (v *pricesValue) Type() string   { return "FILE" }

func (v *pricesValue) Set(name string) error {
	name = filepath.ToSlash(name)
	text, err := files.Project(name).ReadFile(name, files.Max)
	if err != nil {
		return err
	}
	list, err := catalog.Parse(text)
	if err != nil {
		return fmt.Errorf("%w: `flowgen prices --format json` prints a list as an example", err)
	}
	v.a.prices = &priceList{list}
	return nil
}

// A priceList is a list that was brought.
type priceList struct{ *catalog.List }

// fill gives the models of a workflow and its sub-workflows what the list says of them.
func (p *priceList) fill(w *ir.Workflow) {
	if p == nil {
		return
	}
	for _, m := range w.Models {
		if known, ok := p.Find(m.Model.Name); ok && m.New == nil {
			m.Listed = listed(known)
		}
	}
	for _, f := range w.Flows {
		p.fill(f)
	}
}

func listed(m catalog.Model) *ir.ListedModel {
	out := &ir.ListedModel{ModelPrice: ir.ModelPrice(m.Price), Prompt: m.Prompt, Answer: m.Answer}
	if m.Long != nil {
		long := ir.ModelPrice(*m.Long)
		out.Long = &long
	}
	return out
}

// listPrices prints the list of the release with what another one says in its place.
func (a *app) listPrices(format, text string) error {
	list := *catalog.Released()
	source := "of this release"
	if a.prices != nil {
		source = "of --prices and, for models that it does not have, of " + list.Date
		list.Date, list.Models = a.prices.Date, maps.Clone(list.Models)
		maps.Copy(list.Models, a.prices.Models)
	}
	shown := map[string]catalog.Model{}
	for name, m := range list.Models {
		if strings.Contains(name, text) {
			shown[name] = m
		}
	}
	if list.Models = shown; format == "json" {
		out, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "%s\n", out)
		return err
	} else if format != "text" {
		return noFormat(format)
	}
	if len(shown) == 0 {
		return unusablef("no model matches %q: set its `price` in the workflow, or use a list with --prices", text)
	}
	fmt.Fprintf(a.stdout, "Dollars per million tokens on %s, %s.\n\n", list.Date, source)
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "model\tinput\tcached\toutput\tprompt\tanswer")
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		m := shown[name]
		priceRow(w, diag.Printable(name), m.Price, tokens(m.Prompt), tokens(m.Answer))
		if m.Long != nil {
			priceRow(w, "  a long prompt", *m.Long, "", "")
		}
	}
	return w.Flush()
}

func priceRow(w io.Writer, name string, p catalog.Price, prompt, answer string) {
	cached := p.Cached
	if cached == "" {
		cached = p.Input
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", name, p.Input, cached, p.Output, prompt, answer)
}

func tokens(n int64) string {
	if n == 0 {
		return "not known"
	}
	return strconv.FormatInt(n, 10)
}
