package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	tourSection = regexp.MustCompile(`(?ms)^## A 60-second tour\n(.*?)^## `)
	tourBlock   = regexp.MustCompile("(?ms)^```(yaml|console)[^\n]*\n(.*?)^```\n")
	tourSaved   = regexp.MustCompile("as `([a-z.]+)`")
)

// tour follows the README of a module word by word in an empty folder: it saves its files and runs every command of the
// tour, with the flowgen that env finds first.
func tour(ctx context.Context, readme, dir string, env []string) error {
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	section := tourSection.FindStringSubmatch(string(text))
	if section == nil {
		return errors.New("the README has no tour")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ran := 0
	before := 0
	for _, at := range tourBlock.FindAllStringSubmatchIndex(section[1], -1) {
		said, lang, text := section[1][before:at[0]], section[1][at[2]:at[3]], section[1][at[4]:at[5]]
		before = at[1]
		if lang == "yaml" {
			saved := tourSaved.FindStringSubmatch(said)
			if saved == nil {
				return errors.New("the tour does not say how to save a file")
			}
			if err := os.WriteFile(filepath.Join(dir, saved[1]), []byte(text), 0o644); err != nil {
				return err
			}
			continue
		}
		for _, part := range strings.Split("\n"+text, "\n$ ")[1:] {
			command, shown, _ := strings.Cut(part, "\n")
			ran++
			if err := step(ctx, dir, env, command, shown); err != nil {
				return fmt.Errorf("%s: $ %s: %w", filepath.Base(readme), command, err)
			}
		}
	}
	if ran < 5 {
		return fmt.Errorf("the tour has only %d commands", ran)
	}
	return nil
}

// step runs one command. Every line that the page shows must be printed, in this order; a line `...` stands for others.
func step(ctx context.Context, dir string, env []string, command, shown string) error {
	out, err := run(ctx, dir, env, "sh", "-c", command+" 2>&1")
	if err != nil {
		if shown == "" {
			return err
		}
		out = err.Error() // `check` finds the mistake that the tour has made
	}
	rest := out
	for line := range strings.Lines(shown) {
		line = strings.TrimSpace(line)
		if line == "" || line == "..." {
			continue
		}
		_, after, ok := strings.Cut(rest, line)
		if !ok {
			return fmt.Errorf("prints no line %q:\n%s", line, out)
		}
		rest = after
	}
	return nil
}
