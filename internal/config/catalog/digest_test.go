package catalog

import (
	"cmp"
	"encoding/json"
	"flag"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite data/catalog.tsv from the two lists")

// older is one model of litellm.json.
type older struct {
	Name        string      `json:"name"`
	Provider    string      `json:"provider"`
	Mode        Mode        `json:"mode"`
	Input       json.Number `json:"input_price"`
	Output      json.Number `json:"output_price"`
	CachedInput json.Number `json:"cached_input_price"`
	CacheWrite  json.Number `json:"cache_write_price"`
	MaxInput    json.Number `json:"max_input_tokens"`
	MaxOutput   json.Number `json:"max_output_tokens"`
	Retired     string      `json:"deprecation_date"`
	Supports    []string    `json:"supports"`
	Tiered      []struct {
		Input       json.Number `json:"input_cost_per_token"`
		Output      json.Number `json:"output_cost_per_token"`
		CachedInput json.Number `json:"cache_read_input_token_cost"`
	} `json:"tiered"`
}

// younger is one model of genai-prices.json.
type younger struct {
	Name        string      `json:"name"`
	Provider    string      `json:"provider"`
	Context     json.Number `json:"context_window"`
	Input       json.Number `json:"input_price_per_million"`
	Output      json.Number `json:"output_price_per_million"`
	CachedInput json.Number `json:"cached_input_price_per_million"`
	CacheWrite  json.Number `json:"cache_write_price_per_million"`
}

// listDate is the day of the younger list: what was retired before is not
// offered.
const listDate = "2026-09-23"

// kinds are the providers that the configuration can name, by the names that
// the lists use.
var kinds = map[string]string{
	"openai": "openai", "anthropic": "anthropic", "azure": "azure", "gemini": "gemini", "google": "gemini",
	"openrouter": "openrouter", "groq": "groq", "mistral": "mistral", "deepseek": "deepseek",
	"moonshot": "moonshot", "moonshotai": "moonshot", "dashscope": "qwen", "xai": "xai", "x-ai": "xai",
	"together_ai": "together", "cerebras": "cerebras", "perplexity": "perplexity", "zai": "zai",
}

// stalePrices are models of the younger list whose prices there are those of
// versions that the same name no longer stands for.
var stalePrices = map[string]bool{"deepseek\tdeepseek-chat": true, "deepseek\tdeepseek-reasoner": true}

// familyNames are kinds for which names that only the younger list has stand for
// a family and need not be what the provider's API takes.
var familyNames = map[string]bool{"mistral": true, "deepseek": true, "groq": true, "cerebras": true}

// fullyListed are kinds whose models carry every ability that they have in the
// older list. Elsewhere flags are missing, so what is not listed is open.
var fullyListed = map[string]bool{"openai": true, "azure": true, "anthropic": true}

// abilities are the flags of the older list, by the names of the configuration.
var abilities = map[string]string{
	"function_calling": "tools", "vision": "vision", "audio_input": "audio", "video_input": "video",
	"pdf_input": "files", "response_schema": "json_schema", "native_structured_output": "json_schema",
	"reasoning": "reasoning",
}

// abilityOrder is the order that the table lists them in.
var abilityOrder = []string{"tools", "vision", "audio", "video", "files", "json_schema", "reasoning"}

// thinking are the beginnings of names that think before they answer. They are
// asked only for models that the older list does not have, and only lengthen
// default timeouts.
var thinking = []string{
	"o1", "o3", "o4", "gpt-5", "gpt-6", "claude-opus-5", "claude-fable-5", "gemini-3", "gemini-2.5-pro",
	"grok-4", "kimi-k2.7", "kimi-k3", "magistral", "deepseek-v4",
}

// media are parts of names of models that neither chat nor embed.
var media = []string{"tts", "audio", "realtime", "transcribe", "live", "-image", "voxtral"}

// responsesOnly are models of the younger list that the chat endpoint refuses.
var responsesOnly = []string{"-pro", "deep-research", "codex"}

func TestTableIsFresh(t *testing.T) {
	got := digest(t)
	const path = "data/catalog.tsv"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := diff.Diff(got, table); d != "" && !*update {
		t.Errorf("%s is stale, run the test with -update (-want +got):\n%s", path, d)
	}
}

// digest makes the table from both lists.
func digest(t *testing.T) string {
	t.Helper()
	models := make(map[string]*Model)
	var first struct{ Models []older }
	readList(t, "data/litellm.json", &first)
	for _, o := range first.Models {
		if kind, ok := kinds[o.Provider]; ok {
			m := o.model(t, kind)
			models[key(m.Kind, m.Name)] = m
		}
	}
	var second struct{ Models []younger }
	readList(t, "data/genai-prices.json", &second)
	for _, y := range second.Models {
		kind, ok := kinds[y.Provider]
		if !ok || strings.HasSuffix(y.Name, "-") || strings.Contains(y.Name, ":") {
			continue
		}
		m := models[key(kind, y.Name)]
		if m == nil {
			m = y.newModel(kind)
			models[key(kind, y.Name)] = m
		}
		if !stalePrices[key(kind, y.Name)] {
			y.price(t, m)
		}
	}
	// Azure serves OpenAI's models with the same limits; the older list gives
	// the input's share alone.
	for _, m := range models {
		if twin := models[key("openai", m.Name)]; m.Kind == "azure" && twin != nil {
			m.Context = larger(m.Context, twin.Context)
		}
	}
	return tableOf(models)
}

func (o *older) model(t *testing.T, kind string) *Model {
	t.Helper()
	if len(o.Tiered) > 0 {
		o.Input, o.Output, o.CachedInput = o.Tiered[0].Input, o.Tiered[0].Output, o.Tiered[0].CachedInput
	}
	const perToken = 1e15 // nano-USD per million tokens in a dollar per token
	m := &Model{
		Kind: kind, Name: strings.TrimPrefix(o.Name, o.Provider+"/"), Mode: o.Mode,
		Input: scaled(t, o.Input, perToken), Output: scaled(t, o.Output, perToken),
		CachedInput: scaled(t, o.CachedInput, perToken), CacheWrite: scaled(t, o.CacheWrite, perToken),
		Context: scaled(t, o.MaxInput, 1), MaxOutput: scaled(t, o.MaxOutput, 1),
		CapabilitiesKnown: fullyListed[kind],
	}
	if m.CacheWrite != nil && *m.CacheWrite == 0 {
		m.CacheWrite = nil // 0 stands for "not listed": writing is charged as input
	}
	for _, s := range o.Supports {
		if a := abilities[s]; a != "" && !slices.Contains(m.Capabilities, a) {
			m.Capabilities = append(m.Capabilities, a)
		}
	}
	slices.SortFunc(m.Capabilities, func(a, b string) int {
		return cmp.Compare(slices.Index(abilityOrder, a), slices.Index(abilityOrder, b))
	})
	m.Offered = (o.Mode == ModeChat || o.Mode == ModeEmbedding) && (o.Retired == "" || o.Retired > listDate)
	return m
}

// newModel is a model that the younger list alone has: what it can do is open.
func (y *younger) newModel(kind string) *Model {
	m := &Model{Kind: kind, Name: y.Name, Mode: ModeChat}
	has := func(parts []string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(y.Name, p) })
	}
	switch {
	case strings.Contains(y.Name, "embed"):
		m.Mode = ModeEmbedding
	case has(media):
		m.Mode = ModeMedia
	case kind == "openai" && has(responsesOnly):
		m.Mode = ModeResponses
	}
	starts := func(p string) bool { return strings.HasPrefix(y.Name, p) }
	if m.Mode == ModeChat && slices.ContainsFunc(thinking, starts) && !strings.Contains(y.Name, "non-reasoning") {
		m.Capabilities = []string{"reasoning"}
	}
	m.Offered = (m.Mode == ModeChat || m.Mode == ModeEmbedding) && !familyNames[kind]
	return m
}

// price lays the prices of the younger list over a model.
func (y *younger) price(t *testing.T, m *Model) {
	t.Helper()
	const perMillion = 1e9 // nano-USD in a dollar
	for _, p := range []struct {
		to   **int64
		from json.Number
	}{{&m.Input, y.Input}, {&m.Output, y.Output}, {&m.CachedInput, y.CachedInput}, {&m.CacheWrite, y.CacheWrite}} {
		if n := scaled(t, p.from, perMillion); n != nil {
			*p.to = n
		}
	}
	m.Context = larger(m.Context, scaled(t, y.Context, 1))
}

func readList(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// scaled returns n × factor, rounded to the nearest; nil for null.
func scaled(t *testing.T, n json.Number, factor int64) *int64 {
	t.Helper()
	if n == "" {
		return nil
	}
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		t.Fatalf("%q is not a number", n)
	}
	r.Mul(r, new(big.Rat).SetInt64(factor))
	r.Add(r, big.NewRat(1, 2))
	v := new(big.Int).Div(r.Num(), r.Denom()).Int64()
	return &v
}

func larger(a, b *int64) *int64 {
	if a == nil || (b != nil && *b > *a) {
		return b
	}
	return a
}

func tableOf(models map[string]*Model) string {
	rows := []string{strings.Join([]string{
		"kind", "name", "mode", "input", "output", "cached_input", "cache_write", "context", "max_output", "capabilities", "offered",
	}, "\t")}
	names := make([]string, 0, len(models))
	for name := range models {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		m := models[name]
		row := []string{m.Kind, m.Name, string(m.Mode)}
		for _, n := range []*int64{m.Input, m.Output, m.CachedInput, m.CacheWrite, m.Context, m.MaxOutput} {
			text := ""
			if n != nil {
				text = big.NewInt(*n).String()
			}
			row = append(row, text)
		}
		can := strings.Join(m.Capabilities, ",")
		if !m.CapabilitiesKnown {
			can = "?" + can
		}
		offered := "no"
		if m.Offered {
			offered = "yes"
		}
		rows = append(rows, strings.Join(append(row, can, offered), "\t"))
	}
	return strings.Join(rows, "\n") + "\n"
}
