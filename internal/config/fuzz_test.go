package config

import (
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
		for i := range file.Models {
			for _, r := range file.Resolve(&file.Models[i]) {
				if r.Provider == nil || r.ID == "" || r.Weight < 0 || r.Weight > MaxWeight || r.Timeouts.Connect <= 0 || r.Timeouts.Idle <= 0 || r.Timeouts.Answer <= 0 {
					t.Fatalf("resolved to %+v", r)
				}
			}
		}
	})
}
