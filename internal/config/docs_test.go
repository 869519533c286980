package config

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const providersPage = "../../docs/providers.md"

// TestProvidersPage keeps the tables of the page what the presets are.
func TestProvidersPage(t *testing.T) {
	page, err := os.ReadFile(providersPage)
	if err != nil {
		t.Fatal(err)
	}
	want := string(page)
	for name, table := range map[string]string{"presets": presetTable(), "dialects": dialectTable()} {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		head, rest, found := strings.Cut(want, begin)
		_, tail, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no place for %s", providersPage, name)
		}
		want = head + begin + table + end + tail
	}
	if *update {
		if err := os.WriteFile(providersPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, string(page)); d != "" {
		t.Errorf("%s is stale, run the test with -update (-want +got):\n%s", providersPage, d)
	}
}

func presetTable() string {
	var b strings.Builder
	b.WriteString("| preset | protocol | address | key from |\n|---|---|---|---|\n")
	for _, p := range Presets() {
		address := "`" + p.BaseURL + "`"
		if p.BaseURL == "" {
			address = "of the `resource`, or `base_url`"
		}
		keys := "none is sent"
		if len(p.EnvKeys) > 0 {
			keys = "`" + strings.Join(p.EnvKeys, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, p.Protocol, address, keys)
	}
	return b.String()
}

// dialectTable says what the presets need of the settings of deployments.
func dialectTable() string {
	var b strings.Builder
	b.WriteString("| preset | `no_system_role` | `max_tokens_field` | `reasoning` | `history_reasoning` |\n|---|---|---|---|---|\n")
	for _, p := range Presets() {
		row := func(name string, s *Service) {
			cells := [4]string{modelsOf(s.NoSystemRole)}
			switch {
			case s.MaxTokens:
				cells[1] = "`max_tokens`"
			case s.MaxCompletionTokens:
				cells[1] = "`max_completion_tokens`, of models that reason"
			}
			if s.ThinkTags {
				cells[2] = "`think_tags`"
			}
			if len(s.Refused) > 0 {
				cells[3] = "`drop`"
				if len(s.Refused) < len(reasoningFields) {
					cells[3] += ", but for `reasoning`"
				}
			}
			if cells != [4]string{} {
				fmt.Fprintf(&b, "| %s | %s |\n", name, strings.Join(cells[:], " | "))
			}
		}
		row("`"+p.Name+"`", &p.Service)
		if p.CompatibleURL != "" {
			row("`"+p.Name+"`, `protocol: openai`", &p.CompatibleService)
		}
	}
	return b.String()
}

func modelsOf(starts []string) string {
	if len(starts) == 0 {
		return ""
	}
	return "`" + strings.Join(starts, "`…, `") + "`…"
}
