package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// drive sends sample requests to the demo, two a second, until ctx ends.
func drive(ctx context.Context, gateway string) {
	const pause = 500 * time.Millisecond
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	models := []string{"demo", "demo-cheapest", "demo-value", "demo", "demo-quickest", "demo-value", "quick/demo"}
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		stream := "false"
		if i%2 == 1 {
			stream = "true"
		}
		metadata := ""
		if i%3 == 2 {
			metadata = `"metadata": {"residency": "eu"}, `
		}
		ask(ctx, gateway, `{"model": "`+models[i%len(models)]+`", "stream": `+stream+`, `+metadata+`"messages": [{"role": "user", "content": "Hello `+strconv.Itoa(i)+`"}]}`)
	}
}

// ask sends one request and reads its answer to the end. What came of it is in
// the decision.
func ask(ctx context.Context, gateway, body string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, gateway+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
}
