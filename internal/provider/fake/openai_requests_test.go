package fake

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	const deep = `{"model":"m","messages":[{}],`
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		param, code              any
	}{
		{"no JSON", "POST", chatPath, "{", 400, nil, nil},
		{"no object", "POST", chatPath, "[]", 400, nil, nil},
		{"wrong type", "POST", chatPath, `{"model":"m","stream":"yes"}`, 400, "stream", "invalid_type"},
		{"no model", "POST", chatPath, `{"messages":[{}]}`, 400, "model", "missing_required_parameter"},
		{"no messages", "POST", chatPath, `{"model":"m"}`, 400, "messages", "missing_required_parameter"},
		{"empty messages", "POST", chatPath, `{"model":"m","messages":[ ]}`, 400, "messages", "missing_required_parameter"},
		{"n", "POST", chatPath, deep + `"n":0}`, 400, "n", nil},
		{"n too large", "POST", chatPath, deep + `"n":1000000}`, 400, "n", nil},
		{"max_tokens", "POST", chatPath, deep + `"max_tokens":0}`, 400, "max_tokens", "integer_below_min_value"},
		{"unknown model", "POST", chatPath, `{"model":"x","messages":[{}]}`, 404, nil, "model_not_found"},
		{"unknown path", "POST", "/a/v1/fine-tunes", "{}", 404, nil, nil},
		{"root", "GET", "/a/", "", 404, nil, nil},
		{"method", "GET", chatPath, "", 405, nil, nil},
		{"method of models", "POST", "/a/v1/models", "{}", 405, nil, nil},
		{"unknown model shown", "GET", "/a/v1/models/x", "", 404, nil, "model_not_found"},
		{"no input", "POST", "/a/v1/embeddings", `{"model":"m"}`, 400, "input", "missing_required_parameter"},
		{"empty input", "POST", "/a/v1/embeddings", `{"model":"m","input":""}`, 400, "input", nil},
		{"empty list", "POST", "/a/v1/embeddings", `{"model":"m","input":[]}`, 400, "input", nil},
		{"null among inputs", "POST", "/a/v1/embeddings", `{"model":"m","input":["x",null]}`, 400, "input", nil},
		{"object among inputs", "POST", "/a/v1/embeddings", `{"model":"m","input":["x",{}]}`, 400, "input", nil},
		{"encoding", "POST", "/a/v1/embeddings", `{"model":"m","input":"x","encoding_format":"hex"}`, 400, "encoding_format", "invalid_value"},
		{"dimensions", "POST", "/a/v1/embeddings", `{"model":"m","input":"x","dimensions":0}`, 400, "dimensions", nil},
		{"prompt", "POST", "/a/v1/completions", `{"model":"m","prompt":{}}`, 400, "prompt", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oneUpstream("models: [m]"), Options{})
			got := r.send(t, c.method, c.path, c.body)
			e := errorObject(t, got.body)
			if got.status != c.status || e["param"] != c.param || e["code"] != c.code || e["type"] != "invalid_request_error" {
				t.Errorf("got %d %v, want %d with param %v code %v", got.status, e, c.status, c.param, c.code)
			}
			if got.status == 405 && got.header.Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
}

func TestCredentials(t *testing.T) {
	r := newRig(t, oneUpstream("api_key: sk-sim"), Options{})
	for _, c := range []struct {
		name   string
		path   string
		header []string
		status int
		code   any
	}{
		{"right", chatPath, []string{"Authorization", "Bearer sk-sim"}, 200, nil},
		{"scheme in lower case", chatPath, []string{"Authorization", "bearer sk-sim"}, 200, nil},
		{"none", chatPath, nil, 401, nil},
		{"wrong", chatPath, []string{"Authorization", "Bearer sk-other"}, 401, "invalid_api_key"},
		{"another scheme", chatPath, []string{"Authorization", "Basic sk-sim"}, 401, nil},
		{"in Azure's header", chatPath, []string{"Api-Key", "sk-sim"}, 401, nil},
		{"Azure", "/a/openai/deployments/d/chat/completions?api-version=1", []string{"Api-Key", "sk-sim"}, 200, nil},
		{"Azure, bearer", "/a/openai/v1/chat/completions", []string{"Authorization", "Bearer sk-sim"}, 200, nil},
		{"Azure, wrong", "/a/openai/deployments/d/chat/completions?api-version=1", []string{"Api-Key", "x"}, 401, "401"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.send(t, "POST", c.path, chatBody, c.header...)
			if got.status != c.status {
				t.Fatalf("got %d %s, want %d", got.status, got.body, c.status)
			}
			if c.status == 401 {
				if e := errorObject(t, got.body); e["code"] != c.code {
					t.Errorf("got %v, want code %v", e, c.code)
				}
			}
		})
	}
}

func TestAzure(t *testing.T) {
	r := newRig(t, oneUpstream("models: [dep]\nscript: [{times: 4, fault: ok}, http-429]\nquota: {requests: 100, per: 90s, headers: true}"), Options{})
	const path = "/a/openai/deployments/dep/chat/completions?api-version=2025-01-01"
	got := r.send(t, "POST", path, streamBody)
	all := events(got.body)
	var first, second chunk
	if err := json.Unmarshal([]byte(all[0]), &first); err != nil || len(first.Choices) != 0 || first.ID != "" {
		t.Errorf("first event %s, %v", all[0], err)
	}
	if err := json.Unmarshal([]byte(all[1]), &second); err != nil || second.Model != "dep" {
		t.Errorf("second event %s, %v; want the deployment as the model", all[1], err)
	}
	if got.header.Get("Apim-Request-Id") == "" || got.header.Get("Openai-Version") != "" || got.header.Get("X-Ratelimit-Reset-Requests") != "89" && got.header.Get("X-Ratelimit-Reset-Requests") != "90" {
		t.Errorf("headers %v", got.header)
	}
	embeddings := r.send(t, "POST", "/a/openai/deployments/dep/embeddings?api-version=1", `{"input":"x"}`)
	if embeddings.status != 200 {
		t.Errorf("embeddings without a model in the body: %d %s", embeddings.status, embeddings.body)
	}
	if got := r.send(t, "POST", "/a/openai/deployments/dep/chat/completions", chatBody); got.status != 404 {
		t.Errorf("without api-version: %d", got.status)
	}
	if got := r.send(t, "POST", "/a/openai/deployments/other/chat/completions?api-version=1", chatBody); got.status != 404 {
		t.Errorf("unknown deployment: %d", got.status)
	}
	if got := r.send(t, "POST", "/a/openai/v1/chat/completions", strings.Replace(chatBody, `"m"`, `"dep"`, 1)); got.status != 200 {
		t.Errorf("the v1 form: %d %s", got.status, got.body)
	}
	r.send(t, "POST", path, chatBody)
	limited := r.send(t, "POST", path, chatBody)
	e := errorObject(t, limited.body)
	if _, typed := e["type"]; limited.status != 429 || e["code"] != "429" || typed {
		t.Errorf("got %d %v, want code \"429\" and no type", limited.status, e)
	}
}

func TestPaths(t *testing.T) {
	u := New(mustParse(t, "upstreams: {a: {}, b: {}}"), Options{})
	defer closing(t, u)
	for _, c := range []struct {
		name    string
		handler http.Handler
		path    string
		want    int
	}{
		{"prefixed", u, "/a/v1/chat/completions", 200},
		{"without v1", u, "/a/chat/completions", 200},
		{"other upstream", u, "/b/v1/chat/completions", 200},
		{"no upstream", u, "/c/v1/chat/completions", 404},
		{"nothing", u, "/", 404},
		{"at the root", u.Handler("b"), "/v1/chat/completions", 200},
		{"at the root, prefixed", u.Handler("b"), "/b/v1/chat/completions", 404},
		{"unknown handler", u.Handler("c"), "/v1/chat/completions", 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := record(t, c.handler, "POST", c.path, chatBody)
			if got.status != c.want {
				t.Errorf("got %d %s, want %d", got.status, got.body, c.want)
			}
		})
	}
	if a, b := u.Calls("a"), u.Calls("b"); a != 2 || b != 3 {
		t.Errorf("%d and %d calls, want 2 and 3", a, b)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		chatBody, streamBody, embeddingBody, `{"model":"m","messages":[{"role":"user","content":[{"text":"x"}]}],` + weatherTool + `}`,
		`{"model":"m","input":[[1,2],[3]],"encoding_format":"base64","dimensions":2}`, `{"model":"m","prompt":["a","b"],"n":3,"stream":true}`,
		`{"model":"m","messages":[null],"tools":[{}],"tool_choice":{},"response_format":{"type":"json_schema","json_schema":{"schema":{"$ref":"#"}}}}`,
		`{"model":"\u0000","messages":[{}],"max_tokens":1}`,
		`{"model":"m","prompt":"a cat","image":"x","n":2,"partial_images":2,"stream":true}`,
		`{"model":"m","input":"hi","voice":"alloy","stream_format":"sse"}`, `{"input":["violence",""]}`,
		`{"model":"m","query":"a b","documents":["b",{"text":"a b"}],"top_n":1,"return_documents":true}`,
		`{"model":"m","max_tokens":2048,"stream":true,"thinking":{"type":"enabled","budget_tokens":1024},"system":[{"type":"text","text":"x"}],"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
		`{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"y"}]}]}`,
		`{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"stream"}}}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT"}}]}],"generationConfig":{"thinkingConfig":{"includeThoughts":true}}}`,
		formOf("model=m", "@file=RIFF", "stream=true"), formOf("model=m", "@image[]=x", "prompt=p", "n=2", "response_format=url"),
	} {
		for endpoint := range len(allEndpoints()) {
			f.Add([]byte(s), byte(endpoint))
		}
	}
	plan := planAnswer(Answer{Echo: true, Dimensions: 2}, "a")
	f.Fuzz(func(t *testing.T, data []byte, endpoint byte) {
		c := &call{endpoint: allEndpoints()[int(endpoint)%len(allEndpoints())], version: versionOld}
		c.proto = openAI{}
		if strings.HasPrefix(string(c.endpoint), "messages") {
			c.proto = anthropic{}
		}
		if c.endpoint == EndpointGenerate || strings.HasPrefix(string(c.endpoint), "gemini") {
			c.proto, c.stream = gemini{}, bytes.Contains(data, []byte("stream"))
		}
		if bytes.HasPrefix(data, []byte("--b")) {
			c.contentType = formType
		}
		if e := c.proto.decode(c, data); e != nil {
			if e.status < 400 || e.message == "" || !json.Valid(c.proto.failure(c, e)) {
				t.Fatalf("bad refusal %+v", e)
			}
			return
		}
		var a answer
		var out rendering
		d := newDice(1, 2, 3)
		plan.compose(&a, c, &d)
		c.dimensions = min(c.dimensions, 64)
		c.proto.render(&out, c, &a)
		if !c.stream {
			if c.plain() && !json.Valid(out.buf) {
				t.Fatalf("not JSON: %s", out.buf)
			}
			return
		}
		for i, fr := range out.frames {
			if fr.kind != frameDone && !json.Valid(out.data(i)) {
				t.Fatalf("event %d is not JSON: %s", i, out.data(i))
			}
		}
	})
}
