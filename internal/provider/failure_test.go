package provider

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
	"gatewright/internal/wire/fault"
)

// TestUpstreamError maps what an upstream answered to what the caller gets.
func TestUpstreamError(t *testing.T) {
	cases := []struct {
		name   string
		status int
		body   string
		want   engine.UpstreamError
	}{
		{
			"the caller's error", 400, `{"error":{"message":"no","type":"invalid_request_error","param":"n","code":"invalid_value"}}`,
			engine.UpstreamError{Status: 400, Code: "invalid_value", Type: "invalid_request_error", Param: "n", Message: "no", Class: engine.ClassClient},
		},
		{
			"a numeric code says nothing", 422, `{"error":{"message":"no","code":422}}`,
			engine.UpstreamError{Status: 422, Message: "no", Class: engine.ClassClient},
		},
		{
			"a wrong key is ours", 401, `{"error":{"message":"Incorrect API key provided: sk-abc***xyz","type":"invalid_request_error","code":"invalid_api_key"}}`,
			engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamAuth, Message: "the upstream refused the gateway's credential", Class: engine.ClassAuth},
		},
		{
			"no money", 402, `{"error":{"message":"Insufficient Balance"}}`,
			engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamBilling, Message: "the account at the upstream is out of quota or credit", Class: engine.ClassQuota},
		},
		{
			"no money as 429", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`,
			engine.UpstreamError{Status: 429, Code: engine.CodeUpstreamBilling, Message: "the account at the upstream is out of quota or credit", Class: engine.ClassQuota},
		},
		{
			"too fast", 429, `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`,
			engine.UpstreamError{Status: 429, Code: "rate_limit_exceeded", Type: "requests", Message: "slow down", Class: engine.ClassRateLimit},
		},
		{
			"too fast, numeric code", 429, `{"error":{"message":"slow down","code":"429"}}`,
			engine.UpstreamError{Status: 429, Code: "rate_limit_exceeded", Message: "slow down", Class: engine.ClassRateLimit},
		},
		{
			"unknown model", 404, `{"error":{"message":"The model up-x does not exist","code":"model_not_found"}}`,
			engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamModelNotFound, Message: "the upstream does not know the model or the endpoint", Class: engine.ClassNotFound},
		},
		{
			"too long", 400, `{"error":{"message":"maximum context length is 8","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
			engine.UpstreamError{
				Status: 400, Code: engine.CodeContextLengthExceeded, Type: "invalid_request_error", Param: "messages",
				Message: "maximum context length is 8", Class: engine.ClassContext,
			},
		},
		{
			"refused content", 400, `{"error":{"message":"filtered","type":"invalid_request_error","code":"content_filter"}}`,
			engine.UpstreamError{Status: 400, Code: "content_filter", Type: "invalid_request_error", Message: "filtered", Class: engine.ClassContent},
		},
		{
			"server error", 500, `{"error":{"message":"oops","type":"server_error","code":null}}`,
			engine.UpstreamError{Status: 500, Code: engine.CodeUpstreamError, Type: "server_error", Message: "oops", Class: engine.ClassServer},
		},
		{
			"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			engine.UpstreamError{Status: 529, Code: engine.CodeUpstreamError, Type: "overloaded_error", Message: "Overloaded", Class: engine.ClassServer},
		},
		{
			"request timeout", 408, `{"error":{"message":"slow"}}`,
			engine.UpstreamError{Status: 504, Code: engine.CodeUpstreamTimeout, Message: "slow", Class: engine.ClassConflict},
		},
		{
			"conflict", 409, `{"error":{"message":"busy"}}`,
			engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamError, Message: "busy", Class: engine.ClassConflict},
		},
		{
			"error inside a good answer", 200, `{"error":{"message":"bad gateway","code":502}}`,
			engine.UpstreamError{Status: 502, Code: engine.CodeUpstreamError, Message: "bad gateway", Class: engine.ClassServer},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			f := fault.Parse(tc.status, []byte(tc.body))
			got := FromFault(tc.status, http.Header{}, &f, time.Now()).upstreamError(0)
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNeverUnauthorized checks for every status and class that a client is
// never told that its own key is wrong, and always gets an error status.
func TestNeverUnauthorized(t *testing.T) {
	for class := engine.ClassConnect; class <= engine.ClassTruncated; class++ {
		for status := range 600 {
			e := (&Failure{Class: class, Status: status, Message: "m"}).upstreamError(time.Second)
			own := class == engine.ClassClient || class == engine.ClassContent // then it is what the upstream said
			if e.Status < 400 || e.Status > 599 || !own && (e.Status == 401 || e.Status == 403) {
				t.Fatalf("%s with status %d is told as %d", class, status, e.Status)
			}
		}
	}
	for status := 100; status < 600; status++ {
		f := fault.Parse(status, nil)
		if e := FromFault(status, http.Header{}, &f, time.Now()).upstreamError(0); e.Status == 401 || e.Status == 403 || e.Status < 400 {
			t.Fatalf("status %d is told as %d", status, e.Status)
		}
	}
}
