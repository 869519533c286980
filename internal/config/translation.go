package config

import (
	"slices"
	"strconv"
	"strings"
)

// Translation is what a translation of requests must know of the service and
// the model that a deployment leads to. What is not known is false: then the
// upstream is asked for nothing that only some have.
type Translation struct {
	// Full: the service takes all fields of its protocol, the newer and rarer ones
	// too.
	Full bool
	// Reasons: the model reasons, and can be told how much.
	Reasons bool
	// Adaptive: such a model takes an effort and decides for itself how long it
	// thinks (anthropic); otherwise it is given a budget.
	Adaptive bool
	// KeepsReasoning: the service wants the reasoning of earlier turns back.
	KeepsReasoning bool
	// ShortCallIDs: the ids of calls must be nine letters or digits.
	ShortCallIDs bool
	// SchemaOutput: the model can be held to a JSON schema.
	SchemaOutput bool
}

// translation is what is known of a deployment whose abilities are resolved.
func translation(r *Resolved) Translation {
	up := &r.Provider.Upstream
	return Translation{
		Full:           up.Service.Full,
		Reasons:        r.Reasoning && up.Service.takesEffort(r.UpstreamModel),
		Adaptive:       up.Protocol == ProtocolAnthropic && adaptive(r.UpstreamModel),
		KeepsReasoning: up.Service.KeepsReasoning,
		ShortCallIDs:   up.Service.ShortCallIDs,
		SchemaOutput:   slices.Contains(r.Capabilities, "json_schema"),
	}
}

// adaptive reports whether a model of Anthropic's decides for itself how long it
// thinks: those from version 4.6 on, of which the newer ones refuse a budget.
func adaptive(model string) bool {
	const first = 4*100 + 6
	_, rest, ok := strings.Cut(strings.ToLower(model), "claude-")
	if !ok {
		return false
	}
	// claude-opus-4-6, claude-sonnet-5, claude-opus-4.7 at those who write a dot;
	// in claude-3-7-sonnet-20250219 the version comes first.
	words := strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == '.' || r == '@' || r == ':' })
	version := 0
	for i, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || n > 99 {
			continue
		}
		if version = n * 100; i+1 < len(words) {
			if minor, err := strconv.Atoi(words[i+1]); err == nil && minor <= 99 {
				version += minor
			}
		}
		break
	}
	return version >= first
}
