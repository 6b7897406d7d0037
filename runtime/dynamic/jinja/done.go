package jinja

// Done is a text that is complete, or what went wrong in it.
func Done(t *Text) (string, error) { return t.String(), t.Err() }
