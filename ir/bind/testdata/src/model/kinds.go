package model

// The kinds.
const (
	Page    Kind = "page"
	Article Kind = "article"
)
