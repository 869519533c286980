//go:build node

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// node runs a script of the folder node and reads the JSON that it prints.
func node(t *testing.T, gw *process, script string, into any, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join("node", script), gw.url("/v1")}, args...)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, gw.log())
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func TestNodeResponses(t *testing.T) {
	again, sim := responsesGateway(t)
	type refusal struct {
		Status      int
		Code, Param string
	}
	var got struct {
		First struct {
			ID, Model, Text string
			Tokens          int
		}
		Stream struct {
			ID, Text      string
			Types, Models []string
			Numbers       bool
		}
		Helper  struct{ Text string }
		Resumed []int
		Fetched struct {
			Text, Model string
			Items       []string
		}
		Count               int
		Compacted, Referred string
		Stranger            struct{ Continued, Fetched, Referred refusal }
		Deleted             refusal
	}
	const said = "second says so"
	previous := ""
	for _, round := range []string{"at first", "after a restart"} {
		gw := again()
		node(t, gw, "responses.mjs", &got, sdkKey, otherKey, previous)
		if got.First.Model != "the-model" || got.First.Text != said || got.First.Tokens == 0 || got.Helper.Text != said || got.Referred != said {
			t.Errorf("%s: %+v, %+v, referred %q", round, got.First, got.Helper, got.Referred)
		}
		if s := got.Stream; s.Text != said || !s.Numbers || !slices.Equal(s.Models, []string{"the-model"}) ||
			s.Types[0] != "response.created" || s.Types[len(s.Types)-1] != "response.completed" {
			t.Errorf("%s: stream %+v", round, got.Stream)
		}
		if n := len(got.Resumed); n == 0 || got.Resumed[0] != 4 || got.Resumed[n-1] != len(got.Stream.Types)-1 {
			t.Errorf("%s: resumed %v", round, got.Resumed)
		}
		if got.Fetched.Text != said || got.Fetched.Model != "the-model" || !slices.Equal(got.Fetched.Items, []string{"user"}) {
			t.Errorf("%s: fetched %+v", round, got.Fetched)
		}
		if got.Count == 0 || got.Compacted != "response.compaction" {
			t.Errorf("%s: count %d, %q", round, got.Count, got.Compacted)
		}
		if s := got.Stranger; s.Continued != (refusal{404, "previous_response_not_found", "previous_response_id"}) ||
			s.Fetched.Status != 404 || s.Fetched.Code != "response_not_found" || s.Referred != (refusal{404, "item_not_found", "input"}) {
			t.Errorf("%s: another key: %+v", round, s)
		}
		if got.Deleted.Status != 404 {
			t.Errorf("%s: deleted %+v", round, got.Deleted)
		}
		previous = got.First.ID
		if status := gw.stop(); status != 0 {
			t.Errorf("exit status %d:\n%s", status, gw.log())
		}
	}
	// What was not pinned was served by the first: one failure, then a count and a
	// compaction each round.
	if n := sim.calls()["first"]; n != 1+2*2 {
		t.Errorf("the first upstream was called %d times", n)
	}
}

func TestNodeResponsesBroken(t *testing.T) {
	again, sim := responsesGateway(t)
	gw := again()
	for _, fault := range []string{"content-then-error", "eof-after-content", "reset-mid-body"} {
		sim.behave("first", "always: {fault: "+fault+", after: 2}")
		var got struct {
			Text  string
			Types []string
			Error *struct{ Code, Message string }
		}
		node(t, gw, "responses_broken.mjs", &got, sdkKey)
		if got.Error == nil || got.Error.Code != "upstream_truncated" || got.Text == "" || slices.Contains(got.Types, "response.completed") {
			t.Errorf("%s: %+v", fault, got)
		}
	}
}
