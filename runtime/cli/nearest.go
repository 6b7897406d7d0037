package cli

import "github.com/flowgen-dev/flowgen/runtime/editdistance"

// nearest returns the candidate most like name, or "" when none is near enough.
func nearest(name string, candidates []string) string { return editdistance.Nearest(name, candidates) }
