// Package hidden may only be imported below other.
package hidden

func Do(s string) string { return s }
