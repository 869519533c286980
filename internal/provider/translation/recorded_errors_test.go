package translation_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"gatewright/engine"
	"gatewright/internal/wire/recorded"
)

// TestRecordedErrors gives every client the error of every recorded error answer:
// classed by what it says, and in words that tell what is wrong.
func TestRecordedErrors(t *testing.T) {
	all, err := recorded.Errors(os.DirFS(material))
	if err != nil || len(all) < 50 {
		t.Fatalf("%d recorded errors, %v", len(all), err)
	}
	for _, e := range all {
		if e.Kind == "embeddings" {
			continue // no client of these protocols is given it
		}
		for _, client := range clients {
			t.Run(fmt.Sprintf("%s/%v", e.Name, client), func(t *testing.T) {
				t.Parallel()
				up := upstream{id: "a", protocol: protocolOf(t, e.Upstream), handler: func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(e.Status)
					_, _ = w.Write(e.Body)
				}}
				for _, streams := range []bool{false, true} {
					out, d, err := newRig(t, up).ask(client, body(client, streams, ""))
					if got := attempts(d); err == nil || got != "a:"+e.Class || out.out.Len() > 0 {
						t.Fatalf("got %s, %v, %q, want %s", got, err, out.out.String(), e.Class)
					}
					u := upstreamError(t, err)
					if u.Status < 400 || u.Message == "" || strings.ContainsAny(u.Message, "{}") || u.Committed {
						t.Errorf("got %+v", u)
					}
					if e.Class == "context_window" && u.Code != engine.CodeContextLengthExceeded || e.Class == "auth" && u.Status < 500 {
						t.Errorf("got %+v", u)
					}
				}
			})
		}
	}
}
