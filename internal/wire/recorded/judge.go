package recorded

import (
	"encoding/json"
	"fmt"
)

// endings are the words of clients for the ways to end.
var endings = map[Protocol]map[Finish]string{
	Chat:      {Stopped: "stop", AtLength: "length", WithCalls: "tool_calls", Filtered: "content_filter"},
	Messages:  {Stopped: "end_turn", AtLength: "max_tokens", WithCalls: "tool_use", Filtered: "refusal"},
	Responses: {Stopped: "completed", AtLength: "incomplete, max_output_tokens", WithCalls: "completed", Filtered: "incomplete, content_filter"},
}

// Faults lists what is wrong with the reading of a client that asked so and was to
// be given the answer; none if it read what it ought to. The faults of got are its
// own and not repeated.
func (a *Answer) Faults(q Ask, got *Reading) (out []string) {
	fault := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	native := q.Client == a.Upstream
	if !got.Over || got.Failed {
		fault("over %v, failed %v", got.Over, got.Failed)
	}
	text := a.Text
	switch {
	case a.Pieces != "" && (q.Stream || !native):
		text = Text{Whole: a.Pieces}
	case a.Refusal != "" && (!q.Stream || !native):
		text = Text{Whole: a.Refusal}
	}
	if !text.Is(got.Text) {
		fault("text %q, want %q", got.Text, text.String())
	}
	// Services have fields of their own for reasoning, which pass as they are to
	// their own clients.
	if !a.Reasoning.Is(got.Reasoning) && (!native || got.Reasoning != a.plain().Reasoning) {
		fault("reasoning %q, want %q", got.Reasoning, a.Reasoning.String())
	}
	out = append(out, a.callFaults(q, got.Calls)...)
	want := endings[q.Client][a.Finish]
	if a.Reason == "stop_sequence" && q.Client == Messages {
		want = a.Reason
	}
	if got.Reason != want {
		fault("ends with %q, want %q", got.Reason, want)
	}
	if fault := a.usageFault(q, got); fault != "" {
		out = append(out, fault)
	}
	return out
}

// plain is how a client of the upstream's protocol reads the answer itself.
func (a *Answer) plain() *Reading {
	return Read(Ask{Client: a.Upstream, Stream: a.Stream()}, string(a.Body), true)
}

// usageFault says what is wrong with the usage that the client read: a translation
// counts in the client's words, and what an upstream of the client's protocol says
// passes as it is.
func (a *Answer) usageFault(q Ask, got *Reading) string {
	read, want := Usage{got.Input, got.Output}, Usage{}
	switch unasked := q.Client == Chat && q.Stream && !q.Usage; {
	case q.Client != a.Upstream && unasked:
	case unasked:
		return "" // some services say it all the same
	case a.Usage != nil && (q.Client != a.Upstream || read == *a.Usage):
		want = *a.Usage
	case q.Client == a.Upstream:
		raw := a.plain()
		want = Usage{raw.Input, raw.Output}
	}
	if read != want {
		return fmt.Sprintf("the client sees %+v tokens, want %+v", read, want)
	}
	return ""
}

func (a *Answer) callFaults(q Ask, got []Call) (out []string) {
	if len(got) != len(a.Calls) {
		return []string{fmt.Sprintf("calls %+v, want %+v", got, a.Calls)}
	}
	for i, c := range got {
		want := a.Calls[i]
		arguments := want.Arguments
		if q.Client == Messages && !q.Stream {
			arguments = object(arguments)
		}
		named := c.ID != "" && (want.ID == "" || q.Client != a.Upstream || c.ID == want.ID) // a translation may make one of its own
		if !named || c.Name != want.Name || canonical(c.Arguments) != arguments {
			out = append(out, fmt.Sprintf("call %+v, want %+v with %s", c, want, arguments))
		}
	}
	return out
}

// object is what stands for arguments where only a JSON object can: other text,
// free or cut, is wrapped in one.
func object(arguments string) string {
	var v map[string]any
	if json.Unmarshal([]byte(arguments), &v) == nil {
		return arguments
	}
	out, err := json.Marshal(map[string]string{"invalid_json": arguments})
	if err != nil {
		return arguments
	}
	return string(out)
}
