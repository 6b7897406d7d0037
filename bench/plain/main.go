// Command plain is what examples/hello does, written by hand in Go: the same flags, the same JSON, events as JSON Lines,
// a run that a signal cancels. It is what the size, the start and the memory of a compiled workflow are compared with.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

type input struct {
	Name     string `json:"name"`
	Language string `json:"language"`
}

type output struct {
	Greeting string `json:"greeting"`
	Letters  int    `json:"letters"`
}

type event struct {
	Kind string    `json:"kind"`
	Time time.Time `json:"time"`
}

var languages = []string{"english", "german", "french"}

func greet(ctx context.Context, in input) (output, error) {
	if err := ctx.Err(); err != nil {
		return output{}, err
	}
	out := output{Letters: utf8.RuneCountInString(in.Name)}
	switch in.Language {
	case "english":
		out.Greeting = "Hello, " + in.Name + "!"
	case "german":
		out.Greeting = "Hallo, " + in.Name + "!"
	case "french":
		out.Greeting = "Bonjour, " + in.Name + " !"
	}
	return out, nil
}

type flags struct {
	file, raw     string
	events, quiet bool
}

func parse() (in input, f flags, err error) {
	in = input{"world", "english"}
	flag.StringVar(&f.file, "input-json", "", "read the inputs from a JSON object; - is standard input")
	flag.StringVar(&f.raw, "raw", "", "print one text field of the result, as it is")
	flag.BoolVar(&f.events, "json-events", false, "write progress to standard error as JSON Lines")
	flag.BoolVar(&f.quiet, "quiet", false, "show no progress")
	flag.Func("input", "set one input, NAME=VALUE", func(s string) error {
		key, value, ok := strings.Cut(s, "=")
		switch {
		case !ok:
			return errors.New("write NAME=VALUE")
		case key == "name":
			in.Name = value
		case key == "language":
			in.Language = value
		default:
			return fmt.Errorf("unknown input %s", key)
		}
		return nil
	})
	flag.Parse()
	if f.file != "" {
		err = read(f.file, &in)
	}
	if err == nil && !slices.Contains(languages, in.Language) {
		err = fmt.Errorf("language: %q is not one of %s", in.Language, strings.Join(languages, ", "))
	}
	return in, f, err
}

func read(name string, in *input) error {
	var text []byte
	var err error
	if name == "-" {
		text, err = io.ReadAll(os.Stdin)
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(in)
}

func emit(f flags, kind string) {
	if f.events {
		_ = json.NewEncoder(os.Stderr).Encode(event{kind, time.Now().UTC()}) // progress is no reason to fail
	}
}

func print(out output, field string) error {
	if field == "greeting" {
		_, err := fmt.Println(out.Greeting)
		return err
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func main() {
	in, f, err := parse()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	emit(f, "run_start")
	out, err := greet(ctx, in)
	emit(f, "run_end")
	if err == nil {
		err = print(out, f.raw)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
