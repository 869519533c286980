package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gatewright/internal/bench/dialog"
	"gatewright/internal/bench/mock"
	"gatewright/internal/bench/proc"
)

// upstream serves the benchmark's upstream for the time of the test.
func upstream(t *testing.T) (u *mock.Upstream, address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	u = mock.New(mock.Options{})
	ended := make(chan error, 1)
	go func() { ended <- u.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return u, l.Addr().String()
}

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name        string
		job         Job
		least, most int // requests
	}{
		{"an exact number", Job{Connections: 8, Count: 203, Duration: time.Minute}, 203, 203},
		{"an exact number of streams", Job{Connections: 3, Count: 20, Stream: true, Duration: time.Minute}, 20, 20},
		{"a closed loop", Job{Connections: 4, Duration: 100 * time.Millisecond}, 1, maxSamples},
		{"a large body", Job{Connections: 2, BodyBytes: 100 << 10, Count: 10, Duration: time.Minute}, 10, 10},
		{"an open loop sends no more than its rate", Job{Connections: 4, Rate: 500, Duration: 100 * time.Millisecond}, 1, 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, address := upstream(t)
			job := tt.job
			job.Address, job.Model, job.Core = address, dialog.Model, proc.Unpinned
			got, err := Run(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if got.Errors != 0 || got.Requests < tt.least || got.Requests > tt.most {
				t.Errorf("got %+v, want %d to %d requests", got, tt.least, tt.most)
			}
			warm := 0
			if job.Count == 0 {
				warm = job.Connections
			}
			if seen := u.Stats(); seen.Healthy != int64(got.Requests+warm) || seen.Refused != 0 {
				t.Errorf("the upstream saw %+v, the load says %d, and %d before", seen, got.Requests, warm)
			}
			if got.LatencyP50 <= 0 || got.LatencyP99 < got.LatencyP50 || got.FirstP50 > got.LatencyP50 || got.FrameMean < 1 {
				t.Errorf("latencies make no sense: %+v", got)
			}
		})
	}
}

// faulty answers each request with what the test wants of the upstream's
// answer.
func faulty(t *testing.T, change func(w http.ResponseWriter, answer []byte)) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked, err := dialog.Read(body)
		if err != nil {
			t.Error(err)
		}
		answer := dialog.Answer()
		if asked.Stream {
			answer = nil
			for i := range dialog.Chunks + 1 {
				answer = append(answer, dialog.Event(i)...)
			}
			answer = append(answer, dialog.Done...)
		}
		for _, at := range dialog.Marks(answer) {
			copy(answer[at:], asked.Mark)
		}
		change(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func TestWrongAnswersAreErrors(t *testing.T) {
	send := func(w http.ResponseWriter, b []byte) { _, _ = w.Write(b) }
	for _, tt := range []struct {
		name   string
		stream bool
		change func(w http.ResponseWriter, answer []byte)
		want   string // part of the error; "" = none
	}{
		{"a right answer", false, send, ""},
		{"a right stream", true, send, ""},
		{"a stream that ends in order, but early", true, func(w http.ResponseWriter, b []byte) { send(w, b[:len(b)/2]) }, "stream is"},
		{"a stream whose connection breaks", true, func(w http.ResponseWriter, b []byte) {
			send(w, b[:len(b)/2])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "unexpected EOF"},
		{"a stream without its end", true, func(w http.ResponseWriter, b []byte) { send(w, b[:len(b)-len(dialog.Done)]) }, "[DONE]"},
		{"an answer that is cut off", false, func(w http.ResponseWriter, b []byte) { send(w, b[:len(b)-1]) }, "cut off"},
		{"an answer to somebody else", false, func(w http.ResponseWriter, _ []byte) { send(w, dialog.Answer()) }, "another request"},
		{"an error", false, func(w http.ResponseWriter, _ []byte) { http.Error(w, "slow down", http.StatusTooManyRequests) }, "status 429"},
		{"nothing", false, func(http.ResponseWriter, []byte) {}, "no content"},
		{"no HTTP", false, func(w http.ResponseWriter, _ []byte) {
			c, out, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			writeRaw(c, out, "hello\r\n\r\n")
		}, "malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job := Job{Address: faulty(t, tt.change), Connections: 2, Count: 6, Stream: tt.stream, Duration: time.Minute, Core: proc.Unpinned}
			got, err := Run(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			wantErrors := 0
			if tt.want != "" {
				wantErrors = job.Count
			}
			if got.Errors != wantErrors || got.Requests != job.Count-wantErrors || !strings.Contains(got.FirstError, tt.want) {
				t.Errorf("got %+v, want %d errors, %q in the first", got, wantErrors, tt.want)
			}
			if err := Once(job); (err != nil) != (tt.want != "") {
				t.Errorf("Once: got %v, want an error: %t", err, tt.want != "")
			}
		})
	}
}

func writeRaw(c net.Conn, out *bufio.ReadWriter, text string) {
	_, _ = out.WriteString(text)
	_ = out.Flush()
	_ = c.Close()
}

func TestRunEndsWithItsContext(t *testing.T) {
	_, address := upstream(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Job{Address: address, Connections: 2, Duration: maxDuration}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestRunGivesUpWhenNothingAnswers(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Run(t.Context(), Job{Address: l.Addr().String(), Connections: 2, Duration: maxDuration})
	if err != nil {
		t.Fatal(err)
	}
	if got.Requests != 0 || got.Errors < maxErrors || got.FirstError == "" {
		t.Errorf("got %+v", got)
	}
}

func TestJobIsChecked(t *testing.T) {
	good := Job{Address: "127.0.0.1:1", Connections: 1, Duration: time.Second}
	for _, tt := range []struct {
		name   string
		change func(*Job)
		want   string
	}{
		{"another machine", func(j *Job) { j.Address = "192.0.2.1:80" }, "loopback"},
		{"a name", func(j *Job) { j.Address = "localhost:80" }, "loopback"},
		{"no port", func(j *Job) { j.Address = "127.0.0.1" }, "address"},
		{"no connections", func(j *Job) { j.Connections = 0 }, "connections"},
		{"too many connections", func(j *Job) { j.Connections = maxConnections + 1 }, "connections"},
		{"no time", func(j *Job) { j.Duration = 0 }, "duration"},
		{"too long", func(j *Job) { j.Duration = maxDuration + 1 }, "duration"},
		{"too large", func(j *Job) { j.BodyBytes = maxBody + 1 }, "body_bytes"},
		{"negative", func(j *Job) { j.Rate = -1 }, "negative"},
		{"two ways", func(j *Job) { j.Rate, j.Count = 1, 1 }, "not both"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job := good
			tt.change(&job)
			if _, err := Run(t.Context(), job); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
	if err := good.check(); err != nil {
		t.Errorf("a good job: %v", err)
	}
}

func TestOpenLoopCountsTheWaitForAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{job: &Job{Rate: 10, Duration: time.Second}}
		r.begin = time.Now()
		r.end = r.begin.Add(r.job.Duration)
		w := &worker{run: r}
		var got []string
		for n := 1; ; n++ {
			due, ok := r.claim()
			if !ok {
				break
			}
			late := w.await(t.Context(), due)
			got = append(got, fmt.Sprintf("%s+%s", due.Sub(r.begin), late))
			if n == 2 {
				// The only connection is busy until 550 ms.
				<-time.After(350 * time.Millisecond)
			}
		}
		want := "100ms+0s 200ms+0s 300ms+250ms 400ms+150ms 500ms+50ms 600ms+0s 700ms+0s 800ms+0s 900ms+0s"
		if text := strings.Join(got, " "); text != want {
			t.Errorf("due+late: got %s, want %s", text, want)
		}
	})
}

func TestQuantile(t *testing.T) {
	list := func(n int) []time.Duration {
		var d []time.Duration
		for i := range n {
			d = append(d, time.Duration(i+1)*time.Microsecond)
		}
		return d
	}
	for _, tt := range []struct {
		n, p int
		want float64
	}{
		{1, 50, 1}, {1, 99, 1}, {2, 50, 1}, {3, 50, 2}, {100, 50, 50}, {100, 99, 99}, {101, 99, 100}, {1000, 99, 990},
	} {
		if got := quantile(list(tt.n), tt.p); got != tt.want {
			t.Errorf("percentile %d of 1 to %d: got %g, want %g", tt.p, tt.n, got, tt.want)
		}
	}
}
