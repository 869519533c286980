package translate_test

import (
	"errors"
	"slices"
	"testing"

	"gatewright/internal/wire/responses"
	"gatewright/internal/wire/translate"
)

// TestNativeAgrees checks that the scan of a request says that it is for an
// upstream of its own protocol where the translation refuses it for that, and
// only there.
func TestNativeAgrees(t *testing.T) {
	in, up := codecOf(t, translate.Responses), codecOf(t, translate.Chat)
	// These are refused for what the target cannot read, which is another matter.
	byTarget := []string{"content: input_file, address", "include: message.output_text.logprobs", "top_logprobs"}
	native := 0
	for i := range responsesFields {
		f := &responsesFields[i]
		if slices.Contains(byTarget, f.name) {
			continue
		}
		body := f.with(t, translate.Responses)
		scanned, err := responses.ScanRequest(responses.Create, body, 128)
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		r, _, err := in.DecodeRequest(body)
		if err == nil {
			_, _, err = up.EncodeRequest(r, anyUpstream)
		}
		if err != nil {
			native++
			if _, ok := errors.AsType[*translate.UnsupportedError](err); !ok {
				t.Errorf("%s: %v", f.name, err)
			}
		}
		if (scanned.Native != "") != (err != nil) {
			t.Errorf("%s: the scan says %q, the translation %v", f.name, scanned.Native, err)
		}
	}
	if native < 9 {
		t.Errorf("only %d requests are refused", native)
	}
}
