package config

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const casesDir = "../../testdata/config"

// testEnv is what the cases see of the environment.
var testEnv = map[string]string{
	"A_KEY":              "sk-provider-a-4f9d0c71",
	"B_KEY":              "sk-provider-b-77a2be10",
	"B_KEY_2":            "sk-provider-b-00c1d2e3",
	"C_KEY":              "sk-provider-c-9b8a7c6d",
	"CI_KEY":             "gw-ci-3f1c9a7e5b2d8064",
	"CI_KEY_2":           "gw-ci-second-71d08be2f",
	"OPENROUTER_API_KEY": "sk-or-2c86f0e15d9b7a43",
	"OPENAI_API_KEY":     "sk-openai-51b7d2a9c0e4",
	"EMPTY_KEY":          "",
	"NEWLINE_KEY":        "sk-with-a-line-break-0001\n",
	"HOST":               "not a host: sk-host-secret-001",
	"HOST_NAME":          "u:pw-in-an-address@a.example",
	"COUNT":              "5",
	"SIZE":               "5 bananas",
	"WAIT":               "long-long-time",
	"FLAG":               "true",
	"ADMIN_TOKEN":        "gwa-3f1c9a7e5b2d80640",
}

// literalSecrets stand in the case files themselves.
var literalSecrets = []string{
	"short-secret-1", "123456789012345678", "sk-listed-secret", "sk-mapped-secret", "sk-pasted-secret", "sk-query-secret",
	"joes-password", "sk-default-secret", "sk-not-a-hash", "sk-used-as-a-name", "12345678901234567", "aaaaaaaaaaaaaaaa",
	"pw-in-an-address", "changeme-changeme", "admin-admin-admin",
}

func lookupTest(name string) (string, bool) {
	v, ok := testEnv[name]
	return v, ok
}

func testOptions() Options { return Options{Env: lookupTest} }

func TestCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(casesDir, "*.*.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		stem, ext, _ := strings.Cut(filepath.Base(file), ".")
		kind, ext, _ := strings.Cut(ext, ".")
		if ext != "yaml" && ext != "json" {
			continue
		}
		t.Run(stem+" "+kind, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, problems := Parse(file, data, testOptions())
			if wantFile := kind == "good"; (f != nil) != wantFile || (problems.Err() == nil) != wantFile {
				t.Errorf("file = %v, problems:\n%v", f != nil, problems)
			}
			hidesSecrets(t, problems.Error())
			text := strings.ReplaceAll(problems.Error(), casesDir+"/", "")
			golden(t, strings.TrimSuffix(file, "."+ext)+".problems", text)
		})
	}
}

// golden compares text with a file; a missing file is empty text.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if got != "" {
		got += "\n"
	}
	if *update {
		if got == "" {
			_ = os.Remove(path) // most likely it is not there
		} else if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

func hidesSecrets(t *testing.T, text string) {
	t.Helper()
	secrets := append([]string(nil), literalSecrets...)
	for _, v := range testEnv {
		if v = strings.TrimSpace(v); len(v) >= shortestHidden {
			secrets = append(secrets, v)
		}
	}
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("the secret %q is shown in:\n%s", s, text)
		}
	}
}
