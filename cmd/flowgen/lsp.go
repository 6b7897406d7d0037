package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/lsp"
	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

func (a *app) lspCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors: diagnostics, completion, definitions and more, over standard input and output",
		Long: "Lsp is a language server (LSP 3.17, or 3.18 if the client supports it) that editors start. It checks the text in their buffers, saved or\n" +
			"not, and executes nothing in the workspace. docs/editor.md has the settings of editors.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !lsp.Serve(cmd.Context(), duplex{a.stdin, a.stdout}, a.lspOptions()) {
				return errReported
			}
			return nil
		},
	}
	cmd.Flags().Bool("stdio", true, "use standard input and output, the only transport")
	_ = cmd.Flags().MarkHidden("stdio") // clients add it
	return cmd
}

// duplex is standard input and output as one stream.
type duplex struct {
	io.Reader
	io.Writer
}

func (d duplex) Close() error {
	if c, ok := d.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func (a *app) lspOptions() lsp.Options {
	runs := &lastRuns{map[string]time.Time{}, map[string]*lsp.Run{}}
	return lsp.Options{
		Version: origin.Version(),
		Compile: compileUnsaved,
		Format: func(name, text string) (string, error) {
			out, ok, err := (&app{}).formatted(name, []byte(text), &diag.Sink{})
			if !ok {
				return "", err
			}
			return out, err
		},
		Enter: os.Chdir,
		Find:  func() ([]string, error) { return below(".") },
		Log:   a.stderr,

		Shown: map[string]func(string, lsp.Inputs) (string, error){
			"flowgen.generated": generatedUnsaved, "flowgen.graph": graphUnsaved, "flowgen.plan": planUnsaved, "flowgen.manifest": manifestUnsaved,
		},
		LastRun: runs.of,

		Convert: convertUnsaved, Materialize: materializeUnsaved,
	}
}

// compileUnsaved is compileAny for files of which an editor has texts that are not saved.
func compileUnsaved(name string, from lsp.Inputs) *lsp.Result {
	files := unsavedDisk(from)
	one := &app{}
	c := one.compileAny(files, name)
	one.cases(files, c)
	list := append(slices.Clip(c.list), checkPrograms([]*compiled{c})...)
	res := &lsp.Result{Workflow: c.workflow, Program: c.program, List: list, Cases: c.caseFiles, Files: c.sources}
	for file := range files.asked {
		res.Files = append(res.Files, file)
	}
	return res
}

// unsavedDisk is the disk with the texts of an editor in the place of those of files.
func unsavedDisk(from lsp.Inputs) *disk {
	files := newDisk()
	files.packages, files.later, files.look = from.Packages, from.Later, from.Look
	for file, text := range from.Unsaved {
		files.texts[file] = []byte(text)
		if full, err := filepath.Abs(filepath.FromSlash(file)); err == nil {
			if files.unsaved == nil {
				files.unsaved = map[string][]byte{}
			}
			files.unsaved[full] = []byte(text)
		}
	}
	files.asked = map[string]bool{}
	return files
}
