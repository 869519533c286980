package openai

import (
	"slices"
	"strings"
	"testing"

	"gatewright/engine"
)

// answersDiffer are the faults that mean something else to Responses: an empty
// output is an answer.
var answersDiffer = map[string]cell{"choices-empty": served}

// TestResponsesMatrix plays every fault against the Responses endpoint, as
// TestMatrix does against chat.
func TestResponsesMatrix(t *testing.T) {
	for _, tc := range rows() {
		for _, mode := range []struct {
			name    string
			streams bool
			want    cell
		}{{"plain", false, tc.plain}, {"stream", true, tc.stream}} {
			want := mode.want
			if other, ok := answersDiffer[tc.fault]; ok && !mode.streams {
				want = other
			}
			if want == none {
				continue
			}
			t.Run(tc.id+"/"+tc.fault+"/"+mode.name, func(t *testing.T) {
				t.Parallel()
				tc.playAnswers(t, mode.streams, want, "{}")
				if want == transfers {
					tc.playAnswers(t, mode.streams, want, "always: "+tc.fault)
				}
			})
		}
	}
}

func (tc *row) playAnswers(t *testing.T, streams bool, want cell, b string) {
	t.Helper()
	r, remembered := answersRig(t, rigOptions{timeouts: tc.limits()}, "always: "+tc.fault, b)
	alone := b != "{}"
	s, d, err := r.create(t.Context(), streams, "")
	switch {
	case want == served:
		tc.wantAnswer(t, "a", s, d, err, streams, remembered)
	case want == truncated:
		tc.wantBroken(t, s, d, err)
	case want == transfers && !alone:
		if got, want := attempts(d), "a:"+tc.class+" b:ok"; got != want {
			t.Errorf("attempts %q, want %q", got, want)
		}
		tc.wantAnswer(t, "b", s, d, err, streams, remembered)
	default:
		tc.wantError(t, r, s, d, err, alone)
	}
	tc.wantClean(t, r, s, d, err)
}

// wantAnswer checks the answer of one upstream.
func (tc *row) wantAnswer(t *testing.T, id string, s *sink, d *engine.Decision, err error, streams bool, remembered *issued) {
	t.Helper()
	if err != nil {
		t.Fatalf("error %v; attempts %s", err, attempts(d))
	}
	got := s.readAnswers(t, streams)
	special := slices.Contains([]string{"refusal", "filtered", "empty-content", "choices-empty"}, tc.fault) ||
		strings.Contains(tc.fault, "huge-event") || strings.Contains(tc.fault, "long-stream")
	if id == "b" || !special {
		if want := "this is upstream " + id + " speaking"; got.Text != want {
			t.Errorf("text %q, want %q", got.Text, want)
		}
	}
	status := "completed"
	if tc.fault == "filtered" && id == "a" {
		status = "incomplete"
	}
	if len(got.Models) != 1 || got.Models[0] != publicModel || got.Status != status || !got.Usage || !d.Result.Usage.Known {
		t.Errorf("reply %+v, usage %+v", got, d.Result.Usage)
	}
	if streams && got.Events[len(got.Events)-1] != status {
		t.Errorf("events %v", got.Events)
	}
	if !slices.Contains(remembered.all(), "k "+id+" response:"+got.ID) {
		t.Errorf("the response %s is not remembered: %v", got.ID, remembered.all())
	}
}

// wantBroken checks a stream that broke after the commit: it ends in the words
// of its protocol.
func (tc *row) wantBroken(t *testing.T, s *sink, d *engine.Decision, err error) {
	t.Helper()
	u := upstreamError(t, err)
	if got := attempts(d); got != "a:truncated" || !u.Committed || u.Code != engine.CodeUpstreamTruncated {
		t.Errorf("attempts %q, error %+v", got, u)
	}
	got := readAnswerEvents(t, s.out.String()+string(u.InBand))
	if n := len(got.Events); n < 3 || got.Events[n-2] != "error" || got.Events[n-1] != "failed" || got.Failed != engine.CodeUpstreamTruncated {
		t.Errorf("reply %+v", got)
	}
	if got.Text == "" || got.Status != "failed" || len(got.Models) != 1 || got.Models[0] != publicModel {
		t.Errorf("reply %+v", got)
	}
}
