//go:build !js

package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	text, err := io.ReadAll(io.LimitReader(os.Stdin, maxText+1))
	if err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
	fmt.Println(compileJSON(string(text)))
}
