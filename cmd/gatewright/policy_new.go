package main

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gatewright/internal/config"
)

//go:embed templates
var templates embed.FS

func newPolicyNew() *cobra.Command {
	var kind, lang, dir string
	c := &cobra.Command{
		Use:   "new NAME --kind admission|ranking",
		Short: "Write a policy to begin with, that works as it is",
		Long: `Write a policy to begin with, that works as it is: in Rego a file, its tests, and an
input to try it on; in another language a folder with the SDK, a whole example, and a
Makefile that builds, tests and uploads it.`,
		Args: oneName("policy"),
		RunE: func(c *cobra.Command, args []string) error {
			name := args[0]
			switch {
			case !slices.Contains(choices["kind"], kind):
				return usageError{fmt.Errorf("--kind %q: write admission (who may serve a request) or ranking (who is tried first)", kind)}
			case !slices.Contains(languageNames(), lang):
				return usageError{fmt.Errorf("--lang %q: there are %s; a module of another language is written after docs/wasm-abi.md", lang, strings.Join(languageNames(), ", "))}
			case !config.IsPolicyName(name):
				return usageError{fmt.Errorf("%q cannot be the name of a policy: use letters, digits, dot, - and _, and begin with a letter, a digit or _", name)}
			}
			if lang != "rego" {
				return scaffoldModule(c, name, kind, lang, dir)
			}
			return scaffold(c, name, kind, dir)
		},
	}
	c.Flags().StringVar(&kind, "kind", "", "`kind`: admission or ranking")
	c.Flags().StringVar(&lang, "lang", "rego", "`language`: "+strings.Join(languageNames(), ", "))
	c.Flags().StringVar(&dir, "dir", ".", "`folder` to write to")
	return c
}

// scaffold writes the files of a template, none if one of them is there.
func scaffold(c *cobra.Command, name, kind, dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	files := make(map[string][]byte, 3)
	base := filepath.Join(dir, name)
	for _, f := range [...]struct{ suffix, template string }{
		{".rego", kind + ".rego"}, {"_test.rego", kind + "_test.rego"}, {"_input.json", "module/input.json"},
	} {
		text, err := templates.ReadFile("templates/" + f.template)
		if err != nil {
			return err
		}
		path := base + f.suffix
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is there already; choose another name or --dir", path)
		}
		files[path] = text
	}
	for path, text := range files {
		if err := writeNew(path, text, false); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), `%s.rego, its tests and an input to try it on are written. Then:

  gatewright policy test %[1]s.rego
  gatewright policy push %[2]s %[1]s.rego
  gatewright policy try %[2]s --input %[1]s_input.json
  gatewright policy activate %[2]s
  gatewright bind %[2]s --policy %[2]s
`, base, name)
	return err
}
