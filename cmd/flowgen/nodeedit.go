package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/studio"
)

// An editable is a node whose fields can be replaced in the file that has it.
type editable struct {
	files  *disk
	before *compiled
	at     *location
	path   []string // in the file
	prompt string   // the file that has the prompt; empty: the workflow's
}

// editableNode finds a node by its path.
func (a *app) editableNode(name, node string) (*editable, error) {
	e := &editable{files: newDisk()}
	if e.before = a.compile(e.files, name); e.before.program == nil {
		return nil, a.report(e.before.list, false)
	}
	if e.before.workflow.Public {
		return nil, fmt.Errorf("%s is not in flowgen's own language: `flowgen convert %s` makes such a file", name, name)
	}
	var err error
	if e.at, err = locate(e.before.workflow, node); err != nil {
		return nil, err
	}
	file := e.at.workflow.File
	if file.Module != "" {
		return nil, fmt.Errorf("node %s is in %s, a file of a Go module, which is never written", node, file.Name)
	}
	e.path = insert.Path(e.at.containers, e.at.node.ID.Name)
	if last := len(e.at.containers) - 1; e.at.node.Inline {
		e.path = append(insert.Path(e.at.containers[:last], e.at.containers[last]), "do")
	}
	var prompt *ir.Prompt
	switch v := e.at.node.Verb.(type) {
	case *ir.LLM:
		prompt = v.Prompt
	case *ir.Agent:
		prompt = v.Prompt
	}
	if prompt != nil && prompt.File.Name != "" {
		e.prompt = path.Join(path.Dir(file.Name), prompt.File.Name)
		if e.files.texts[e.prompt] == nil {
			return nil, fmt.Errorf("the prompt of node %s is not in a file of this folder", node)
		}
	}
	return e, nil
}

// text is what the node says now.
func (e *editable) text() *studio.NodeText {
	file := e.at.workflow.File.Text
	out := &studio.NodeText{Prompt: insert.Written(file, e.path, "prompt"), Tool: insert.Written(file, e.path, "tool"), With: insert.Written(file, e.path, "with"), Tools: []string{}}
	if _, ok := e.at.node.Verb.(*ir.Agent); ok {
		out.AgentTools = insert.Written(file, e.path, "tools")
	}
	if e.prompt != "" {
		_, out.Prompt = frontMatter(string(e.files.texts[e.prompt]))
	}
	for _, t := range e.at.workflow.Tools {
		out.Tools = append(out.Tools, t.Key.Name) // with the version where the file has several
	}
	return out
}

// frontMatter divides a prompt file.
func frontMatter(text string) (front, rest string) {
	if strings.HasPrefix(text, "---\n") {
		if end := strings.Index(text, "\n---\n"); end >= 0 {
			return text[:end+5], text[end+5:]
		}
	}
	return "", text
}

// edited are the files that an operation changes, with their new texts. The workflow with them has no new mistakes.
func (e *editable) edited(a *app, op studio.Operation) (map[string]string, error) {
	file := e.at.workflow.File
	texts, now := map[string]string{}, file.Text
	for _, f := range []struct{ key, value string }{{"prompt", op.Prompt}, {"tool", op.Tool}, {"with", op.With}, {"tools", op.AgentTools}} {
		var err error
		switch {
		case f.value == "":
		case f.key == "prompt" && e.prompt != "":
			front, _ := frontMatter(string(e.files.texts[e.prompt]))
			texts[e.prompt] = front + f.value
		default:
			now, err = insert.Set(now, e.path, f.key, f.value)
		}
		if err != nil {
			return nil, fmt.Errorf("node %s cannot be written: %w", op.Node, err)
		}
	}
	if now != file.Text {
		texts[file.Name] = now
	}
	if len(texts) == 0 {
		return nil, errors.New("the edit changes nothing")
	}
	after := newDisk()
	maps.Copy(after.texts, e.files.texts)
	after.names = append(after.names, e.files.names...)
	for name, text := range texts {
		after.texts[name] = []byte(text)
	}
	return texts, a.report(newOnly(e.before.list, a.compile(after, e.before.name).list), false)
}

// editNode prints and writes what an operation changes in a node.
func (a *app) editNode(op studio.Operation, dry bool) error {
	e, err := a.editableNode(op.File, op.Node)
	if err != nil {
		return err
	}
	texts, err := e.edited(a, op)
	if err != nil {
		return err
	}
	return a.writeEdited(e.files, texts, dry)
}

// writeEdited prints how files change, and writes them unless dry is set.
func (a *app) writeEdited(files *disk, texts map[string]string, dry bool) error {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if _, err := io.WriteString(a.stdout, unified(name, string(files.texts[name]), texts[name])); err != nil {
			return err
		}
		if dry {
			continue
		}
		if err := atomicfile.Write(filepath.FromSlash(name), []byte(texts[name])); err != nil {
			return err
		}
	}
	return nil
}

// overlayLater takes --overlay out of what follows FILE: the compiler reads it, not the program.
func overlayLater(args []string, overlay *string) ([]string, error) {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case i == 0 || name != "--overlay" && name != "-overlay":
			continue
		case !joined && i+1 == len(args):
			return nil, usage("--overlay names a file")
		case joined:
			*overlay = value
			return slices.Delete(slices.Clone(args), i, i+1), nil
		}
		*overlay = args[i+1]
		return slices.Delete(slices.Clone(args), i, i+2), nil
	}
	return args, nil
}

// readOverlay reads the texts that are compiled in place of files, as -overlay of the go command names them. No name
// is not an overlay.
func readOverlay(name string) (map[string][]byte, error) {
	if name == "" {
		return nil, nil
	}
	text, err := files.Read(name, files.Max)
	if err != nil {
		return nil, unusablef("the overlay cannot be read: %w", err)
	}
	var list struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, unusablef("%s is not an overlay, as in {\"Replace\": {\"FILE\": \"OTHER\"}}: %w", name, err)
	}
	texts := map[string][]byte{}
	for file, other := range list.Replace {
		if texts[path.Clean(filepath.ToSlash(file))], err = files.Read(other, files.Max); err != nil {
			return nil, unusablef("the overlay of %s cannot be read: %w", file, err)
		}
	}
	return texts, nil
}

// overlaid tells programs of an overlay from those of the files.
func (a *app) overlaid() string {
	if len(a.overlay) == 0 {
		return ""
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(a.overlay)) {
		fmt.Fprintf(h, "%d %s %d ", len(name), name, len(a.overlay[name]))
		h.Write(a.overlay[name])
	}
	return " overlay " + hex.EncodeToString(h.Sum(nil))
}
