// Package usesbroken imports a package that does not compile.
package usesbroken

import "github.com/flowgen-dev/flowgen/ir/bind/testdata/src/broken"

var _ = broken.Do

func Do(s string) string { return s }
