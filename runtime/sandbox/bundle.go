//go:build linux && (amd64 || arm64)

package sandbox

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A mount is a part of the file system of a container (OCI runtime specification).
type mount struct {
	Destination string   `json:"destination"`
	Type        string   `json:"type"`
	Source      string   `json:"source"`
	Options     []string `json:"options,omitempty"`
}

type rlimit struct {
	Type string `json:"type"`
	Hard uint64 `json:"hard"`
	Soft uint64 `json:"soft"`
}

type namespace struct {
	Type string `json:"type"`
}

// spec is the part of an OCI runtime specification that a bundle needs.
type spec struct {
	Version string `json:"ociVersion"`
	Process struct {
		User struct {
			UID int `json:"uid"`
			GID int `json:"gid"`
		} `json:"user"`
		Args            []string `json:"args"`
		Env             []string `json:"env"`
		Cwd             string   `json:"cwd"`
		Rlimits         []rlimit `json:"rlimits"`
		NoNewPrivileges bool     `json:"noNewPrivileges"`

		Capabilities map[string][]string `json:"capabilities,omitempty"`
	} `json:"process"`
	Root struct {
		Path     string `json:"path"`
		Readonly bool   `json:"readonly"`
	} `json:"root"`
	Hostname string  `json:"hostname"`
	Mounts   []mount `json:"mounts"`
	Linux    struct {
		CgroupsPath string `json:"cgroupsPath"`
		Resources   struct {
			Memory struct {
				Limit int64 `json:"limit"`
			} `json:"memory"`
		} `json:"resources"`
		Namespaces []namespace `json:"namespaces"`
	} `json:"linux"`
}

// bundle writes the folder from which runsc makes the container: an empty root with the same files, read-only, that a Profile grants.
func (b *kernelBox) bundle(cmd *exec.Cmd) error {
	if err := b.files(cmd); err != nil {
		return failed("no root for the tool: %v", syscallText(err))
	}
	var s spec
	s.Version, s.Hostname = "1.0.2", "sandbox"
	p := &s.Process
	p.User.UID, p.User.GID = b.uid, b.uid
	p.Args = []string{b.program}
	if len(b.args) > 1 {
		p.Args = append(p.Args, b.args[1:]...)
	}
	p.Env, p.NoNewPrivileges = b.env, true
	if b.uid != 0 { // of all of root's rights reading stays: what is there to read is what is granted
		p.Capabilities = map[string][]string{}
		for _, set := range []string{"bounding", "effective", "inheritable", "permitted", "ambient"} {
			p.Capabilities[set] = []string{"CAP_DAC_READ_SEARCH"}
		}
	}
	if p.Cwd = cmd.Dir; p.Cwd == "" {
		p.Cwd = b.dir
	}
	limit := func(name string, n uint64) { p.Rlimits = append(p.Rlimits, rlimit{"RLIMIT_" + name, n, n}) }
	limit("CORE", 0)
	limit("DATA", uint64(b.limits.Memory))
	limit("NOFILE", uint64(b.limits.Files))
	limit("FSIZE", uint64(b.limits.FileSize))
	limit("NPROC", uint64(b.limits.Processes))
	if !b.warm {
		limit("CPU", uint64(max(b.limits.CPU.Seconds(), 1)))
	}
	s.Root.Path, s.Root.Readonly = b.root(), true
	s.Mounts = append([]mount{
		{"/proc", "proc", "proc", []string{"nosuid", "nodev", "noexec"}},
		{"/dev", "tmpfs", "tmpfs", []string{"nosuid", "noexec", "size=64k"}},
	}, b.mounts...)
	s.Linux.CgroupsPath = "/" + b.id
	s.Linux.Resources.Memory.Limit = b.limits.Memory + kernelMemory
	for _, kind := range []string{"pid", "network", "ipc", "uts", "mount"} {
		s.Linux.Namespaces = append(s.Linux.Namespaces, namespace{kind})
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(filepath.Join(b.base, "config.json"), text, 0o600)
	}
	if err != nil {
		return failed("no bundle for gVisor: %v", syscallText(err))
	}
	return nil
}

// files decides what is mounted where. Every file is where it is outside.
func (b *kernelBox) files(cmd *exec.Cmd) error {
	var paths []string
	for _, g := range append(machine(), b.grants...) {
		path := string(g.Path)
		if !below(path, "/proc") && !below(path, "/dev") && !below(path, "/sys") {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(x, y string) int { return cmp.Or(len(x)-len(y), strings.Compare(x, y)) })
	for _, path := range slices.Compact(paths) {
		if err := b.show(path); err != nil {
			return err
		}
	}
	b.mounts = append(b.mounts, mount{b.dir, "bind", b.dir, []string{"bind", "rw", "nosuid", "nodev", "noexec"}})
	if err := b.link(b.program); err != nil {
		return err
	}
	if cmd.Dir != "" {
		dir, err := filepath.Abs(cmd.Dir)
		if err != nil {
			return err
		}
		cmd.Dir = dir
		if !b.shown(dir) { // a tool starts in its directory though it cannot read it
			return os.MkdirAll(filepath.Join(b.root(), dir), 0o755)
		}
	}
	return nil
}

// show mounts a file or a directory, or makes a link where there is one outside.
func (b *kernelBox) show(path string) error {
	info, err := os.Lstat(path)
	if err != nil || b.shown(path) {
		return nil // none of this machine's
	}
	if info.Mode()&os.ModeSymlink != 0 {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil
		}
		if err := b.show(real); err != nil {
			return err
		}
		return b.link(path)
	}
	b.mounts = append(b.mounts, mount{path, "bind", path, []string{"rbind", "ro", "nosuid", "nodev"}})
	return nil
}

// link makes the link that leads to a file in the container's root, unless the file is there without.
func (b *kernelBox) link(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path || b.shown(path) {
		return nil
	}
	at := filepath.Join(b.root(), path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(real, at); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

func (b *kernelBox) shown(path string) bool {
	return slices.ContainsFunc(b.mounts, func(m mount) bool { return below(path, m.Destination) })
}
