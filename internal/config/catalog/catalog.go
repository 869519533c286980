package catalog

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Mode is what a model is called for.
type Mode string

// The modes. Only chat and embedding models are offered.
const (
	ModeChat      Mode = "chat"
	ModeEmbedding Mode = "embedding"
	ModeResponses Mode = "responses" // the Responses endpoint alone
	ModeMedia     Mode = "media"     // speech, transcription, images, live audio
)

// Model is what is known of one model at one provider. The pointers belong to
// the catalog: read them, never write through them.
type Model struct {
	Kind string // of the provider: "openai", "gemini", …
	Name string // the provider's own name
	Mode Mode

	// Prices in nano-USD per million tokens; nil = not listed.
	Input, Output, CachedInput, CacheWrite *int64

	// Limits in tokens; nil = not listed. Context is for input and output
	// together where the lists say so, else for the input.
	Context, MaxOutput *int64

	// Capabilities are the abilities by their names in the configuration.
	// CapabilitiesKnown is false when others may exist.
	Capabilities      []string
	CapabilitiesKnown bool

	// Offered: the name can be sent to the provider today, and a gateway that is
	// configured by the environment alone serves it.
	Offered bool
}

// Reasoning reports whether the model thinks before it answers, so that its
// first token may take minutes.
func (m *Model) Reasoning() bool { return slices.Contains(m.Capabilities, "reasoning") }

//go:embed data/catalog.tsv
var table string

// columns of the table, tab-separated; the first line names them.
const columns = 11

type index struct {
	models []Model // in the order of the table: by kind, then by name
	byName map[string]*Model
}

// load reads the table on first use: some tenths of a millisecond, once.
var load = sync.OnceValue(func() index { return parse(table) })

// parse reads a table. Lines that are not of its shape are left out; a test
// reads the embedded one strictly.
func parse(text string) index {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	x := index{models: make([]Model, 0, len(lines)), byName: make(map[string]*Model, len(lines))}
	for _, line := range lines[1:] {
		if m, ok := parseLine(line); ok {
			x.models = append(x.models, m)
		}
	}
	for i := range x.models {
		x.byName[key(x.models[i].Kind, x.models[i].Name)] = &x.models[i]
	}
	return x
}

func parseLine(line string) (Model, bool) {
	f := strings.Split(line, "\t")
	if len(f) != columns {
		return Model{}, false
	}
	m := Model{Kind: f[0], Name: f[1], Mode: Mode(f[2])}
	for i, p := range []**int64{&m.Input, &m.Output, &m.CachedInput, &m.CacheWrite, &m.Context, &m.MaxOutput} {
		if f[3+i] == "" {
			continue
		}
		n, err := strconv.ParseInt(f[3+i], 10, 64)
		if err != nil {
			return Model{}, false
		}
		*p = &n
	}
	abilities, open := strings.CutPrefix(f[9], "?")
	m.CapabilitiesKnown = !open
	if abilities != "" {
		m.Capabilities = strings.Split(abilities, ",")
	}
	m.Offered = f[10] == "yes"
	return m, true
}

func key(kind, name string) string { return kind + "\t" + name }

// snapshot is the date or "latest" behind the name of a model's version.
var snapshot = regexp.MustCompile(`[-@](20\d\d-\d\d-\d\d|20\d{6}|latest)$`)

// Lookup finds a model by the kind of its provider and the provider's own name
// of it. A dated version that is not listed itself is found by its undated
// name. The result is shared and must not be changed.
func Lookup(kind, name string) (*Model, bool) {
	if kind == "" {
		return nil, false
	}
	x := load()
	name = strings.TrimPrefix(name, "models/")
	if m, ok := x.byName[key(kind, name)]; ok {
		return m, true
	}
	if at := snapshot.FindStringIndex(name); at != nil {
		m, ok := x.byName[key(kind, name[:at[0]])]
		return m, ok
	}
	return nil, false
}

// Offered lists the models that a provider of that kind serves today, by name.
// The result belongs to the caller, what its pointers lead to does not.
func Offered(kind string) []Model {
	var list []Model
	for _, m := range load().models {
		if m.Kind == kind && m.Offered {
			list = append(list, m)
		}
	}
	return list
}
