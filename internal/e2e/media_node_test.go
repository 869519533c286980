//go:build node

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNodeMediaOpenAI(t *testing.T) {
	gw, sim := mediaGateway(t)
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("node", "media.mjs"), gw.url("/v1"), sdkKey, sim.url("/good/v1"))
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, gw.log())
	}
	type part struct {
		Text, Type, Hash, PNG, Model string
		Same                         bool
		Count                        int
		Flags                        []bool
		Sent                         []byte
	}
	var got struct{ Transcription, TranscriptStream, Speech, Reference, Image, Edit, Moderation part }
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if !strings.HasPrefix(got.Transcription.Text, "what was said") || !got.TranscriptStream.Same || got.TranscriptStream.Text != got.Transcription.Text {
		t.Errorf("transcripts: %q, %q", got.Transcription.Text, got.TranscriptStream.Text)
	}
	if got.Speech.Type != got.Reference.Type || got.Speech.Hash != got.Reference.Hash {
		t.Errorf("speech: %s %s, without the gateway %s %s", got.Speech.Type, got.Speech.Hash, got.Reference.Type, got.Reference.Hash)
	}
	if got.Image.PNG != "PNG" || got.Edit.Count != 1 {
		t.Errorf("images: %q, %d", got.Image.PNG, got.Edit.Count)
	}
	if got.Moderation.Model != "the-model" || !slices.Equal(got.Moderation.Flags, []bool{true, false}) {
		t.Errorf("moderation: %q %v", got.Moderation.Model, got.Moderation.Flags)
	}
	for path, sent := range map[string][][]byte{
		"audio/transcriptions": {got.Transcription.Sent, got.TranscriptStream.Sent}, "audio/speech": {got.Speech.Sent},
		"images/generations": {got.Image.Sent}, "images/edits": {got.Edit.Sent}, "moderations": {got.Moderation.Sent},
	} {
		sim.sawAll(t, path, sent...)
	}
}
