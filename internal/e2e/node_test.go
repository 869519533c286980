//go:build node

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestNodeOpenAI(t *testing.T) {
	gw := sdkGateway(t)
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("node", "openai.mjs"), gw.url("/v1"), sdkKey)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, gw.log())
	}
	var got struct {
		Models []string
		Chat   struct {
			Model, Text string
			Tokens      int
		}
		Stream struct {
			Text   string
			Models []string
			Tokens int
		}
		Tools      struct{ Name, Finish, Text string }
		ToolStream string
		Embeddings struct {
			Count   int
			Numbers string
		}
		Unknown, WrongKey struct {
			Status int
			Code   string
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(got.Models) != 2 || got.Chat.Model != "chat" || !strings.Contains(got.Chat.Text, "good") || got.Chat.Tokens == 0 {
		t.Errorf("models and chat: %s", text)
	}
	if !strings.Contains(got.Stream.Text, "good") || !reflect.DeepEqual(got.Stream.Models, []string{"org/chat:8b"}) || got.Stream.Tokens == 0 {
		t.Errorf("stream: %+v", got.Stream)
	}
	if got.Tools.Name != "get_weather" || got.Tools.Finish != "tool_calls" || got.Tools.Text == "" || got.ToolStream != "get_weather" {
		t.Errorf("tools: %+v, streamed %q", got.Tools, got.ToolStream)
	}
	if got.Embeddings.Count != 2 || got.Embeddings.Numbers != "number" {
		t.Errorf("embeddings: %+v", got.Embeddings)
	}
	if got.Unknown.Status != 404 || got.Unknown.Code != "model_not_found" || got.WrongKey.Status != 401 || got.WrongKey.Code != "invalid_api_key" {
		t.Errorf("errors: %+v %+v", got.Unknown, got.WrongKey)
	}
}
