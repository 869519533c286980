package suite

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gatewright/internal/bench/dialog"
	"gatewright/internal/bench/proc"
	"gatewright/internal/bench/report"
)

func parse(t *testing.T, text string) object {
	t.Helper()
	var v object
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct{ name, base, extra, want string }{
		{"nothing", `{"a":1}`, `{}`, `{"a":1}`},
		{"a new key", `{"a":1}`, `{"b":{"c":2}}`, `{"a":1,"b":{"c":2}}`},
		{"a value is replaced", `{"a":1}`, `{"a":[2]}`, `{"a":[2]}`},
		{"objects are merged", `{"a":{"b":1,"c":{"d":1}}}`, `{"a":{"c":{"e":2}}}`, `{"a":{"b":1,"c":{"d":1,"e":2}}}`},
		{"lists are replaced", `{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		{"null removes", `{"a":1,"b":{"c":1,"d":2}}`, `{"a":null,"b":{"c":null}}`, `{"b":{"d":2}}`},
		{"an object in place of a value", `{"a":1}`, `{"a":{"b":2}}`, `{"a":{"b":2}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := parse(t, tt.base)
			if got, want := merge(base, parse(t, tt.extra)), parse(t, tt.want); !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if want := parse(t, tt.base); !reflect.DeepEqual(base, want) {
				t.Errorf("the base was changed: %v, want %v", base, want)
			}
		})
	}
}

func TestParseExtra(t *testing.T) {
	for _, text := range []string{"", "[]", "a: b", `"x"`} {
		if _, err := ParseExtra([]byte(text)); err == nil {
			t.Errorf("%q is taken for an object", text)
		}
	}
	if got, err := ParseExtra([]byte(`{"log":{"level":"error"}}`)); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestConfiguration(t *testing.T) {
	for _, pools := range []bool{false, true} {
		text, err := json.Marshal(configuration("127.0.0.1:8", "127.0.0.1:9", "/data", pools))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Listen    string
			Providers map[string]any
			Models    map[string]struct{ Deployments []struct{ Provider string } }
			Keys      map[string]any
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if got.Listen != "127.0.0.1:8" {
			t.Errorf("listens on %q", got.Listen)
		}
		if len(got.Keys) == 0 {
			t.Error("no keys: callers are not checked")
		}
		if n := len(got.Models[dialog.Model].Deployments); n != 1 {
			t.Errorf("the plain model has %d deployments, want 1", n)
		}
		for name, m := range got.Models {
			for _, d := range m.Deployments {
				if got.Providers[d.Provider] == nil {
					t.Errorf("model %s names provider %q, which is not there", name, d.Provider)
				}
			}
		}
		for _, name := range []string{modelPair, modelLimited, modelHinted} {
			if n := len(got.Models[name].Deployments); (n == 2) != pools {
				t.Errorf("pools %t: model %s has %d deployments", pools, name, n)
			}
		}
	}
}

func TestTurnLetsEachBeFirst(t *testing.T) {
	b := &bench{steady: []*instance{{name: "ref"}, {name: "a"}, {name: "b"}}}
	var got []string
	for pass := range 4 {
		for _, i := range b.turn(pass) {
			got = append(got, i.name)
		}
	}
	if text, want := strings.Join(got, " "), "ref a b a b ref b ref a ref a b"; text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

func TestNoteSaysWhatMakesFiguresDoubtful(t *testing.T) {
	pinned := proc.Cores{Gateway: 0, Load: 1}
	for _, tt := range []struct {
		name    string
		cores   proc.Cores
		others  []float64
		refs    []float64
		has     []string
		doubted bool
	}{
		{"a quiet machine", pinned, []float64{0.01, 0.02, 0.5}, []float64{1, 1.05}, []string{"core 0", "2 %", "50 %", "5 %"}, false},
		{"others", pinned, []float64{0.2, 0.3, 0.1}, []float64{1, 1}, []string{"20 %", "30 %"}, true},
		{"a machine that changes its pace", pinned, []float64{0}, []float64{1, 1.1, 1.3}, []string{"27 %"}, true},
		{"one core", proc.Cores{Gateway: proc.Unpinned, Load: proc.Unpinned, Note: "one core: all share it"}, nil, []float64{1}, []string{"one core: all share it"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &report.Report{}
			r.Declare(report.Measure{ID: "m", Unit: report.CPUSeconds})
			for _, v := range tt.refs {
				r.Add("m", report.Yardstick, v)
			}
			b := &bench{cores: tt.cores, others: tt.others, report: r}
			b.note()
			text := strings.Join(r.Notes, "\n")
			for _, want := range tt.has {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in %q", want, text)
				}
			}
			if got := strings.Contains(text, "preliminary"); got != tt.doubted {
				t.Errorf("doubted: got %t, want %t: %s", got, tt.doubted, text)
			}
		})
	}
}
