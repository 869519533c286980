package translate

import (
	"strconv"
	"strings"
)

// geminiModel is what the name of a Gemini model tells of what it takes.
type geminiModel struct {
	gemini bool // one of the family; others, such as Gemma, neither think nor sign
	major  int  // of its version, 0 if the name tells none, as "gemini-flash-latest"
	minor  int
	pro    bool

	reasons bool // whatever its name, it is known to think
}

// parseGeminiModel reads a name such as "gemini-2.5-pro", with or without a path
// before it.
func parseGeminiModel(name string) (m geminiModel) {
	name = name[strings.LastIndexByte(name, '/')+1:]
	rest, ok := strings.CutPrefix(name, "gemini-")
	if !ok {
		return m
	}
	m.gemini, m.pro = true, strings.Contains(rest, "pro")
	version, _, _ := strings.Cut(rest, "-")
	major, minor, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err == nil {
		m.major = n
		m.minor, _ = strconv.Atoi(minor)
	}
	return m
}

// thinks reports whether the model takes a thinkingConfig.
func (m geminiModel) thinks() bool {
	return m.reasons || m.gemini && (m.major == 0 || m.major > 2 || m.major == 2 && m.minor >= 5)
}

// levels reports whether the model is told how much to think by a level; before
// the third generation it is a number of tokens.
func (m geminiModel) levels() bool { return m.gemini && (m.major == 0 || m.major > 2) }

// signs reports whether the model refuses a history in which the calls of
// functions lack their thoughtSignature.
func (m geminiModel) signs() bool { return m.levels() }

// The numbers of tokens that efforts stand for where there are no levels: those
// that Google's own OpenAI endpoint takes.
const (
	geminiBudgetLow    = 1024
	geminiBudgetMedium = 8192
	geminiBudgetHigh   = 24576
	geminiBudgetLeast  = 128 // of models that cannot do without
	geminiBudgetFree   = -1  // as much as the model wants
)

// writeThinking writes the thinkingConfig, the last member of a
// generationConfig.
func (m geminiModel) writeThinking(w *writer, t *Thinking, lost *losses) {
	show := t.Summary != "none" && (t.Summary != "" || t.Budget > 0 || t.Adaptive)
	if t.Effort == EffortDefault && !show {
		return
	}
	switch {
	case !m.thinks() && t.Effort != EffortNone:
		lost.add("reasoning", "the model does not think")
		return
	case !m.thinks():
		return
	case t.Effort == EffortNone && (m.levels() || m.pro):
		lost.add("reasoning", "the model cannot be kept from thinking; it is told to think as little as it can")
	}
	w.key("thinkingConfig")
	w.open('{')
	switch {
	case t.Budget > 0:
		w.integerMember("thinkingBudget", t.Budget)
	case t.Effort == EffortDefault:
		if t.Adaptive && !m.levels() {
			w.integerMember("thinkingBudget", geminiBudgetFree)
		}
	case m.levels():
		w.textMember("thinkingLevel", geminiLevel(t.Effort))
	default:
		w.key("thinkingBudget")
		w.integer(m.budget(t.Effort))
	}
	if show {
		w.flagMember("includeThoughts", true)
	}
	w.close('}')
}

// geminiLevel returns the level that comes nearest to an effort, of those that
// all models of the generation take.
func geminiLevel(e Effort) string {
	switch e {
	case EffortNone, EffortMinimal, EffortLow:
		return "low"
	case EffortMedium:
		return "medium"
	case EffortDefault, EffortHigh, EffortXHigh, EffortMax:
	}
	return "high"
}

func (m geminiModel) budget(e Effort) int64 {
	switch e {
	case EffortNone:
		if m.pro {
			return geminiBudgetLeast
		}
		return 0
	case EffortMinimal, EffortLow:
		return geminiBudgetLow
	case EffortMedium:
		return geminiBudgetMedium
	case EffortDefault, EffortHigh, EffortXHigh, EffortMax:
	}
	return geminiBudgetHigh
}
