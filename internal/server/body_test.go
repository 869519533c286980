package server

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"gatewright/engine"
)

func zip(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

func TestBodies(t *testing.T) {
	const limit = 100 << 10
	r := listen(t, setup{limits: engine.Limits{Body: limit}})
	full := strings.Repeat("x", limit)
	for _, c := range []struct {
		name    string
		body    string
		headers []string
		status  int
		want    string // code of an error, else the body
	}{
		{"JSON", `"x"`, nil, 200, `"x"`},
		{"empty", "", nil, 200, ""},
		{"as large as allowed", full, nil, 200, full},
		{"one byte larger", full + "x", nil, 413, CodeRequestTooLarge},
		{"with charset", `"x"`, []string{"Content-Type", "application/json; charset=UTF-8"}, 200, `"x"`},
		{"a kind of JSON", `"x"`, []string{"Content-Type", "application/vnd.api+json"}, 200, `"x"`},
		{"not labelled", `"x"`, []string{"Content-Type", ""}, 200, `"x"`},
		{"curl's form", `"x"`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, CodeUnsupportedMediaType},
		{"text", `"x"`, []string{"Content-Type", "text/plain"}, 415, CodeUnsupportedMediaType},
		{"multipart", `"x"`, []string{"Content-Type", "multipart/form-data; boundary=x"}, 415, CodeUnsupportedMediaType},
		{"garbled type", `"x"`, []string{"Content-Type", "a/b/c;;"}, 415, CodeUnsupportedMediaType},
		{"UTF-16", `"x"`, []string{"Content-Type", "application/json; charset=utf-16"}, 415, CodeUnsupportedMediaType},
		{"identity", `"x"`, []string{"Content-Encoding", "identity"}, 200, `"x"`},
		{"gzip", zip(`"x"`), []string{"Content-Encoding", "gzip"}, 200, `"x"`},
		{"gzip as large as allowed", zip(full), []string{"Content-Encoding", "gzip"}, 200, full},
		{"gzip one byte larger", zip(full + "x"), []string{"Content-Encoding", "GZIP"}, 413, CodeRequestTooLarge},
		{"no gzip", `"x"`, []string{"Content-Encoding", "gzip"}, 400, CodeInvalidRequest},
		{"half a gzip", zip(full)[:50], []string{"Content-Encoding", "gzip"}, 400, CodeInvalidRequest},
		{"gzip in gzip", zip(zip(`"x"`)), []string{"Content-Encoding", "gzip, gzip"}, 415, CodeUnsupportedMediaType},
		{"zstd", `"x"`, []string{"Content-Encoding", "zstd"}, 415, CodeUnsupportedMediaType},
		{"brotli", `"x"`, []string{"Content-Encoding", "br"}, 415, CodeUnsupportedMediaType},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, got := r.do("POST", "/v1/echo", c.body, c.headers...)
			if c.status >= 400 {
				got = toldIn(t, got).Code
			}
			if resp.StatusCode != c.status || got != c.want {
				t.Errorf("status %d, %.100q; want %d, %.100q", resp.StatusCode, got, c.status, c.want)
			}
		})
		t.Run(c.name+" in chunks", func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.address+"/v1/echo", io.MultiReader(strings.NewReader(c.body)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+testKey)
			for i := 0; i+1 < len(c.headers); i += 2 {
				req.Header.Set(c.headers[i], c.headers[i+1])
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if resp.StatusCode != c.status {
				t.Errorf("status %d, want %d", resp.StatusCode, c.status)
			}
		})
	}
}

// TestUploads sends what ReadUpload takes beside JSON, and what it does not.
func TestUploads(t *testing.T) {
	const limit = 1 << 10
	upload := Route{Method: http.MethodPost, Path: "/v1/upload", Handle: func(x *Exchange) error {
		body, formType, err := x.ReadUpload()
		if err != nil {
			return err
		}
		x.WriteJSON([]byte(formType + "|" + string(body)))
		return nil
	}}
	r := listen(t, setup{limits: engine.Limits{Body: limit}, routes: []Route{upload}})
	const form = "multipart/form-data; boundary=x"
	full := strings.Repeat("x", limit)
	for _, c := range []struct {
		name    string
		body    string
		headers []string
		status  int
		want    string // code of an error, else the content type of a form and the body
	}{
		{"JSON", `"x"`, nil, 200, `|"x"`},
		{"not labelled", `"x"`, []string{"Content-Type", ""}, 200, `|"x"`},
		{"a form", "any bytes", []string{"Content-Type", form}, 200, form + "|any bytes"},
		{"a form in another case", "x", []string{"Content-Type", "Multipart/Form-Data ; Boundary=x"}, 200, "Multipart/Form-Data ; Boundary=x|x"},
		{"a form without boundary", "x", []string{"Content-Type", "multipart/form-data"}, 200, "multipart/form-data|x"},
		{"a form, gzip", zip("any bytes"), []string{"Content-Type", form, "Content-Encoding", "gzip"}, 200, form + "|any bytes"},
		{"as large as allowed", full, []string{"Content-Type", form}, 200, form + "|" + full},
		{"one byte larger", full + "x", []string{"Content-Type", form}, 413, CodeRequestTooLarge},
		{"another form", "x", []string{"Content-Type", "multipart/mixed; boundary=x"}, 415, CodeUnsupportedMediaType},
		{"curl's form", "x", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, CodeUnsupportedMediaType},
		{"bare audio", "x", []string{"Content-Type", "audio/wav"}, 415, CodeUnsupportedMediaType},
		{"zstd", "x", []string{"Content-Type", form, "Content-Encoding", "zstd"}, 415, CodeUnsupportedMediaType},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, got := r.do("POST", "/v1/upload", c.body, c.headers...)
			if c.status >= 400 {
				e := toldIn(t, got)
				if c.name == "bare audio" && !strings.Contains(e.Message, "multipart/form-data") {
					t.Errorf("message %q does not say what is taken", e.Message)
				}
				got = e.Code
			}
			if resp.StatusCode != c.status || got != c.want {
				t.Errorf("status %d, %.100q; want %d, %.100q", resp.StatusCode, got, c.status, c.want)
			}
		})
	}
	answer := r.raw("POST /v1/upload HTTP/1.1\r\n" + authorized + "Content-Type: " + form + "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 415 ") {
		t.Errorf("two content types: %q", answer)
	}
}

// TestTooLargeIsRefusedUnread announces more than allowed and sends nothing.
func TestTooLargeIsRefusedUnread(t *testing.T) {
	r := listen(t, setup{})
	answer := r.raw("POST /v1/echo HTTP/1.1\r\n" + authorized + "Content-Length: 33554433\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 413 ") || !strings.Contains(answer, "33554432 bytes") {
		t.Errorf("answer %q", answer)
	}
}

// TestBomb decodes 1 GiB of zeros only up to the limit, and keeps none of it.
func TestBomb(t *testing.T) {
	bomb := []byte(strings.Repeat(zip(string(make([]byte, 1<<20))), 1<<10))
	x := &Exchange{server: newRig(t, setup{}).server, limits: defaultLimits}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := x.unzip(bomb)
	runtime.ReadMemStats(&after)
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeRequestTooLarge {
		t.Errorf("error %v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("a bomb of %d bytes made %d bytes be allocated", len(bomb), used)
	}
}

// TestAnnouncedLengthCostsNothing checks that memory follows what has come.
func TestAnnouncedLengthCostsNothing(t *testing.T) {
	for _, c := range []struct {
		name                 string
		announced, has, most int64
	}{
		{"small", 100, 0, leastBody},
		{"large, nothing has come", 32 << 20, 0, firstBody},
		{"large, some has come", 32 << 20, 1 << 20, 2 << 20},
		{"large, most has come", 32 << 20, 31 << 20, 32<<20 + 1},
		{"not announced", -1, 1 << 20, 2 << 20},
		{"announced too little", 10, leastBody, 2*leastBody + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := grow(make([]byte, c.has), c.announced)
			if n := int64(cap(got)); n <= c.has || n > c.most+c.most/8 {
				t.Errorf("capacity %d, want above %d and about %d", n, c.has, c.most)
			}
		})
	}
}
