package provider

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gatewright/engine"
)

// end is the clean end of a raw body.
func end() beat { return beat{ev: Event{Done: true}} }

// raw makes deployment a answer with the pieces of one body.
func (r *rig) raw(beats ...beat) {
	r.adapters["a"].set(func(ctx context.Context, c *Call, _ int) (*Response, error) {
		resp := streamed(ctx, c, beats...)
		resp.Raw = true
		return resp, nil
	})
}

func speech(r *engine.Request) { r.Endpoint = engine.EndpointSpeech }

// TestRawBody plays bodies of deployment a that are handed on as they come, to
// a request that did not ask for a stream; b is healthy.
func TestRawBody(t *testing.T) {
	for _, tc := range []struct {
		name      string
		beats     []beat
		body      string
		attempts  string
		truncated string
		took      time.Duration
	}{
		{name: "good", beats: []beat{content("1"), content("2"), end()}, body: "12", attempts: "a:ok"},
		{
			name: "slow, and nothing is put between the pieces", attempts: "a:ok", body: "123", took: 590*time.Second + 110*time.Second,
			beats: []beat{content("1").in(590 * time.Second), content("2").in(55 * time.Second), content("3").in(55 * time.Second), end()},
		},
		{name: "empty", beats: []beat{end()}, body: "answer of b", attempts: "a:server b:ok"},
		{name: "broken before the first byte", beats: []beat{broken()}, body: "answer of b", attempts: "a:server b:ok"},
		{name: "nothing in time", beats: nil, body: "answer of b", attempts: "a:timeout b:ok", took: 600 * time.Second},
		{name: "broken after it", beats: []beat{content("1"), broken()}, body: "1", attempts: "a:truncated", truncated: "the upstream broke off its answer"},
		{name: "silent after it", beats: []beat{content("1")}, body: "1", attempts: "a:truncated", truncated: "the upstream stopped sending", took: 60 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{}, twoModels...)
				r.raw(tc.beats...)
				began := time.Now()
				sink, d, err := r.ask(t.Context(), speech)
				if took := time.Since(began); took != tc.took {
					t.Errorf("took %v, want %v", took, tc.took)
				}
				if got := attempts(d); got != tc.attempts || sink.out.String() != tc.body || sink.commits != 1 {
					t.Errorf("attempts %q, %d commits, body %q; want %q and %q", got, sink.commits, sink.out.String(), tc.attempts, tc.body)
				}
				checkTruncated(t, r, d, err, tc.truncated)
			})
		})
	}
}

// TestRawBodyIsUpstreamTime: what a body takes that is handed on is the
// upstream's time, and its first byte is the first content.
func TestRawBodyIsUpstreamTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{}, twoModels...)
		for range 20 {
			r.raw(content("1").in(2*time.Second), content("2").in(8*time.Second), end())
			_, d, err := r.ask(t.Context(), speech)
			if err != nil || d.Upstream != 10*time.Second || d.Duration != 10*time.Second {
				t.Fatalf("upstream %v of %v, error %v", d.Upstream, d.Duration, err)
			}
		}
		pool := []engine.Candidate{{Deployment: r.snapshot.Models[0].Deployments[0]}}
		r.tracker.Signals(time.Now(), pool)
		if got := pool[0].TTFT.Round(100 * time.Millisecond); got < 1800*time.Millisecond || got > 2200*time.Millisecond {
			t.Errorf("time to the first byte %v, want about 2 s", got)
		}
	})
}

// TestFirstEventOfAnImage waits for it as long as for an answer: it may be the
// whole image. A deployment's own limit holds.
func TestFirstEventOfAnImage(t *testing.T) {
	images := func(e engine.Endpoint) func(*engine.Request) {
		return func(r *engine.Request) { r.Endpoint, r.Stream = e, true }
	}
	for _, tc := range []struct {
		name     string
		endpoint engine.Endpoint
		own      time.Duration
		attempts string
	}{
		{"generation", engine.EndpointImageGenerations, 0, "a:ok"},
		{"edit", engine.EndpointImageEdits, 0, "a:ok"},
		{"its own limit", engine.EndpointImageGenerations, 30 * time.Second, "a:timeout b:ok"},
		{"transcript", engine.EndpointTranscriptions, 0, "a:timeout b:ok"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := twoModels[0]
				m.timeouts.FirstToken = tc.own
				r := newRig(t, Options{}, m)
				r.play(content("image").in(100*time.Second), finish(), done())
				if _, d, err := r.ask(t.Context(), images(tc.endpoint)); err != nil || attempts(d) != tc.attempts {
					t.Errorf("attempts %q, error %v; want %q", attempts(d), err, tc.attempts)
				}
			})
		})
	}
}

// TestStatusOfTheAnswer hands on a status that is not 200.
func TestStatusOfTheAnswer(t *testing.T) {
	r := newRig(t, Options{}, twoModels...)
	r.adapters["a"].set(func(_ context.Context, c *Call, _ int) (*Response, error) {
		c.Seen = Seen{Status: 202, At: c.Clock()}
		return &Response{Status: 202, Body: []byte("queued")}, nil
	})
	sink, d, err := r.ask(t.Context(), nil)
	if err != nil || sink.answer.Status != 202 || d.Result.Status != 202 {
		t.Errorf("status %d, result %+v, error %v", sink.answer.Status, d.Result, err)
	}
}
