package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"gatewright/wasm/sdk"
)

// language is what a new policy in a language of Wasm is made of.
type language struct {
	name   string            // for people
	source string            // the file that people change
	copies map[string]string // files of the SDK, by their names in the folder; KIND is the kind
	extra  map[string]string // templates, by their names in the folder
	sdk    string            // for the README
}

var moduleLanguages = map[string]language{
	"c": {
		name: "C", source: "policy.c", sdk: "`gatewright.h`",
		copies: map[string]string{"policy.c": "c/KIND.c", "gatewright.h": "c/gatewright.h"},
	},
	"rust": {
		name: "Rust", source: "policy.rs", sdk: "`gatewright.rs`",
		copies: map[string]string{"policy.rs": "rust/KIND.rs", "gatewright.rs": "rust/gatewright.rs"},
	},
	"assemblyscript": {
		name: "AssemblyScript", source: "policy.ts", sdk: "`gatewright.ts`, and `manifest.mjs` for the build",
		copies: map[string]string{
			"policy.ts": "assemblyscript/KIND.ts", "gatewright.ts": "assemblyscript/gatewright.ts", "manifest.mjs": "assemblyscript/manifest.mjs",
			"package.json": "assemblyscript/package.json", "package-lock.json": "assemblyscript/package-lock.json",
		},
	},
	"go": {
		name: "Go", source: "main.go", sdk: "`gatewright/`, and `manifest/` for the build",
		copies: map[string]string{
			"main.go": "go/KIND/main.go", "manifest/main.go": "go/manifest/main.go",
			"gatewright/gatewright.go": "go/gatewright/gatewright.go", "gatewright/params.go": "go/gatewright/params.go",
		},
		extra: map[string]string{"go.mod": "go.mod.tmpl"},
	},
}

// languageNames lists the languages of policy new.
func languageNames() []string {
	return append([]string{"rego"}, slices.Sorted(maps.Keys(moduleLanguages))...)
}

// blank is what templates of a module are filled with.
type blank struct {
	Name, What, Language, Source, SDK string
	Params                            string // flags that show the parameters
	Profile                           string // flag, with a blank before it; "" = none is needed
	Targets                           string // of the Makefile
}

// scaffoldModule writes a folder that builds, tests and uploads a policy.
func scaffoldModule(c *cobra.Command, name, kind, lang, dir string) error {
	l := moduleLanguages[lang]
	folder := filepath.Join(dir, name)
	if _, err := os.Lstat(folder); err == nil {
		return fmt.Errorf("%s is there already; choose another name or --dir", folder)
	}
	files, err := l.files(lang, name, kind)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		target := filepath.Join(folder, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			return err
		}
		if err := writeNew(target, files[file], false); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), `%s is written, in %s. Then, in that folder:

  make          # the Makefile says what it needs
  make test
  make push     # a draft, of a running gateway
  make activate
  gatewright bind %s --policy %[3]s
`, folder, l.name, name)
	return err
}

// files are the files of a new policy by their names in its folder.
func (l *language) files(lang, name, kind string) (map[string][]byte, error) {
	fill := blank{Name: name, What: "who may serve a request", Language: l.name, Source: l.source, SDK: l.sdk, Params: `--param regions='["eu-west"]'`}
	if kind == "ranking" {
		fill.What, fill.Params = "who is tried first", "--param ms_nusd=500"
	}
	if lang == "go" {
		fill.Profile = " --profile go"
	}
	files := map[string][]byte{}
	for to, from := range l.copies {
		text, err := sdk.Files.ReadFile(strings.ReplaceAll(from, "KIND", kind))
		if err != nil {
			return nil, err
		}
		files[to] = named(text, to == l.source, name)
	}
	targets, err := filled("targets.mk", fill)
	if err != nil {
		return nil, err
	}
	fill.Targets = strings.TrimSuffix(string(targets), "\n")
	templates := map[string]string{"Makefile": lang + ".mk", "README.md": "README.md.tmpl", "input.json": "input.json", ".gitignore": "gitignore"}
	maps.Copy(templates, l.extra)
	for to, from := range templates {
		if files[to], err = filled(from, fill); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// named takes a file of the SDK out of this module, and gives the example the
// policy's name.
func named(text []byte, example bool, name string) []byte {
	text = bytes.ReplaceAll(text, []byte("gatewright/wasm/sdk/go/"), []byte("policy/"))
	if !example {
		return text
	}
	for _, own := range []string{"region-budget", "price-latency-quota"} {
		text = bytes.Replace(text, []byte(`"name": "`+own+`"`), []byte(`"name": "`+name+`"`), 1)
	}
	return text
}

func filled(file string, fill blank) ([]byte, error) {
	t, err := template.ParseFS(templates, path.Join("templates/module", file))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, fill)
	return b.Bytes(), err
}
