package main

import "testing"

// TestPrintable: a recorded text cannot move the cursor, and reads as it is.
func TestPrintable(t *testing.T) {
	const odd = "a\x1b[31m\u009b\u202eb\u2066\u200b\ufeff\u2028\u00adc\n\td\u200de\u200cf é"
	if got, want := printable(odd), "a\ufffd[31m\ufffd\ufffdb\ufffd\ufffd\ufffd\ufffd\ufffdc\n\td\u200de\u200cf é"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
