package fake

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// open starts a request and returns its answer as soon as the headers are in,
// and how long they took.
func (r *rig) open(t *testing.T, body string) (*http.Response, time.Duration) {
	t.Helper()
	start := time.Now()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+chatPath, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp, time.Since(start)
}

// arrivals reads a stream and tells when each event with content came.
func arrivals(t *testing.T, resp *http.Response, start time.Time) []time.Duration {
	t.Helper()
	defer closing(t, resp.Body)
	var content []time.Duration
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"content":"`) && !strings.Contains(lines.Text(), `"role"`) {
			content = append(content, time.Since(start))
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return content
}

func TestPaceOfStream(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, behaviour string
		headers         time.Duration
		content         []time.Duration
	}{
		{"at once", "answer: {text: a b c}", 0, []time.Duration{0, 0, 0}},
		{
			"first and per token", "answer: {text: a b c}\nlatency: {first_token: 300ms, per_token: 5ms}",
			0,
			[]time.Duration{300 * ms, 305 * ms, 310 * ms},
		},
		{
			"headers late", "answer: {text: a b}\nlatency: {headers: 100ms, first_token: 300ms}",
			100 * ms,
			[]time.Duration{300 * ms, 300 * ms},
		},
		{
			"headers later than the first token", "answer: {text: a b}\nlatency: {headers: 400ms, first_token: 300ms, per_token: 1ms}",
			400 * ms,
			[]time.Duration{400 * ms, 401 * ms},
		},
		{
			"slow first token", "answer: {text: a b}\nlatency: {first_token: 1ms, jitter: 100%}\nalways: slow-first-token",
			0,
			[]time.Duration{5000 * ms, 5000 * ms},
		},
		{
			"gaps", "answer: {text: a b c}\nalways: {fault: gaps, delay: 59s}",
			0,
			[]time.Duration{0, 59 * time.Second, 118 * time.Second},
		},
		{
			"long stream", "answer: {text: a}\nalways: {fault: long-stream, count: 4, delay: 20m}",
			0,
			[]time.Duration{0, 20 * time.Minute, 40 * time.Minute, 60 * time.Minute},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newBubble(t, oneUpstream(c.behaviour))
				start := time.Now()
				resp, headers := r.open(t, streamBody)
				content := arrivals(t, resp, start)
				if headers != c.headers {
					t.Errorf("headers after %v, want %v", headers, c.headers)
				}
				if diff := cmp.Diff(c.content, content); diff != "" {
					t.Errorf("content (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestPaceOfPlainAnswer(t *testing.T) {
	for _, c := range []struct {
		name, behaviour string
		want            time.Duration
	}{
		{"at once", "answer: {text: a b c}", 0},
		{"as long as its stream", "answer: {text: a b c}\nlatency: {first_token: 300ms, per_token: 5ms}", 310 * time.Millisecond},
		{"headers", "answer: {text: a b c}\nlatency: {headers: 1s, first_token: 300ms, per_token: 5ms}", 1010 * time.Millisecond},
		{"slow first token", "answer: {text: a b c}\nalways: {fault: slow-first-token, delay: 2s}", 2 * time.Second},
		{"an error", "latency: {headers: 2s, first_token: 1h}\nalways: http-500", 2 * time.Second},
		{"a wrong key", "latency: {headers: 2s}\napi_key: k", 2 * time.Second},
		{"a raw answer", "latency: {headers: 2s}\nalways: close-delimited", 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newBubble(t, oneUpstream(c.behaviour))
				resp, took := r.open(t, chatBody)
				defer closing(t, resp.Body)
				if took != c.want {
					t.Errorf("took %v, want %v", took, c.want)
				}
			})
		})
	}
}

func TestJitterIsBoundedAndRepeats(t *testing.T) {
	const behaviour = "answer: {text: a, tokens: 50}\nlatency: {first_token: 100ms, per_token: 10ms, jitter: 20%}"
	var runs [2][]time.Duration
	for i := range runs {
		synctest.Test(t, func(t *testing.T) {
			r := newBubble(t, oneUpstream(behaviour))
			start := time.Now()
			resp, _ := r.open(t, streamBody)
			runs[i] = arrivals(t, resp, start)
		})
	}
	if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
		t.Errorf("the same seed, another pace (-first +second):\n%s", diff)
	}
	last, different := time.Duration(0), false
	for i, at := range runs[0] {
		gap, want := at-last, 10*time.Millisecond
		if i == 0 {
			want = 100 * time.Millisecond
		}
		if gap < want*8/10 || gap > want*12/10 {
			t.Errorf("wait %d was %v, want %v within 20%%", i, gap, want)
		}
		different = different || gap != want
		last = at
	}
	if !different {
		t.Error("no jitter at all")
	}
}

func TestHeadersDripped(t *testing.T) {
	for _, body := range []string{chatBody, streamBody} {
		synctest.Test(t, func(t *testing.T) {
			r := newBubble(t, oneUpstream("always: {fault: headers-dripped, delay: 100ms}"))
			resp, took := r.open(t, body)
			defer closing(t, resp.Body)
			if took < 10*time.Second { // more than 100 bytes of head
				t.Errorf("the head took %v", took)
			}
			got, err := io.ReadAll(resp.Body)
			answered(t, reply{status: resp.StatusCode, header: resp.Header, body: got, readErr: err})
		})
	}
}

func TestCommentsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubble(t, oneUpstream("always: comments-only"))
		start := time.Now()
		resp, _ := r.open(t, streamBody)
		defer closing(t, resp.Body)
		lines := bufio.NewScanner(resp.Body)
		for n := 0; n < 100 && lines.Scan(); {
			switch lines.Text() {
			case ": keep-alive":
				n++
			case "":
			default:
				t.Fatalf("got %q", lines.Text())
			}
		}
		if got := time.Since(start); got != 99*time.Second {
			t.Errorf("100 comments took %v, want 99s", got)
		}
	})
}

// What is never answered is over when the client leaves, and only then.
func TestNeverAnswered(t *testing.T) {
	for _, c := range []struct {
		fault, body string
		status      int // 0: the headers never come
		content     int
	}{
		{"silent", chatBody, 0, 0},
		{"silent", streamBody, 0, 0},
		{"stall-after-headers", chatBody, 200, 0},
		{"stall-after-headers", streamBody, 200, 0},
		{"stall", chatBody, 200, 0},
		{"{fault: stall, after: 5}", streamBody, 200, 5},
		{"{fault: stall, after: 0}", streamBody, 200, 0},
		{"stall-after-finish", streamBody, 200, 7},
	} {
		name := (&faultCase{fault: c.fault}).faultName()
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newBubble(t, oneUpstream("answer: {text: a, tokens: 7}\nscript: ["+c.fault+"]"))
				client := *r.client
				client.Timeout = time.Hour
				start := time.Now()
				got := do(t.Context(), &client, http.MethodPost, r.url+chatPath, c.body)
				if took := time.Since(start); took != time.Hour || got.status != c.status || got.err == nil && got.readErr == nil {
					t.Errorf("after %v: status %d, errors %v, %v", took, got.status, got.err, got.readErr)
				}
				if n := tell(t, got.body).texts; n != c.content {
					t.Errorf("%d content events, want %d", n, c.content)
				}
				synctest.Wait()
				s := r.Requests("a")[0]
				if !s.Cancelled || s.Finished || s.Fault != name || s.Status != c.status || s.Ended.Sub(s.Time) != time.Hour || r.InFlight("a") != 0 {
					t.Errorf("recorded %+v, %d in flight", s, r.InFlight("a"))
				}
				answered(t, r.send(t, "POST", chatPath, chatBody))
			})
		})
	}
}
