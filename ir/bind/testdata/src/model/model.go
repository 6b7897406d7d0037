// Package model declares a type whose constants stand in another file.
package model

// Kind is an enum that only the tools' types name.
type Kind string
