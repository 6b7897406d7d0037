// Package broken does not compile.
package broken

type In struct{ Q Missing }

func Do(in In) error { return nil }

func Other(s string) int { return s }
