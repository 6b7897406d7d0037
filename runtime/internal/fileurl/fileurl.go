// Package fileurl reads and writes URLs of files. It does so by hand because net/url brings net/netip and unique, which work at the start of
// every program, and each compiled workflow has URLs of blobs.
package fileurl

import "strings"

const scheme = "file:"

// Of is the URL of an absolute path with slashes.
func Of(path string) string {
	var b strings.Builder
	b.WriteString(scheme + "//")
	for i := range len(path) {
		c := path[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~$&+,/:;=@", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const hex = "0123456789ABCDEF"
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}

// Path is the path that a URL names. It is false for what is not a URL of a file of this machine.
func Path(url string) (path string, ok bool) {
	if len(url) < len(scheme) || !strings.EqualFold(url[:len(scheme)], scheme) {
		return "", false
	}
	rest := url[len(scheme):]
	if strings.HasPrefix(rest, "//") && !strings.HasPrefix(rest, "///") || !strings.HasPrefix(rest, "/") {
		return "", false
	}
	rest = strings.TrimPrefix(rest, "//")
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c < ' ' || c == 0x7f || c == '?' || c == '#':
			return "", false
		case c == '%':
			if i+2 >= len(rest) {
				return "", false
			}
			hi, lo := digit(rest[i+1]), digit(rest[i+2])
			if hi < 0 || lo < 0 {
				return "", false
			}
			c = byte(hi<<4 | lo)
			i += 2
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// digit is the value of a hexadecimal digit, -1 for others.
func digit(c byte) int {
	if c >= 'A' && c <= 'F' {
		c += 'a' - 'A'
	}
	return strings.IndexByte("0123456789abcdef", c)
}
