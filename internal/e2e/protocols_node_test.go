//go:build node

package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// talked is a conversation with tools.
type talked struct {
	Called []string
	After  string
}

func (t talked) whole() bool {
	return slices.Equal(slices.Sorted(slices.Values(t.Called)), []string{"get_time", "get_weather"}) && t.After == "Where am I?"
}

// driven is what a script saw on one model.
type driven struct {
	Text, Model, Streamed         string
	Input, Output, StreamedOutput int
	Talk, StreamedTalk            talked
	OK                            bool
	Counted                       int // by Anthropic's SDK
	Error                         struct {
		Name   string
		Status int
	}
}

// Each SDK of npm is served by an upstream of every protocol.
func TestNodeOnEachProtocol(t *testing.T) {
	t.Parallel()
	for script, errors := range map[string]struct{ unknown, broken string }{
		"protocols_openai.mjs":    {"NotFoundError", "APIError"},
		"protocols_anthropic.mjs": {"NotFoundError", "APIError"},
		"protocols_ai.mjs":        {"AI_APICallError", ""},
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			gw, sim := protocolsGateway(t)
			var got map[string]driven
			node(t, gw, script, &got, sdkKey, strings.Join(protocolModels, ","), strings.Join(brokenModels, ","))
			if want := slices.Sorted(slices.Values(slices.Concat(protocolModels, brokenModels))); !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
				t.Errorf("models %v", slices.Sorted(maps.Keys(got)))
			}
			for _, model := range protocolModels {
				d := got[model]
				if d.Text != "Say hello." || d.Model != model || d.Input != 100 || d.Output != 20 || d.Streamed != "Say more." || d.StreamedOutput != 20 {
					t.Errorf("%s: %+v", model, d)
				}
				if !d.Talk.whole() || !d.StreamedTalk.whole() || !d.OK || d.Counted == 0 && script == "protocols_anthropic.mjs" {
					t.Errorf("%s: talks %+v, %+v, form %v, count %d", model, d.Talk, d.StreamedTalk, d.OK, d.Counted)
				}
				if d.Error.Name != errors.unknown || d.Error.Status != 404 {
					t.Errorf("%s: unknown model: %+v", model, d.Error)
				}
			}
			for _, model := range brokenModels {
				if e := got[model].Error; e.Name == "" || errors.broken != "" && !strings.HasSuffix(e.Name, errors.broken) {
					t.Errorf("%s: a stream that breaks off: %+v", model, e)
				}
			}
			checkPaths(t, sim)
		})
	}
}
