package e2e

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewright/internal/wire/recorded"
)

// material holds the recordings.
const material = "../../testdata/wire"

// oneByteHTTP is a framing of the whole HTTP answer, not of its body alone.
const oneByteHTTP = "one byte a write, HTTP and all"

// recordedUpstream plays services of every protocol, each below a path of its
// name: what a prompt names is what they answer.
type recordedUpstream struct {
	address string
	answers []recorded.Answer // of models
	others  []recorded.Entry  // of what is no model that generates

	mu     sync.Mutex
	faults []string // what it ought not to have been asked
}

// playRecordings starts the services.
func playRecordings(t *testing.T) *recordedUpstream {
	t.Helper()
	u := &recordedUpstream{}
	wire := os.DirFS(material)
	var err error
	if u.answers, err = recorded.Answers(wire); err != nil {
		t.Fatal(err)
	}
	all, err := recorded.Entries(wire)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].Kind == "embeddings" || all[i].Kind == "other" {
			u.others = append(u.others, all[i])
		}
	}
	server := httptest.NewServer(u)
	t.Cleanup(func() {
		server.Close()
		for _, fault := range u.faults {
			t.Error(fault)
		}
	})
	u.address = strings.TrimPrefix(server.URL, "http://")
	return u
}

// framingsOf are the ways in which the services give a recording.
func framingsOf(e *recorded.Entry) []recorded.Framing {
	return append(e.Framings(), recorded.Framing{Name: oneByteHTTP, Writes: bytewise(wholeHTTP(e))})
}

// promptFor names an answer of a model, promptForOther another recording.
func promptFor(answer, framing int) string {
	return fmt.Sprintf("Give answer %d in framing %d.", answer, framing)
}

func promptForOther(entry, framing int) string {
	return fmt.Sprintf("Give other %d in framing %d.", entry, framing)
}

var prompted = regexp.MustCompile(`Give (answer|other) (\d+) in framing (\d+)\.`)

// recordedPaths are where the services are asked, by the kind of the recording.
var recordedPaths = map[string]*regexp.Regexp{
	"chat":       regexp.MustCompile(`^/chat/v1/chat/completions$`),
	"messages":   regexp.MustCompile(`^/messages/v1/messages$`),
	"gemini":     regexp.MustCompile(`^/gemini/v1beta/models/[^/]+:(stream)?[gG]enerateContent$`),
	"responses":  regexp.MustCompile(`^/responses/v1/responses$`),
	"embeddings": regexp.MustCompile(`^/chat/v1/embeddings$`),
	"other":      regexp.MustCompile(`^/messages/v1/messages/count_tokens$`),
}

// readApart is waited between two writes, so that mostly each is read for itself;
// single bytes are too many for it, and come as fast as they can.
const readApart = time.Millisecond

// ServeHTTP implements [http.Handler].
func (u *recordedUpstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if r.Method == http.MethodGet { // the rest of a stream, whose framing is told by where it begins
		body = []byte(promptFor(u.resumed(), number(r.URL.Query().Get("starting_after"))))
		r.URL.Path = "/responses/v1/responses"
	}
	found := prompted.FindStringSubmatch(string(body))
	if err != nil || found == nil {
		u.fault(w, "%s %s with a body that names no recording: %.300s, %v", r.Method, r.URL, body, err)
		return
	}
	var e *recorded.Entry
	if n := number(found[2]); found[1] == "other" {
		e = &u.others[n]
	} else {
		e = &u.answers[n].Entry
	}
	if !recordedPaths[e.Kind].MatchString(r.URL.Path) {
		u.fault(w, "%s is asked for %s", r.URL, e.File)
		return
	}
	give(w, e, framingsOf(e)[number(found[3])])
}

// resumed is the answer that is the rest of a stream.
func (u *recordedUpstream) resumed() int {
	return slices.IndexFunc(u.answers, func(a recorded.Answer) bool { return a.File == recorded.Resumed })
}

// number reads digits.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// give answers with a recording.
func give(w http.ResponseWriter, e *recorded.Entry, f recorded.Framing) {
	if f.Name == oneByteHTTP {
		writeRaw(w, f.Writes)
		return
	}
	maps.Copy(w.Header(), e.Header)
	w.WriteHeader(e.Status)
	for _, piece := range f.Writes {
		if _, err := w.Write(piece); err != nil {
			return
		}
		if len(f.Writes) > 1 {
			_ = http.NewResponseController(w).Flush() // if the gateway has gone, the next write tells
		}
		if f.Name != recorded.OneByte {
			<-time.After(readApart)
		}
	}
}

func (u *recordedUpstream) fault(w http.ResponseWriter, format string, args ...any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.faults = append(u.faults, fmt.Sprintf(format, args...))
	http.Error(w, "not recorded", http.StatusTeapot)
}

// wholeHTTP is an answer as it stands on a connection, in chunks that end in the
// middle of everything.
func wholeHTTP(e *recorded.Entry) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n", e.Status, http.StatusText(e.Status))
	_ = e.Header.Write(&b) // a builder takes everything
	b.WriteString("\r\n")
	const chunk = 29
	for rest := e.Body; len(rest) > 0; {
		n := min(chunk, len(rest))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, rest[:n])
		rest = rest[n:]
	}
	return []byte(b.String() + "0\r\n\r\n")
}

func bytewise(text []byte) [][]byte {
	out := make([][]byte, len(text))
	for i := range text {
		out[i] = text[i : i+1]
	}
	return out
}

// writeRaw writes to the connection itself.
func writeRaw(w http.ResponseWriter, writes [][]byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	for _, piece := range writes {
		if _, err := conn.Write(piece); err != nil {
			return
		}
	}
}
