package cli

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/blob"
	"github.com/flowgen-dev/flowgen/runtime/cache/file"
	"github.com/flowgen-dev/flowgen/runtime/internal/fileurl"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/stores"
)

// A storeKind is a flag that names a store, and the schemes of its URLs with the leaves of the runtime that open them.
type storeKind struct {
	flag, env string
	what      string // for which the store is
	leaves    map[string]string
}

var (
	cacheKind = storeKind{"cache", "FLOWGEN_CACHE", "cached results", map[string]string{"redis": "cache/redis", "rediss": "cache/redis", "unix": "cache/redis"}}
	blobsKind = storeKind{"blobs", "FLOWGEN_BLOBS", "large outputs", map[string]string{"s3": "blob/s3"}}
	runsKind  = storeKind{"runs", "FLOWGEN_RUNS", "recorded runs", map[string]string{"postgres": "journal/postgres", "postgresql": "journal/postgres", "sqlite": "journal/sqlite"}}
)

// StoreLeaves returns the leaves of the runtime, by their names below it, whose stores a program needs that is called with args in an
// environment.
func StoreLeaves(args []string, env func(string) string) (leaves []string) {
	for _, k := range []*storeKind{&cacheKind, &blobsKind, &runsKind} {
		at := env(k.env)
		for i, a := range args {
			if name, v, ok := strings.Cut(strings.TrimLeft(a, "-"), "="); a[:min(1, len(a))] == "-" && name == k.flag {
				if at = v; !ok && i+1 < len(args) {
					at = args[i+1]
				}
			}
		}
		if leaf := k.leaves[stores.Scheme(at)]; leaf != "" {
			leaves = append(leaves, leaf)
		}
	}
	return leaves
}

// StoreNames are what `flowgen build --stores` takes, with the leaves.
func StoreNames() map[string]string {
	return map[string]string{"postgres": "journal/postgres", "redis": "cache/redis", "s3": "blob/s3", "sqlite": "journal/sqlite"}
}

// path is the folder that a store is, when it is one.
func (k *storeKind) path(address string) (dir string, ok bool) {
	switch stores.Scheme(address) {
	case "":
		return address, true
	case "file":
		dir, ok = fileurl.Path(address)
		if drive := strings.TrimPrefix(dir, "/"); filepath.VolumeName(drive) != "" {
			dir = drive // file:///C:/folder
		}
		return dir, ok
	}
	return "", false
}

// wrong says why the store of an address cannot be opened. No message has the address, which may hold a password.
func (k *storeKind) wrong(address string, err error) *mistake {
	var schemes []string
	for s := range k.leaves {
		schemes = append(schemes, s)
	}
	slices.Sort(schemes)
	scheme := stores.Scheme(address)
	names := "--" + k.flag + " and " + k.env
	switch leaf := k.leaves[scheme]; {
	case errors.Is(err, stores.ErrNotLinked) && leaf != "":
		name := leaf[strings.LastIndexByte(leaf, '/')+1:]
		return &mistake{"this program was built without the store of " + scheme + ":// for " + k.what, "build it with flowgen build --stores " + name}
	case errors.Is(err, stores.ErrNotLinked):
		m := &mistake{"unknown store of " + k.what + " at " + scheme + "://", names + " take a folder, or a URL of " + strings.Join(schemes, ", ")}
		if near := nearest(scheme, schemes); near != "" {
			m.help = "did you mean " + near + "://?"
		}
		return m
	}
	if remedy := wal.Remedy(err); remedy != "" {
		return &mistake{"cannot use " + k.what + ": " + err.Error(), remedy + "; recorded data is not lost"}
	}
	return &mistake{"cannot keep " + k.what + ": " + err.Error(), names + " name a folder that can be written, or a URL of " + strings.Join(schemes, ", ")}
}

// stores opens those that flags and the environment name, and the file of usage.
func (x *execution) stores() (o []runtime.Option, release func(), wrong *mistake) {
	var closers []func() *mistake
	release = func() {
		for _, c := range closers {
			if m := c(); m != nil {
				x.s.complain(*m)
			}
		}
	}
	fail := func(m *mistake) ([]runtime.Option, func(), *mistake) { release(); return nil, func() {}, m }
	closing := func(c func() error) { closers = append(closers, func() *mistake { _ = c(); return nil }) }
	if address := cmp.Or(x.f.cache, x.s.env(cacheKind.env)); address != "" {
		cache, closer, err := openStore(&cacheKind, &stores.Caches, address, func(dir string) (runtime.Cache, func() error, error) {
			c, err := file.Open(dir)
			if err != nil {
				return nil, nil, err
			}
			return c, c.Close, nil
		})
		if err != nil {
			return fail(cacheKind.wrong(address, err))
		}
		closing(closer)
		o = append(o, runtime.WithCache(cache))
	}
	if address := cmp.Or(x.f.blobs, x.s.env(blobsKind.env)); address != "" {
		store, closer, err := openBlobs(address)
		if err != nil {
			return fail(blobsKind.wrong(address, err))
		}
		closing(closer)
		o = append(o, runtime.WithBlobs(store))
	}
	if name := cmp.Or(x.f.usage, x.s.env("FLOWGEN_USAGE")); name != "" {
		u, err := openUsage(name, x.w.info.Name)
		if err != nil {
			return fail(&mistake{"cannot write usage: " + err.Error(), "--usage and FLOWGEN_USAGE name a file that can be written"})
		}
		closers = append(closers, func() *mistake {
			if err := u.close(); err != nil {
				return &mistake{"the usage file is incomplete: " + err.Error(), ""}
			}
			return nil
		})
		o = append(o, runtime.WithUsage(u))
	}
	return o, release, nil
}

func openBlobs(address string) (runtime.Blobs, func() error, error) {
	return openStore(&blobsKind, &stores.Blobs, address, func(dir string) (runtime.Blobs, func() error, error) {
		s, err := blob.Open(dir)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	})
}

func openStore[S any](k *storeKind, registered *stores.Kind[S], address string, folder func(dir string) (S, func() error, error)) (S, func() error, error) {
	if dir, ok := k.path(address); ok {
		return folder(dir)
	}
	return registered.Open(address)
}
