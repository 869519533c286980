package exchange

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatewright/engine"
	"gatewright/internal/provider"
	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/sse"
)

const secret = "canary-0123456789"

// service returns a service with a secret in its address, one in a header and one
// as its key.
func service(t *testing.T, change func(*Config)) *Service {
	t.Helper()
	key, err := provider.NewCredential("Authorization", "Bearer ", secret+"-key")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		BaseURL: "https://api.example.com/v1?key=" + secret + "-query", Keys: provider.NewKeyring(key),
		Header: http.Header{"X-Team": {secret + "-header"}}, Client: provider.NewClient(provider.ClientOptions{}), EventLimit: 1 << 10,
	}
	if change != nil {
		change(&c)
	}
	s, base, err := New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if base.Path == "" {
		t.Error("the base has no path")
	}
	return s
}

// answered returns an exchange whose upstream has answered.
func answered(s *Service, status int, h http.Header, body io.Reader) *Exchange {
	x := &Exchange{Service: s, Call: &provider.Call{Request: &engine.Request{}, Clock: time.Now, Waiting: func() {}}}
	x.Resp = &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(body), ContentLength: -1}
	x.Body = x.Resp.Body
	return x
}

// TestHeaders: what is configured goes before defaults, the credential before
// both, and of the client's only what may pass is added.
func TestHeaders(t *testing.T) {
	s := service(t, func(c *Config) {
		c.Header = http.Header{"X-Version": {"configured"}, "Authorization": {"Basic x"}, "User-Agent": {"mine"}}
	})
	ready := s.Headers("text/x", http.Header{"X-Version": {"default"}, "X-Other": {"default"}})
	want := http.Header{
		"X-Version": {"configured"}, "X-Other": {"default"}, "Authorization": {"Bearer " + secret + "-key"}, "User-Agent": {"mine"},
		"Content-Type": {"application/json"}, "Accept": {"text/x"},
	}
	if diff := cmp.Diff(want, ready.Next()); diff != "" {
		t.Errorf("ready (-want +got):\n%s", diff)
	}
	client := http.Header{"Traceparent": {"00-1"}, "X-Version": {"client"}, "Authorization": {"Bearer client"}, "X-Secret": {"client"}}
	passed := append(Passed{"X-Version", "X-Absent"}, Trace...)
	want["Traceparent"] = []string{"00-1"}
	if diff := cmp.Diff(want, passed.Onto(ready.Next(), client)); diff != "" {
		t.Errorf("with the client's (-want +got):\n%s", diff)
	}
	if _, changed := ready.Next()["Traceparent"]; changed {
		t.Error("the ready headers were changed")
	}
}

// TestNoSecrets: what an upstream repeats of a secret is not passed on.
func TestNoSecrets(t *testing.T) {
	for _, suffix := range []string{"-key", "-query", "-header"} {
		h := http.Header{"Openai-Echo": {"a " + secret + suffix}, "Openai-Good": {"short"}}
		x := answered(service(t, nil), 400, h, strings.NewReader(""))
		if got := x.ResponseHeader(JSONType); len(got) != 2 || got.Get("Openai-Good") != "short" {
			t.Errorf("%s: headers %v", suffix, got)
		}
		f := x.Failure(&fault.Fault{Kind: fault.BadRequest, Status: 400, Message: "m " + secret + suffix, Code: secret + suffix, Type: "t", Param: "p"})
		if strings.Contains(f.Message+f.Code, secret) || f.Message != "m ***" || f.Param != "p" {
			t.Errorf("%s: %+v", suffix, f)
		}
	}
}

// TestAmend changes a fault before it is judged.
func TestAmend(t *testing.T) {
	x := answered(service(t, nil), 404, http.Header{}, strings.NewReader(""))
	x.Amend = func(f *fault.Fault) { f.Kind, f.Param = fault.BadRequest, "" }
	if f := x.Failure(&fault.Fault{Kind: fault.NotFound, Status: 404, Message: "m", Param: "p"}); f.Class != engine.ClassClient || f.Param != "" {
		t.Errorf("got %+v", f)
	}
}

// slow gives a piece of a body and then nothing until it is closed.
type slow struct {
	io.Reader
	closed chan struct{}
}

// Read implements [io.Reader].
func (s *slow) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); n > 0 || err == nil {
		return n, nil
	}
	<-s.closed
	return 0, io.ErrClosedPipe
}

// Close implements [io.Closer].
func (s *slow) Close() error { close(s.closed); return nil }

// TestErrorBodyThatStalls: the status of an error stands, whatever comes of its
// body, and is not waited for.
func TestErrorBodyThatStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		x := answered(service(t, nil), 503, http.Header{}, nil)
		x.Resp.Body = &slow{Reader: strings.NewReader(`{"error":{"message":"down"}}`), closed: make(chan struct{})}
		if f := x.ErrorAnswer(); f.Class != engine.ClassServer || f.Message != "down" || f.Status != 503 {
			t.Errorf("got %+v", f)
		}
		if took := time.Since(began); took != errorWait {
			t.Errorf("took %v", took)
		}
	})
}

// TestWaitInTheBody is what only some makers tell there.
func TestWaitInTheBody(t *testing.T) {
	s := service(t, func(c *Config) {
		c.ReadError = func(status int, body []byte) (fault.Fault, time.Duration) {
			return fault.Parse(status, body), 7 * time.Second
		}
	})
	for _, tt := range []struct {
		status int
		header http.Header
		class  engine.FailureClass
		wait   time.Duration
	}{
		{429, http.Header{}, engine.ClassRateLimitTimed, 7 * time.Second},
		{429, http.Header{"Retry-After": {"3"}}, engine.ClassRateLimitTimed, 3 * time.Second},
		{402, http.Header{}, engine.ClassQuota, 7 * time.Second},
		{503, http.Header{}, engine.ClassServer, 0},
	} {
		f := answered(s, tt.status, tt.header, strings.NewReader(`{}`)).ErrorAnswer()
		if f.Class != tt.class || f.Cooldown != tt.wait {
			t.Errorf("%d: got %v, %v, want %v, %v", tt.status, f.Class, f.Cooldown, tt.class, tt.wait)
		}
	}
}

// TestEvents reads the events of streams to their end.
func TestEvents(t *testing.T) {
	for _, tt := range []struct {
		name string
		body io.Reader
		want string // the data of the events
		cut  bool
		err  string
	}{
		{"good", strings.NewReader(": hi\n\ndata: 1\n\nevent: x\n\ndata: 2\n\n"), "1 2", false, "EOF"},
		{"the last without a blank line", strings.NewReader("data: 1\n\ndata: 2"), "1 2", true, "EOF"},
		{"broken off", io.MultiReader(strings.NewReader("data: 1\n\ndata"), &failing{}), "1", false, "server: the upstream broke off its answer"},
		{"too large", strings.NewReader("data: 1\n\ndata: " + strings.Repeat("x", 2<<10)), "1", false, "server: an event of the upstream's stream is too large"},
		{"nothing", strings.NewReader(""), "", false, "EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			waits := 0
			x := answered(service(t, nil), 200, http.Header{}, strings.NewReader(""))
			x.Call.Waiting = func() { waits++ }
			events := x.Events(tt.body)
			var got []string
			for {
				ev, err := events.Next()
				if err == nil {
					got = append(got, string(ev.Data))
					continue
				}
				if err.Error() != tt.err {
					t.Errorf("ends with %v, want %s", err, tt.err)
				}
				break
			}
			if strings.Join(got, " ") != tt.want || events.Cut != tt.cut || waits == 0 {
				t.Errorf("got %q, cut %v, %d waits", got, events.Cut, waits)
			}
		})
	}
}

// TestCloseStream: the client has the whole answer before the end of the body is
// waited for; where that has been seen nothing waits.
func TestCloseStream(t *testing.T) {
	for _, tt := range []struct {
		name        string
		body        io.Reader
		ended, told bool
	}{
		{"the end came with the last event", iotest.DataErrReader(strings.NewReader("data: 1\n\n")), true, false},
		{"the end is still to come", strings.NewReader("data: 1\n\n"), true, true},
		{"given up", strings.NewReader("data: 1\n\n"), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := answered(service(t, nil), 200, http.Header{}, tt.body)
			events := x.Events(x.Body)
			if _, err := events.Next(); err != nil {
				t.Fatal(err)
			}
			told := false
			x.Call.Waiting = func() { told = true }
			if err := x.CloseStream(t.Context(), tt.ended); err != nil || told != tt.told {
				t.Errorf("told before it waits: %v, want %v (%v)", told, tt.told, err)
			}
		})
	}
}

type failing struct{}

// Read implements [io.Reader].
func (*failing) Read([]byte) (int, error) { return 0, errors.New("reset") }

func TestPingsAndNoise(t *testing.T) {
	for _, tt := range []struct {
		name, data  string
		ping, noise bool
	}{
		{"ping", `{"type": "ping"}`, true, false},
		{"", `{"type": "ping"}`, true, false},
		{"", `{"type":"content_block_delta","delta":{"text":"a word in quotes: \"ping\""}}`, false, false},
		{"content_block_delta", `{"delta":{"text":"\"ping\""}}`, false, false},
		{"", `keep-alive`, false, true},
		{"", ` {"a":`, false, false},
		{"", ``, false, true},
	} {
		ev := sse.Event{Name: []byte(tt.name), Data: []byte(tt.data)}
		if got := IsPing(&ev); got != tt.ping {
			t.Errorf("%s %s: ping %v", tt.name, tt.data, got)
		}
		if got := IsNoise(ev.Data); got != tt.noise {
			t.Errorf("%s: noise %v", tt.data, got)
		}
	}
}
