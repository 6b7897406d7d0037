//go:build !unix

package studio

import "os/exec"

// detach changes nothing here: programs do not end with the one that has started them.
func detach(*exec.Cmd) {}
