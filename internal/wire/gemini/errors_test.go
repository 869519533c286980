package gemini_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/gemini"
)

const errorMaterial = "../../../testdata/wire/errors"

// recordedError returns the body of a recorded error answer.
func recordedError(tb testing.TB, name string) []byte {
	tb.Helper()
	whole, err := os.ReadFile(filepath.Join(errorMaterial, "recorded/gemini", name))
	if err != nil {
		tb.Fatal(err)
	}
	var exchange struct {
		Response struct{ Body json.RawMessage }
	}
	if err := json.Unmarshal(whole, &exchange); err != nil {
		tb.Fatal(err)
	}
	if exchange.Response.Body == nil {
		return whole
	}
	return exchange.Response.Body
}

func TestParseErrorRecordings(t *testing.T) {
	const exhausted = "You exceeded your current quota, please check your plan."
	if f, wait := gemini.ParseError(429, recordedError(t, "error-429-retry-info.json")); f.Kind != fault.RateLimit || f.Status != 429 || f.Message != exhausted || wait != 34400*time.Millisecond {
		t.Errorf("got %+v after %v", f, wait)
	}
	if f, wait := gemini.ParseError(404, recordedError(t, "error-404-model.json")); f.Kind != fault.NotFound || f.Code != "404" || wait != 0 {
		t.Errorf("got %+v after %v", f, wait)
	}
}

// TestParseErrorQuoted reads the error bodies that are quoted in public.
func TestParseErrorQuoted(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(errorMaterial, "bodies.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Bodies []struct {
			ID, Provider, Class string
			Status              int
			Body                json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]fault.Kind{
		"context_window_exceeded": fault.ContextLength, "rate_limit": fault.RateLimit, "overloaded": fault.Overloaded, "auth": fault.Auth,
	}
	waits := map[string]time.Duration{"gemini-rate": 47 * time.Second}
	n := 0
	for _, b := range file.Bodies {
		if b.Provider != "gemini" && b.Provider != "vertex" {
			continue
		}
		n++
		f, wait := gemini.ParseError(b.Status, b.Body)
		if f.Kind != kinds[b.Class] || wait != waits[b.ID] {
			t.Errorf("%s: got %v after %v, want %s after %v", b.ID, f.Kind, wait, b.Class, waits[b.ID])
		}
	}
	if n < 8 {
		t.Errorf("only %d bodies were read", n)
	}
}

// exhausted returns the body of a 429 with the given details.
func exhausted(details string) string {
	return `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[` + details + `]}}`
}

func TestParseErrorDetails(t *testing.T) {
	delay := func(s string) string {
		return exhausted(`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":` + s + `}`)
	}
	quota := func(ids string) string {
		return exhausted(`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[` + ids + `]}`)
	}
	const perDay, perMinute = `{"quotaId":"RequestsPerDayPerProject-FreeTier"}`, `{"quotaId":"RequestsPerMinutePerProject"}`
	tests := []struct {
		name, body string
		kind       fault.Kind
		wait       time.Duration
	}{
		{"seconds", delay(`"47s"`), fault.RateLimit, 47 * time.Second},
		{"a fraction", delay(`"1.5s"`), fault.RateLimit, 1500 * time.Millisecond},
		{"nanoseconds", delay(`"0.000000001s"`), fault.RateLimit, 1},
		{"nothing", delay(`"0s"`), fault.RateLimit, 0},
		{"negative", delay(`"-3s"`), fault.RateLimit, 0},
		{"no unit", delay(`"47"`), fault.RateLimit, 0},
		{"another unit", delay(`"47ms"`), fault.RateLimit, 0},
		{"minutes", delay(`"1m3s"`), fault.RateLimit, 0},
		{"too fine", delay(`"1.0000000001s"`), fault.RateLimit, 0},
		{"half a fraction", delay(`"1.s"`), fault.RateLimit, 0},
		{"not decimal", delay(`"0x1s"`), fault.RateLimit, 0},
		{"a number", delay(`47`), fault.RateLimit, 0},
		{"a month", delay(`"99999999s"`), fault.RateLimit, gemini.MaxRetryDelay},
		{"endless", delay(`"99999999999999999999999999s"`), fault.RateLimit, gemini.MaxRetryDelay},
		{"wrapped", `[` + delay(`"2s"`) + `]`, fault.RateLimit, 2 * time.Second},
		{"cut", strings.TrimRight(delay(`"2s"`), "}]"), fault.RateLimit, 2 * time.Second},
		{"in another place", `{"error":{"code":429,"message":"x"},"retryDelay":"2s"}`, fault.RateLimit, 0},
		{"per minute", quota(perMinute), fault.RateLimit, 0},
		{"per day", quota(perDay), fault.Quota, 0},
		{"both", quota(perDay + "," + perMinute), fault.RateLimit, 0},
		{"no details", exhausted(``), fault.RateLimit, 0},
		{"empty", ``, fault.RateLimit, 0},
		{"a page", `<html><title>Too many</title></html>`, fault.RateLimit, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, wait := gemini.ParseError(429, []byte(tt.body))
			if f.Kind != tt.kind || wait != tt.wait || f.Status != 429 || f.Message == "" {
				t.Errorf("got %+v after %v, want %v after %v", f, wait, tt.kind, tt.wait)
			}
		})
	}
	if f, _ := gemini.ParseError(403, []byte(quota(perDay))); f.Kind != fault.RateLimit && f.Kind != fault.Quota {
		t.Errorf("another status: got %v", f.Kind)
	}
}
