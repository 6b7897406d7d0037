// Command stale stands beside a generated file that no longer fits.
package main

func main() { _, _ = New() }

type UpIn struct {
	Text string `json:"text"`
}

// Up has changed since.
func Up(in UpIn) (string, error) { return in.Text, nil }

// Lost takes a type that flowgen generated.
func Lost(in Input) string { return in.Text }
