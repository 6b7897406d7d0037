// Command site makes the static site of the documentation: HTML without requests to other hosts, a search index, and llms.txt.
// It is a module of its own, so that nobody who imports flowgen sees its Markdown library.
//
//	go run ./internal/site -o .flowgen/site    # writes the site; a broken link is an error
//	go run ./internal/site -programs -o DIR    # also the programs of the playground, which takes a minute
//	go run ./internal/site -tour docs/tour.svg # draws the README's tour as a terminal
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "folder of the repository")
	out := flag.String("o", "", "folder to write the site to")
	picture := flag.String("tour", "", "SVG file to draw the tour of README.md to")
	build := flag.Bool("programs", false, "with -o: also build the programs of the playground")
	flag.Parse()
	if err := run(*root, *out, *picture, *build); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root, out, picture string, build bool) error {
	if picture != "" {
		svg, err := tour(root)
		if err != nil {
			return err
		}
		return os.WriteFile(picture, svg, 0o644)
	}
	if out == "" {
		return fmt.Errorf("-o DIR or -tour FILE is required")
	}
	s, err := read(root)
	if err != nil {
		return err
	}
	if err := s.write(out); err != nil || !build {
		return err
	}
	return programs(root, out)
}
