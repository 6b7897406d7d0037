package main

// UpIn is declared by hand.
type UpIn struct {
	Text string `json:"text"`
}

// Up stands beside the generated file.
func Up(in UpIn) (string, error) { return in.Text, nil }

// Lost needs a type that is generated.
func Lost(in Input) string { return "" }
