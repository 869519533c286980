package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatewright/internal/wire/fault"
	"gatewright/internal/wire/form"
	"gatewright/internal/wire/openai"
	"gatewright/internal/wire/request"
)

// formOf writes fields as a form; one that begins with "@" is a file.
func formOf(fields ...string) string {
	var b strings.Builder
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		b.WriteString("--b\r\nContent-Disposition: form-data; name=\"" + strings.TrimPrefix(name, "@") + `"`)
		if strings.HasPrefix(name, "@") {
			b.WriteString(`; filename="x"`)
		}
		b.WriteString("\r\n\r\n" + value + "\r\n")
	}
	return b.String() + "--b--\r\n"
}

const formType = "multipart/form-data; boundary=b"

var rawFeatures = cmpopts.IgnoreUnexported(openai.RawRequest{})

func TestScanRaw(t *testing.T) {
	for _, c := range []struct {
		name, form, body string
		want             openai.RawRequest
		rewritten        string // for the model up
	}{
		{"least", "", `{"model":"m"}`, openai.RawRequest{Model: "m"}, `{"model":"up"}`},
		{
			"fields that nobody knows", "", `{ "input" : [1, {"model":"x"}], "model" : "a\/b" ,"stream":true,"é":1e400}`,
			openai.RawRequest{Model: "a/b", Stream: true},
			`{ "input" : [1, {"model":"x"}], "model" : "up" ,"stream":true,"é":1e400}`,
		},
		{
			"no fallbacks", "", `{"disable_fallbacks":true,"model":"m","input":""}`,
			openai.RawRequest{Model: "m", DisableFallbacks: true},
			`{"model":"up","input":""}`,
		},
		{"nulls", "", `{"model":"m","stream":null,"response_format":null,"disable_fallbacks":null}`, openai.RawRequest{Model: "m"}, `{"model":"up","stream":null,"response_format":null}`},
		{"text", "", `{"model":"m","response_format":"srt"}`, openai.RawRequest{Model: "m", Text: true}, `{"model":"up","response_format":"srt"}`},
		{"a format that is no word", "", `{"response_format":{"type":"x"},"model":"m"}`, openai.RawRequest{Model: "m"}, `{"response_format":{"type":"x"},"model":"up"}`},

		{"a form", formType, formOf("@file=\x00\r\n", "model=m"), openai.RawRequest{Model: "m"}, formOf("@file=\x00\r\n", "model=up")},
		{
			"all fields of a form", formType, formOf("disable_fallbacks=true", "model=m", "stream=True", "@file=x", "response_format=text", "language=de"),
			openai.RawRequest{Model: "m", Stream: true, Text: true, DisableFallbacks: true},
			formOf("model=up", "stream=True", "@file=x", "response_format=text", "language=de"),
		},
		{
			"the gateway's field behind the model", formType, formOf("model=m", "disable_fallbacks=0"),
			openai.RawRequest{Model: "m"},
			formOf("model=up"),
		},
		{"empty flags", formType, formOf("stream=", "model=m", "response_format=json"), openai.RawRequest{Model: "m"}, formOf("stream=", "model=up", "response_format=json")},
		{"a field twice that is not read", formType, formOf("image[]=1", "model=m", "image[]=2"), openai.RawRequest{Model: "m"}, formOf("image[]=1", "model=up", "image[]=2")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := openai.ScanRaw(c.form, []byte(c.body), jsonDepth)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&c.want, got, rawFeatures); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if got.FormType() != c.form {
				t.Errorf("content type %q, want %q", got.FormType(), c.form)
			}
			if out := got.Rewrite([]byte("kept "), []byte(c.body), "up"); string(out) != "kept "+c.rewritten {
				t.Errorf("rewritten %q, want %q", out, c.rewritten)
			}
			if out := got.Rewrite(nil, []byte(c.body), ""); !got.DisableFallbacks && !strings.Contains(c.body, "disable_fallbacks") && string(out) != c.body {
				t.Errorf("without a model %q, want the body as it was", out)
			}
		})
	}
}

func TestScanRawRefuses(t *testing.T) {
	for _, c := range []struct{ name, form, body, param, code, says string }{
		{"no JSON", "", `{"model":`, "", request.CodeJSON, "not valid JSON"},
		{"a list", "", `[]`, "", request.CodeJSON, "must be a JSON object"},
		{"nothing", "", ``, "", request.CodeJSON, ""},
		{"text behind", "", `{"model":"m"}x`, "", request.CodeJSON, "after the end"},
		{"too deep", "", `{"model":"m","x":` + strings.Repeat("[", jsonDepth) + strings.Repeat("]", jsonDepth) + `}`, "", request.CodeJSON, "nested deeper"},
		{"no model", "", `{"input":"x"}`, "model", request.CodeMissing, "name the model"},
		{"null model", "", `{"model":null}`, "model", request.CodeMissing, ""},
		{"empty model", "", `{"model":""}`, "model", request.CodeMissing, ""},
		{"a number", "", `{"model":1}`, "model", request.CodeType, "a string"},
		{"two models", "", `{"model":"a","model":"b"}`, "model", request.CodeDuplicate, "twice"},
		{"another case", "", `{"model":"a","Model":"b"}`, "Model", request.CodeDuplicate, "not a field"},
		{"stream", "", `{"model":"a","stream":"yes"}`, "stream", request.CodeType, "true or false"},
		{"no fallbacks", "", `{"model":"a","disable_fallbacks":1}`, "disable_fallbacks", request.CodeType, ""},
		{"half a surrogate pair", "", `{"model":"\ud800"}`, "model", request.CodeValue, "surrogate"},

		{"no boundary", "multipart/form-data", formOf("model=m"), "", request.CodeForm, "has no boundary"},
		{"no form", formType, `{"model":"m"}`, "", request.CodeForm, "cannot be read"},
		{"half a form", formType, formOf("model=m")[:40], "", request.CodeForm, "cannot be read"},
		{"a form without model", formType, formOf("@file=x"), "model", request.CodeMissing, "name the model"},
		{"an empty model", formType, formOf("model="), "model", request.CodeMissing, ""},
		{"a file as model", formType, formOf("@model=m"), "model", request.CodeType, "not a file"},
		{"an encoded model", formType, strings.Replace(formOf("model=bQ=="), "\r\n\r\n", "\r\nContent-Transfer-Encoding: base64\r\n\r\n", 1), "model", request.CodeType, "not encoded"},
		{"a long model", formType, formOf("model=" + strings.Repeat("m", 5000)), "model", request.CodeValue, "4096 bytes"},
		{"no UTF-8", formType, formOf("model=\xff"), "model", request.CodeValue, "UTF-8"},
		{"two models in a form", formType, formOf("model=a", "model=b"), "model", request.CodeDuplicate, "twice"},
		{"another case in a form", formType, formOf("model=a", "MODEL=b"), "MODEL", request.CodeDuplicate, "not a field"},
		{"stream in a form", formType, formOf("model=a", "stream=maybe"), "stream", request.CodeValue, "true or false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := openai.ScanRaw(c.form, []byte(c.body), jsonDepth)
			e, ok := errors.AsType[*request.Error](err)
			if !ok {
				t.Fatalf("got %+v, %v; want a request error", got, err)
			}
			if e.Param != c.param || e.Code != c.code || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %q %q %q; want %q %q with %q", e.Param, e.Code, e.Message, c.param, c.code, c.says)
			}
		})
	}
	_, err := openai.ScanRaw(formType, []byte("--b"), jsonDepth)
	if _, ok := errors.AsType[*form.SyntaxError](err); !ok {
		t.Errorf("the error of a broken form does not lead to the place: %v", err)
	}
}

func TestCheckRaw(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       string // under the public name
		usage      openai.Usage
	}{
		{"image", `{"created":1,"data":[{"b64_json":"AAAA"}],"usage":{"total_tokens":9,"input_tokens":4,"output_tokens":5,"input_tokens_details":{"text_tokens":4}}}`, "", openai.Usage{Known: true, InputTokens: 4, OutputTokens: 5}},
		{"transcript", `{"text":"hello","usage":{"type":"duration","seconds":3}}`, "", openai.Usage{}},
		{"moderation", `{"id":"modr-1","model":"up","results":[{"model":"x"}]}`, `{"id":"modr-1","model":"public","results":[{"model":"x"}]}`, openai.Usage{}},
		{"null model", `{"model":null}`, "", openai.Usage{}},
		{"null error", `{"error":null,"x":1}`, "", openai.Usage{}},
		{"empty", `{}`, "", openai.Usage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := openai.CheckRaw([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.usage, a.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			want := c.want
			if want == "" {
				want = c.body
			}
			if got := a.AppendWithModel([]byte("kept "), []byte(c.body), "public"); string(got) != "kept "+want {
				t.Errorf("answer %s, want %s", got, want)
			}
		})
	}
	for _, body := range []string{"", " ", "[]", "null", `"x"`, "{", `{"a":NaN}`, `{}{}`, "<html>", "\x89PNG"} {
		if _, err := openai.CheckRaw([]byte(body)); !errors.Is(err, fault.ErrUndecodable) {
			t.Errorf("%q: error %v, want one that is fault.ErrUndecodable", body, err)
		}
	}
	for body, kind := range map[string]fault.Kind{
		`{"error":{"message":"slow down","code":429}}`:                           fault.RateLimit,
		`{"data":[],"error":{"message":"no money","code":"insufficient_quota"}}`: fault.Quota,
		`{"error":"boom"}`: fault.Server,
		`{"object":"error","message":"The model does not exist","code":404}`:                                              fault.NotFound,
		`{"type":"error","error":{"type":"image_generation_user_error","code":"moderation_blocked","message":"blocked"}}`: fault.ContentPolicy,
	} {
		_, err := openai.CheckRaw([]byte(body))
		if f, ok := errors.AsType[*fault.InsideError](err); !ok || f.Fault.Kind != kind {
			t.Errorf("%s: error %v, want a fault of kind %s", body, err, kind)
		}
	}
}

func TestRawStream(t *testing.T) {
	type seen struct {
		out                                     string
		done, drop, malformed, fault, open, fin bool
	}
	for _, c := range []struct {
		name   string
		events []string
		want   []seen
		usage  openai.Usage
	}{
		{
			"transcript",
			[]string{`{"type":"transcript.text.delta","delta":"a"}`, "", `{"type":"transcript.text.done","text":"a","usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4}}`, " [DONE]\n"},
			[]seen{
				{out: `{"type":"transcript.text.delta","delta":"a"}`, open: true},
				{drop: true, open: true},
				{out: `{"type":"transcript.text.done","text":"a","usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4}}`, fin: true},
				{done: true, fin: true},
			},
			openai.Usage{Known: true, InputTokens: 3, OutputTokens: 1},
		},
		{
			"image",
			[]string{`{"type":"image_generation.partial_image","b64_json":"AA"}`, `{"type":"image_generation.completed","b64_json":"AAAA","model":"up"}`},
			[]seen{{out: `{"type":"image_generation.partial_image","b64_json":"AA"}`, open: true}, {out: `{"type":"image_generation.completed","b64_json":"AAAA","model":"public"}`}},
			openai.Usage{},
		},
		{
			"a kind that nobody knows",
			[]string{`{"x":1}`, `nonsense`, `[1]`, `{"error":{"message":"boom"}}`},
			[]seen{{out: `{"x":1}`}, {malformed: true}, {malformed: true}, {fault: true}},
			openai.Usage{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openai.NewRawStream("public")
			var got []seen
			for _, data := range c.events {
				out, info, err := s.Event([]byte("kept"), []byte(data))
				if (err != nil) != info.Malformed {
					t.Errorf("%s: malformed %v, error %v", data, info.Malformed, err)
				}
				got = append(got, seen{strings.TrimPrefix(string(out), "kept"), info.Done, info.Drop, info.Malformed, info.Fault != nil, s.Open(), s.Finished()})
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(seen{})); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.usage, s.Usage()); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzScanRaw checks that a body that is taken says upstream what it says here,
// under the other model.
func FuzzScanRaw(f *testing.F) {
	f.Add("", []byte(`{"disable_fallbacks":true,"model":"m","stream":false,"response_format":"text","input":[1]}`))
	f.Add("", []byte(`{"model":"a\u00e9","stream":null}`))
	f.Add(formType, []byte(formOf("disable_fallbacks=1", "@file=\x00\xff", "model=m", "stream=true")))
	f.Add(formType, []byte(formOf("model=m", "disable_fallbacks=")))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		before := bytes.Clone(body)
		r, err := openai.ScanRaw(contentType, body, jsonDepth)
		if err != nil {
			if e, ok := errors.AsType[*request.Error](err); !ok || e.Message == "" || e.Code == "" {
				t.Fatalf("error %#v", err)
			}
			return
		}
		out := r.Rewrite(nil, body, "up/m")
		if !bytes.Equal(before, body) {
			t.Fatal("the body was written to")
		}
		again, err := openai.ScanRaw(r.FormType(), out, jsonDepth)
		if err != nil {
			t.Fatalf("%q became %q: %v", body, out, err)
		}
		if again.Model != "up/m" || again.Stream != r.Stream || again.Text != r.Text || again.DisableFallbacks {
			t.Errorf("%+v became %+v", r, again)
		}
		if contentType == "" {
			if !json.Valid(out) {
				t.Errorf("%q is not valid", out)
			}
			return
		}
		boundary, err := form.Boundary(r.FormType())
		if err != nil {
			t.Fatal(err)
		}
		var models []string
		parts := multipart.NewReader(bytes.NewReader(out), boundary)
		for {
			p, err := parts.NextRawPart()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("the standard library cannot read %q: %v", out, err)
			}
			value, err := io.ReadAll(p)
			if err != nil {
				t.Fatal(err)
			}
			if p.FormName() == "model" {
				models = append(models, string(value))
			}
		}
		if diff := cmp.Diff([]string{"up/m"}, models); diff != "" {
			t.Errorf("the standard library reads other models in %q (-want +got):\n%s", out, diff)
		}
	})
}
