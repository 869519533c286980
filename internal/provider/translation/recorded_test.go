package translation_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"gatewright/internal/wire/recorded"
	"gatewright/internal/wire/translate"
)

const material = "../../../testdata/wire"

// recordings returns every recorded answer of a model.
func recordings(t *testing.T) []recorded.Answer {
	t.Helper()
	all, err := recorded.Answers(os.DirFS(material))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 70 {
		t.Fatalf("only %d recorded answers", len(all))
	}
	return all
}

// protocolOf returns the protocol of a recording.
func protocolOf(t *testing.T, name recorded.Protocol) translate.Protocol {
	t.Helper()
	for _, p := range protocols {
		if p.String() == string(name) {
			return p
		}
	}
	t.Fatalf("there is no protocol %q", name)
	return 0
}

// answers serves writes as the body of an answer, each sent on its way before the
// next.
func answers(streamed bool, writes [][]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		kind := "application/json"
		if streamed {
			kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", kind)
		for _, piece := range writes {
			if _, err := w.Write(piece); err != nil {
				return
			}
			if len(writes) > 1 {
				_ = http.NewResponseController(w).Flush()
			}
		}
	}
}

// TestRecordings serves every recorded answer to every client, in the form in
// which it came, however it is framed and cut, and in the other one.
func TestRecordings(t *testing.T) {
	for _, rec := range recordings(t) {
		if rec.Odd != "" {
			continue
		}
		for _, framing := range rec.Framings() {
			up := upstream{id: "a", protocol: protocolOf(t, rec.Upstream), handler: answers(rec.Stream(), framing.Writes), slow: true}
			up.about = translate.Upstream{Full: true, Reasons: true, Adaptive: true}
			for _, client := range clients {
				t.Run(fmt.Sprintf("%v %s/%s/%v", rec.Upstream, rec.File, framing.Name, client), func(t *testing.T) {
					t.Parallel()
					serve(t, &rec, newRig(t, up), client, rec.Stream())
					if framing.Name == recorded.Whole {
						serve(t, &rec, newRig(t, up), client, !rec.Stream())
					}
				})
			}
		}
	}
}

// serve asks for the answer and checks what the client reads.
func serve(t *testing.T, rec *recorded.Answer, rig *rig, client translate.Protocol, streams bool) {
	t.Helper()
	q := asking(client, streams)
	out, d, err := rig.ask(client, q.Body(publicModel, "say something", rec))
	out.native = q.Client == rec.Upstream
	switch {
	case rec.Fails && err == nil:
		t.Fatalf("served: %s", out.out.String())
	case rec.Fails:
		return
	case err != nil:
		t.Fatalf("%v (%s)", err, attempts(d))
	}
	for _, fault := range rec.Faults(q, out.read(t, client, streams)) {
		t.Errorf("%s: %.2000s", fault, out.out.String())
	}
	if u := d.Result.Usage; rec.Usage != nil && (u.Input != rec.Usage.Input || u.Output != rec.Usage.Output) {
		t.Errorf("usage %+v, want %+v", u, *rec.Usage)
	}
}
