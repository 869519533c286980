package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: no text makes the reader panic or hang, hides a problem, or makes
// a message show a secret; a file that is taken can be resolved.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(casesDir, "*.*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, problems := Parse("fuzz.yaml", data, testOptions())
		if (file == nil) != (problems.Err() != nil) {
			t.Fatalf("file = %v with problems:\n%v", file != nil, problems)
		}
		text := problems.Error()
		for name, v := range testEnv {
			if len(v) >= shortestHidden && strings.Contains(text, v) && !strings.Contains(string(data), v) {
				t.Fatalf("the value of %s is shown in:\n%s", name, text)
			}
		}
		if file == nil {
			return
		}
		for _, b := range file.Bindings {
			if b.ID == "" || !IsPolicyName(b.Policy) || b.Parameters != nil && (!json.Valid(b.Parameters) || b.Parameters[0] != '{') {
				t.Fatalf("a binding is %+v with the parameters %s", b, b.Parameters)
			}
		}
		for i := range file.Models {
			for _, r := range file.Resolve(&file.Models[i]) {
				if r.Provider == nil || r.ID == "" || r.Weight < 0 || r.Weight > MaxWeight || r.Timeouts.Connect <= 0 || r.Timeouts.Idle <= 0 || r.Timeouts.Answer <= 0 {
					t.Fatalf("resolved to %+v", r)
				}
			}
		}
	})
}
