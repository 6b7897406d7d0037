// Package tested has a function in a test file.
package tested

func Do(s string) string { return s }
