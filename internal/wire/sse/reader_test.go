package sse_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/sse"
)

// event is an event that outlives the next one.
type event struct {
	Name, ID, Data   string
	HasData, Comment bool
}

func keep(ev sse.Event) event {
	return event{string(ev.Name), string(ev.ID), string(ev.Data), ev.HasData, ev.Comment}
}

// readAll reads to the error that ends the stream; an event that came with the
// error is the last.
func readAll(r io.Reader, maxEvent int) (events []event, err error) {
	reader := sse.NewReader(r, maxEvent)
	for {
		ev, err := reader.Next()
		if err == nil {
			events = append(events, keep(ev))
			continue
		}
		if got := keep(ev); got != (event{}) {
			events = append(events, got)
		}
		if ev, again := reader.Next(); !errors.Is(again, err) || keep(ev) != (event{}) {
			return events, errors.New("the error did not stick")
		}
		return events, err
	}
}

func data(texts ...string) (events []event) {
	for _, t := range texts {
		events = append(events, event{Data: t, HasData: true})
	}
	return events
}

func TestReader(t *testing.T) {
	tests := []struct {
		name, body string
		want       []event
		err        error
	}{
		{"empty", "", nil, io.EOF},
		{"blank lines only", "\n\n\r\n\r", nil, io.EOF},
		{"one event", "data: a\n\n", data("a"), io.EOF},
		{"two events", "data: a\n\ndata: b\n\n", data("a", "b"), io.EOF},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", data("a", "b"), io.EOF},
		{"cr", "data: a\r\rdata: b\r\r", data("a", "b"), io.EOF},
		{"mixed ends", "data: a\r\n\ndata: b\r\r\ndata: c\n\r", data("a", "b", "c"), io.EOF},
		{"no space", "data:a\n\n", data("a"), io.EOF},
		{"one space is removed", "data:  a \n\n", data(" a "), io.EOF},
		{"tab is data", "data:\ta\n\n", data("\ta"), io.EOF},
		{"several lines", "data: a\ndata:\ndata: b\n\n", data("a\n\nb"), io.EOF},
		{"several lines, other fields between", "data: a\nid: long-enough-to-be-overwritten\nevent: e\n: c\ndata: bbbbbbbbbbbbbb\n\n", []event{{"e", "long-enough-to-be-overwritten", "a\nbbbbbbbbbbbbbb", true, false}}, io.EOF},
		{"empty data", "data:\n\ndata\n\n", []event{{HasData: true}, {HasData: true}}, io.EOF},
		{"two empty lines of data", "data\ndata\n\n", data("\n"), io.EOF},
		{"name and id", "event: message\nid: 7\ndata: a\n\ndata: b\n\n", []event{{"message", "7", "a", true, false}, {"", "", "b", true, false}}, io.EOF},
		{"last name wins", "event: a\nevent: b\ndata: x\n\n", []event{{"b", "", "x", true, false}}, io.EOF},
		{"id with NUL is ignored", "id: 1\nid: a\x00b\ndata: x\n\n", []event{{"", "1", "x", true, false}}, io.EOF},
		{"no data", "event: ping\n\n", []event{{Name: "ping"}}, io.EOF},
		{"retry and unknown fields", "retry: 10\nfoo: bar\nbaz\ndata: x\n\n", data("x"), io.EOF},
		{"field names are exact", "Data: x\n data: y\ndata : z\n\n", []event{{}}, io.EOF},
		{"comment block", ": ping\n\n:\n\n", []event{{Comment: true}, {Comment: true}}, io.EOF},
		{"comment beside data", ": ping\ndata: a\n: pong\n\n", data("a"), io.EOF},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", data("a"), io.EOF},
		{"mark in the middle is no mark", "data: a\n\n\xef\xbb\xbfdata: b\n\n", append(data("a"), event{}), io.EOF},
		{"half a mark", "\xef\xbb", nil, io.ErrUnexpectedEOF},
		{"line separators of Unicode are data", "data: a\u2028b\u2029c\u0085d\n\n", data("a\u2028b\u2029c\u0085d"), io.EOF},
		{"not closed", "data: a\n\ndata: b\n", data("a", "b"), io.ErrUnexpectedEOF},
		{"not closed, no line end", "data: a\n\ndata: b", data("a", "b"), io.ErrUnexpectedEOF},
		{"not closed, cr", "data: a\r", data("a"), io.ErrUnexpectedEOF},
		{"not closed, two lines", "data: a\ndata: b", data("a\nb"), io.ErrUnexpectedEOF},
		{"comment not closed", "data: a\n\n: ping", data("a"), io.EOF},
		{"bytes that are no text", "data: \x00\xff\n\n", data("\x00\xff"), io.EOF},
	}
	for _, tt := range tests {
		for framing, r := range map[string]io.Reader{
			"whole":      strings.NewReader(tt.body),
			"bytes":      iotest.OneByteReader(strings.NewReader(tt.body)),
			"with error": iotest.DataErrReader(strings.NewReader(tt.body)),
		} {
			t.Run(tt.name+"/"+framing, func(t *testing.T) {
				got, err := readAll(r, 1<<10)
				if !errors.Is(err, tt.err) {
					t.Errorf("got error %v, want %v", err, tt.err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestReaderSizes(t *testing.T) {
	const limit = 300 << 10
	tests := []struct {
		name string
		size int
		err  error
	}{
		{"65 KiB", 65 << 10, io.EOF},
		{"the limit", limit, io.EOF},
		{"one more", limit + 1, &sse.TooLargeError{Limit: limit}},
		{"twice the limit", 2 * limit, &sse.TooLargeError{Limit: limit}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			long := strings.Repeat("x", tt.size)
			for form, body := range map[string]string{
				"one line":    "data: a\n\ndata: " + long + "\n\ndata: b\n\n",
				"crlf":        "data: a\r\n\r\ndata: " + long + "\r\n\r\ndata: b\r\n\r\n",
				"many lines":  "data: a\n\n" + strings.Repeat("data: "+strings.Repeat("x", 99)+"\n", tt.size/100) + "data: " + strings.Repeat("x", tt.size%100) + "\n\ndata: b\n\n",
				"with an id":  "data: a\n\nid: " + long[:100] + "\ndata: " + long[100:] + "\n\ndata: b\n\n",
				"not closed?": "data: a\n\ndata: " + long,
			} {
				got, err := readAll(iotest.HalfReader(strings.NewReader(body)), limit)
				want := tt.err
				if form == "not closed?" && errors.Is(want, io.EOF) {
					want = io.ErrUnexpectedEOF
				}
				if diff := cmp.Diff(want.Error(), err.Error()); diff != "" {
					t.Errorf("%s: error (-want +got):\n%s", form, diff)
				}
				if wantEvents := map[bool]int{true: 3, false: 1}[errors.Is(want, io.EOF)]; form != "not closed?" && len(got) != wantEvents {
					t.Errorf("%s: got %d events, want %d", form, len(got), wantEvents)
				}
			}
		})
	}
}

func TestReaderComments(t *testing.T) {
	// Comments without a blank line between them keep nothing.
	const limit = 1 << 10
	body := strings.Repeat(": keep-alive\n", 10_000) + "data: a\n" + strings.Repeat(": keep-alive\n", 10_000) + "data: b\n\n"
	got, err := readAll(strings.NewReader(body), limit)
	if !errors.Is(err, io.EOF) {
		t.Errorf("got error %v", err)
	}
	if diff := cmp.Diff(data("a\nb"), got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if _, err := readAll(strings.NewReader(":"+strings.Repeat("x", 2*limit)), limit); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a comment above the limit: got error %v", err)
	}
}

// stutter gives its parts one a read and fails the test when it is read once
// more than it has parts.
type stutter struct {
	t     *testing.T
	parts []string
}

func (s *stutter) Read(p []byte) (int, error) {
	if len(s.parts) == 0 {
		s.t.Error("the reader waits for bytes that the event does not need")
		return 0, io.EOF
	}
	n := copy(p, s.parts[0])
	s.parts = s.parts[1:]
	return n, nil
}

func TestReaderDoesNotWait(t *testing.T) {
	for name, part := range map[string]string{"lf": "data: a\n\n", "crlf": "data: a\r\n\r\n", "cr": "data: a\r\r", "crlf cut": "data: a\r\n\r"} {
		t.Run(name, func(t *testing.T) {
			src := &stutter{t: t, parts: []string{part}}
			r := sse.NewReader(src, 100)
			ev, err := r.Next()
			if err != nil || string(ev.Data) != "a" {
				t.Fatalf("got %q, %v", ev.Data, err)
			}
			// A line feed that comes later belongs to the carriage return.
			src.parts = []string{"\ndata: b\n\n"}
			if ev, err = r.Next(); err != nil || string(ev.Data) != "b" {
				t.Errorf("got %q, %v", ev.Data, err)
			}
		})
	}
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	for name, tt := range map[string]struct {
		r    io.Reader
		want error
	}{
		"inside an event":             {io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)), broken},
		"between events":              {io.MultiReader(strings.NewReader("data: a\n\n"), iotest.ErrReader(broken)), broken},
		"cut transfer":                {io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(io.ErrUnexpectedEOF)), io.ErrUnexpectedEOF},
		"a reader that reads nothing": {io.MultiReader(strings.NewReader("data: a\n\n"), nothing{}), io.ErrNoProgress},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAll(tt.r, 100)
			if !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
			if diff := cmp.Diff(data("a"), got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestReaderAllocates(t *testing.T) {
	event := []byte("event: chunk\nid: 1\ndata: " + strings.Repeat("x", 3000) + "\ndata: y\n\n")
	r := sse.NewReader(&endless{event: event}, 1<<20)
	for range 100 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if got := testing.AllocsPerRun(1000, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); got > 0 {
		t.Errorf("got %v allocations an event, want 0", got)
	}
}

// endless repeats an event in reads of odd sizes.
type endless struct {
	event []byte
	at    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), 700)], e.event[e.at:])
	e.at = (e.at + n) % len(e.event)
	return n, nil
}

// scattered reads its text in pieces of random sizes.
type scattered struct {
	text []byte
	r    *rand.Rand
}

func (s *scattered) Read(p []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+s.r.IntN(9))], s.text)
	s.text = s.text[n:]
	return n, nil
}

func TestReaderSplitsAgree(t *testing.T) {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "data", "data:", "data: ", "data: a", "data:b", "event: e", "id: 1", "id", ": c", ":", "retry: 5", "x: y", "data: é\u2028", "\xef\xbb\xbfdata: z", "data: " + strings.Repeat("long", 1500)}),
		rapid.StringMatching(`[^\r\n]{0,12}`),
	)
	end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		var body strings.Builder
		for range rapid.IntRange(0, 30).Draw(t, "lines") {
			body.WriteString(line.Draw(t, "line"))
			body.WriteString(end.Draw(t, "end"))
		}
		want, wantErr := readAll(strings.NewReader(body.String()), 1<<14)
		seed := rapid.Uint64().Draw(t, "seed")
		got, err := readAll(&scattered{[]byte(body.String()), rand.New(rand.NewPCG(seed, 0))}, 1<<14)
		if diff := cmp.Diff(want, got); diff != "" || err.Error() != wantErr.Error() {
			t.Fatalf("got %v, want %v; events (-want +got):\n%s", err, wantErr, diff)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("data: a\n\nevent: e\r\nid: 1\r\ndata: b\r\ndata: c\r\n\r\n: x\r\r"), uint64(1))
	f.Add([]byte("\xef\xbb\xbfdata\rdata\r\r\n\ndata: unclosed"), uint64(2))
	f.Add([]byte("data: "+strings.Repeat("x", 5000)+"\n\n"), uint64(3))
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		const limit = 1 << 12
		whole, err := readAll(bytes.NewReader(body), limit)
		pieces, perr := readAll(&scattered{body, rand.New(rand.NewPCG(seed, 0))}, limit)
		if diff := cmp.Diff(whole, pieces); diff != "" || err.Error() != perr.Error() {
			t.Fatalf("whole: %v, in pieces: %v; events (-whole +pieces):\n%s", err, perr, diff)
		}
		for _, ev := range whole {
			if len(ev.Data)+len(ev.Name)+len(ev.ID) > limit {
				t.Errorf("an event of %d bytes", len(ev.Data))
			}
			if strings.ContainsAny(ev.Name+ev.ID, "\r\n") || strings.Contains(ev.Data, "\r") {
				t.Errorf("line ends are left in %+v", ev)
			}
			if !ev.HasData {
				continue
			}
			// Written again it is the same event.
			again, err := readAll(bytes.NewReader(sse.Append(nil, ev.Name, []byte(ev.Data))), 2*limit)
			ev.ID = ""
			if diff := cmp.Diff([]event{ev}, again); diff != "" || !errors.Is(err, io.EOF) {
				t.Errorf("read again: %v (-want +got):\n%s", err, diff)
			}
		}
	})
}

// FuzzAppend reads what was written: one event, whatever its name and data hold.
func FuzzAppend(f *testing.F) {
	f.Add("", []byte("a"), "c")
	f.Add("e\r\ndata: b", []byte("a\r\n\r\nevent: e\rid: 1\n"), "c\r\ndata: d\n\n")
	f.Add("\xef\xbb\xbf", []byte("\n"), "")
	f.Fuzz(func(t *testing.T, name string, data []byte, comment string) {
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n")
		want := event{Data: lines.Replace(string(data)), HasData: true}
		want.Name, _, _ = strings.Cut(lines.Replace(name), "\n")
		written := sse.Append(sse.AppendComment(nil, comment), name, data)
		got, err := readAll(bytes.NewReader(written), len(written))
		if len(got) == 0 || !got[0].Comment {
			t.Fatalf("no comment in front: %+v", got)
		}
		if diff := cmp.Diff([]event{want}, got[1:]); diff != "" || !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v (-want +got):\n%s", written, err, diff)
		}
	})
}
