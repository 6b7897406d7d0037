//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// allowedHere are the calls that have another name on this architecture.
var allowedHere = []uint32{unix.SYS_FSTATAT}

var ignoredHere []uint32
