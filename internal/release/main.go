// Command release makes the commit that a version of flowgen is tagged at. In the tree the modules of go.work require each other
// as they are, by replace lines, and `go install ...@version` refuses a module with such lines. The commit has none: each module
// requires the others at the version, with the sums of their archives.
//
//	go run ./internal/release -check         # makes a version in a temporary folder, installs it and follows the README's tour
//	go run ./internal/release -tag v0.5.0    # the same, and then the commit and one tag for each module
//
// The commit is on no branch: `git push origin --tags` publishes it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

func main() {
	tag := flag.String("tag", "", "the version to tag, such as v0.5.0")
	check := flag.Bool("check", false, "build flowgen from a version that is not tagged")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	version := *tag
	if *check && version == "" {
		version = "v0.0.1-check"
	}
	err := errors.New("one of -check and -tag VERSION is required")
	if semver.Canonical(version) == version && version != "" && flag.NArg() == 0 {
		err = release(ctx, version, *tag != "")
	} else if version != "" {
		err = fmt.Errorf("%q is not a version such as v0.5.0", version)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release makes the version in a clone of HEAD, builds flowgen from it, and with tag fetches commit and tags into this repository.
func release(ctx context.Context, version string, tag bool) (err error) {
	root, err := run(ctx, ".", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if changed, err := run(ctx, root, nil, "git", "status", "--porcelain"); err != nil || changed != "" && tag {
		return errors.Join(err, errors.New("commit or remove what has changed first"))
	}
	temp, err := os.MkdirTemp("", "flowgen-release")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	tree := filepath.Join(temp, "tree")
	if _, err := run(ctx, root, nil, "git", "clone", "-q", "--no-hardlinks", ".", tree); err != nil {
		return err
	}
	modules, err := ordered(tree)
	if err != nil {
		return err
	}
	p := &proxy{dir: filepath.Join(temp, "proxy"), version: version, sums: map[string]string{}}
	for _, m := range modules {
		if err := errors.Join(p.require(m), p.publish(m)); err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
	}
	if err := p.build(ctx, temp, modules); err != nil {
		return err
	}
	if !tag {
		return nil
	}
	if _, err := run(ctx, tree, nil, "git", "commit", "-q", "-a", "-m", "Release "+version); err != nil {
		return err
	}
	fetch := []string{"fetch", "-q", tree}
	for _, m := range modules {
		name := strings.TrimPrefix(strings.TrimPrefix(m.path, module)+"/"+version, "/")
		if _, err := run(ctx, tree, nil, "git", "tag", name); err != nil {
			return err
		}
		fetch = append(fetch, "refs/tags/"+name+":refs/tags/"+name)
		fmt.Println(name)
	}
	_, err = run(ctx, root, nil, "git", fetch...)
	return err
}

// run runs a command in a folder, with more variables, and returns what it writes.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
