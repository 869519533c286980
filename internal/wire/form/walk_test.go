package form_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/form"
)

// field is a part as a reader sees it.
type field struct {
	Name, Value   string
	File, Encoded bool
}

// read walks over a form and checks on the way what holds for every part.
func read(t *testing.T, body []byte, boundary string) ([]field, error) {
	t.Helper()
	var list []field
	to := -1
	err := form.Walk(body, boundary, func(p form.Part) error {
		if to >= 0 && p.From != to {
			t.Errorf("part %d begins at %d, the one before ended at %d", len(list), p.From, to)
		}
		if !bytes.HasPrefix(body[p.From:], []byte("--"+boundary)) || !bytes.HasPrefix(body[p.To:], []byte("--"+boundary)) {
			t.Errorf("part %d is not between delimiters", len(list))
		}
		to = p.To
		list = append(list, field{p.Name, string(body[p.Start:p.End]), p.File, p.Encoded})
		return nil
	})
	return list, err
}

// lines joins lines with CR LF.
func lines(list ...string) string { return strings.Join(list, "\r\n") }

// Forms as libraries write them.
var (
	fromGo = lines("--4a1f", `Content-Disposition: form-data; name="model"`, "", "whisper-1",
		"--4a1f", `Content-Disposition: form-data; name="file"; filename="a \"b\".wav"`, "Content-Type: audio/wav", "", "RIFF\r\n\x00\xff--4a1f", "--4a1f--", "")
	fromNode = lines("------formdata-undici-0931", `Content-Disposition: form-data; name="file"; filename="sp%22eech.mp3"`, "Content-Type: audio/mpeg", "", "ID3", "------formdata-undici-0931",
		`Content-Disposition: form-data; name="model"`, "", "m", "------formdata-undici-0931--", "")
	fromCurl = lines("--------------------------b7", `Content-Disposition: form-data; name="image[]"; filename="ä.png"`, "Content-Type: image/png", "", "\x89PNG\r\n\x1a\n",
		"--------------------------b7", `Content-Disposition: form-data; name="prompt"`, "", "two\r\nlines", "--------------------------b7--", "")
	fromPython = lines("--d1e2", `Content-Disposition: form-data; name="stream"`, "", "true", "--d1e2", `Content-Disposition: form-data; name="empty"`, "", "",
		"--d1e2", `content-disposition: form-data; name="file"; filename*=utf-8''n%C3%A4me.wav`, "", "x", "--d1e2--", "")
	fromJava = lines("--okhttp", `Content-Disposition: form-data; name="model"`, "Content-Transfer-Encoding: binary", "Content-Type: text/plain; charset=UTF-8", "Content-Length: 1", "", "m", "--okhttp--")
)

func TestWalkReadsWhatLibrariesWrite(t *testing.T) {
	for _, c := range []struct {
		name, body, boundary string
		want                 []field
	}{
		{"Go", fromGo, "4a1f", []field{{Name: "model", Value: "whisper-1"}, {Name: "file", Value: "RIFF\r\n\x00\xff--4a1f", File: true}}},
		{"Node", fromNode, "----formdata-undici-0931", []field{{Name: "file", Value: "ID3", File: true}, {Name: "model", Value: "m"}}},
		{"curl", fromCurl, "------------------------b7", []field{{Name: "image[]", Value: "\x89PNG\r\n\x1a\n", File: true}, {Name: "prompt", Value: "two\r\nlines"}}},
		{"Python", fromPython, "d1e2", []field{{Name: "stream", Value: "true"}, {Name: "empty"}, {Name: "file", Value: "x", File: true}}},
		{"Java", fromJava, "okhttp", []field{{Name: "model", Value: "m"}}},
		{"a line break in front", "\r\n" + fromJava, "okhttp", []field{{Name: "model", Value: "m"}}},
		{"blanks behind", fromJava + "\r\n \r\n", "okhttp", []field{{Name: "model", Value: "m"}}},
		{"padding behind the delimiter", lines("--b \t", "Content-Disposition:form-data;name=a", "", "1", "--b--"), "b", []field{{Name: "a", Value: "1"}}},
		{"encoded", lines("--b", "Content-Disposition: form-data; name=a", "Content-Transfer-Encoding: Base64", "", "MQ==", "--b--"), "b", []field{{Name: "a", Value: "MQ==", Encoded: true}}},
		{"the boundary inside a line", lines("--b", "Content-Disposition: form-data; name=a", "", "x--b--", "--b--"), "b", []field{{Name: "a", Value: "x--b--"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(t, []byte(c.body), c.boundary)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWalkRefusesWhatTwoReadersCouldReadInTwoWays(t *testing.T) {
	const named = `Content-Disposition: form-data; name="a"`
	part := func(header ...string) string {
		return lines(append(append([]string{"--b"}, header...), "", "1", "--b--", "")...)
	}
	for _, c := range []struct{ name, body, want string }{
		{"nothing", "", "the form is empty"},
		{"another boundary", lines("--c", named, "", "1", "--c--"), "does not begin with the boundary"},
		{"text in front", "hello\r\n" + part(named), "does not begin with the boundary"},
		{"no part", "--b--\r\n", "the form has no parts"},
		{"only the delimiter", "--b", "the form ends too early"},
		{"a longer boundary", lines("--bc", named, "", "1", "--bc--"), "goes on with something else"},
		{"half a header", lines("--b", named), "the form ends inside a part's header"},
		{"a huge header", lines("--b", named+strings.Repeat("; x=y", form.MaxHeader), "", "1", "--b--"), "larger than 8192 bytes"},
		{"no end", lines("--b", named, "", "1", "--c--"), "without its closing boundary"},
		{"half the end", lines("--b", named, "", "1", "--b"), "the form ends too early"},
		{"text behind", part(named) + "more", "text follows the closing boundary"},
		{"a form behind", part(named) + part(named), "text follows the closing boundary"},
		{"LF alone", strings.ReplaceAll(part(named), "\r\n", "\n"), "not CR LF"},
		{"LF in front of a boundary", "--b\r\n" + named + "\r\n\r\n1\n--b\r\n" + named + "\r\n\r\n2\r\n--b--", "not CR LF"},
		{"CR in front of a boundary", "--b\r\n" + named + "\r\n\r\n1\r--b\r\n" + named + "\r\n\r\n2\r\n--b--", "not CR LF"},
		{"a boundary that goes on", lines("--b", named, "", "1", "--bx", named, "", "2", "--b--"), "goes on with something else"},
		{"no value", "--b\r\n" + named + "\r\n\r\n--b--", "a header and no value"},
		{"LF in a header", part("X: 1\n" + named), "not CR LF"},
		{"NUL in a header", part(named + "\x00"), "control character"},
		{"a boundary in a header", lines("--b", "--b: 1", named, "", "1", "--b--"), "holds the boundary"},
		{"a folded header", part(named+";", ` filename="x"`), "not NAME: VALUE"},
		{"a header without colon", part("hello"), "not NAME: VALUE"},
		{"a space before the colon", part(`Content-Disposition : form-data; name="a"`), "not NAME: VALUE"},
		{"no header", lines("--b", "", "1", "--b--"), "no Content-Disposition"},
		{"no disposition", part("Content-Type: text/plain"), "no Content-Disposition"},
		{"two dispositions", part(named, `Content-Disposition: form-data; name="model"`), "two Content-Disposition"},
		{"a file of mail", part(`Content-Disposition: attachment; name="a"`), "not form-data"},
		{"no name", part("Content-Disposition: form-data"), "no name"},
		{"an empty name", part(`Content-Disposition: form-data; name=""`), "empty"},
		{"two names", part(`Content-Disposition: form-data; name="a"; NAME=model`), "two names"},
		{"a backslash in the name", part(`Content-Disposition: form-data; name="mod\el"`), "backslash"},
		{"a name in pieces", part(`Content-Disposition: form-data; name*0="mo"; name*1="del"`), "extended notation"},
		{"an encoded name", part(`Content-Disposition: form-data; name="a"; name*=utf-8''model`), "extended notation"},
		{"an open quote", part(`Content-Disposition: form-data; name="a`), "cannot be read"},
		{"an escaped last quote", part(`Content-Disposition: form-data; name="a"; filename="x\"`), "cannot be read"},
		{"text behind a quote", part(`Content-Disposition: form-data; name="a"model`), "cannot be read"},
		{"a bare parameter", part("Content-Disposition: form-data; model"), "cannot be read"},
		{"a bare value with spaces", part("Content-Disposition: form-data; name=a model"), "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(t, []byte(c.body), "b")
			syntax, ok := errors.AsType[*form.SyntaxError](err)
			if !ok {
				t.Fatalf("read %v, error %v; want a syntax error", got, err)
			}
			if !strings.Contains(syntax.Msg, c.want) {
				t.Errorf("error %q, want one with %q", syntax, c.want)
			}
			if syntax.Offset < 0 || syntax.Offset > len(c.body) {
				t.Errorf("offset %d in %d bytes", syntax.Offset, len(c.body))
			}
		})
	}
}

func TestWalkBoundsTheNumberOfParts(t *testing.T) {
	const part = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n"
	if _, err := read(t, []byte(strings.Repeat(part, form.MaxParts)+"--b--"), "b"); err != nil {
		t.Errorf("%d parts: %v", form.MaxParts, err)
	}
	_, err := read(t, []byte(strings.Repeat(part, form.MaxParts+1)+"--b--"), "b")
	if _, ok := errors.AsType[*form.SyntaxError](err); !ok || !strings.Contains(err.Error(), "more than 1000 parts") {
		t.Errorf("one more: %v", err)
	}
}

func TestWalkReturnsTheErrorOfTheVisitor(t *testing.T) {
	stop := errors.New("enough")
	n := 0
	err := form.Walk([]byte(fromGo), "4a1f", func(form.Part) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("error %v after %d parts", err, n)
	}
}

// TestWalkAgreesWithTheWriter writes random forms with the standard library.
func TestWalkAgreesWithTheWriter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		var want []field
		for range rapid.IntRange(1, 8).Draw(rt, "parts") {
			name := rapid.StringMatching(`[a-z_]{1,12}(\[\])?`).Draw(rt, "name")
			value := rapid.SliceOfN(rapid.SampledFrom([]byte("\r\n-ab\x00\xff")), 0, 40).Draw(rt, "value")
			var part io.Writer
			var err error
			file := rapid.Bool().Draw(rt, "file")
			if file {
				part, err = w.CreateFormFile(name, rapid.StringMatching(`[ -~]{1,20}`).Draw(rt, "file name"))
			} else {
				h := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=%q`, name)}}
				part, err = w.CreatePart(h)
			}
			if err != nil {
				rt.Fatal(err)
			}
			if _, err := part.Write(value); err != nil {
				rt.Fatal(err)
			}
			want = append(want, field{Name: name, Value: string(value), File: file})
		}
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		got, err := read(t, body.Bytes(), w.Boundary())
		if err != nil {
			rt.Fatalf("%q: %v", body.Bytes(), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("parts (-want +got):\n%s", diff)
		}
	})
}

// FuzzWalk holds the reader to what the standard library reads: whatever is
// taken here means the same there.
func FuzzWalk(f *testing.F) {
	f.Add([]byte(fromGo), "4a1f")
	f.Add([]byte(fromNode), "----formdata-undici-0931")
	f.Add([]byte(fromCurl), "------------------------b7")
	f.Add([]byte(fromPython), "d1e2")
	f.Add([]byte(fromJava), "okhttp")
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\n--b\r\n"), "b")
	f.Fuzz(func(t *testing.T, body []byte, boundary string) {
		if got, err := form.Boundary(form.ContentType(boundary)); err != nil || got != boundary {
			return // no boundary that a header can bring
		}
		before := bytes.Clone(body)
		got, err := read(t, body, boundary)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was written to")
		}
		if err != nil {
			if syntax, ok := errors.AsType[*form.SyntaxError](err); !ok || syntax.Offset < 0 || syntax.Offset > len(body) {
				t.Fatalf("error %#v", err)
			}
			return
		}
		r := multipart.NewReader(bytes.NewReader(body), boundary)
		for i, want := range got {
			p, err := r.NextRawPart()
			if err != nil {
				t.Fatalf("the standard library stops at part %d of %q: %v", i, body, err)
			}
			value, err := io.ReadAll(p)
			if err != nil {
				t.Fatal(err)
			}
			if name := p.FormName(); name != "" && name != want.Name || string(value) != want.Value {
				t.Errorf("part %d is %q=%q, the standard library reads %q=%q", i, want.Name, want.Value, name, value)
			}
		}
		if _, err := r.NextRawPart(); !errors.Is(err, io.EOF) {
			t.Errorf("the standard library reads another part: %v", err)
		}
	})
}
