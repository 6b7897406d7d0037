package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestHello(t *testing.T) {
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   Input
		want Output
	}{
		{Input{Name: "world", Language: "english"}, Output{Greeting: "Hello, world!", Letters: 5}},
		{Input{Name: "Zoë", Language: "german"}, Output{Greeting: "Hallo, Zoë!", Letters: 3}},
		{Input{Name: "Ada", Language: "french"}, Output{Greeting: "Bonjour, Ada !", Letters: 3}},
	} {
		got, err := w.Run(t.Context(), c.in)
		if err != nil {
			t.Errorf("%v: %v", c.in, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.in, diff)
		}
	}
}

// A language outside the enum is refused before anything runs.
func TestUnknownLanguage(t *testing.T) {
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	var te *value.ToolError
	if _, err = w.Run(t.Context(), Input{Name: "x", Language: "klingon"}); !errors.As(err, &te) || te.Code != value.ValidationError {
		t.Errorf("got %v, want VALIDATION_ERROR", err)
	}
}
