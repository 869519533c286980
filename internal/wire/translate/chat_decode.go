package translate

import (
	"gatewright/internal/wire/openai"
	"gatewright/internal/wire/scan"
)

// chatReader reads a request of a client of chat completions.
type chatReader struct {
	*reader
	r        *Request
	names    map[string]string // of the tools that were called, by the ids of the calls
	messages bool

	maxTokens  int64 // max_tokens, behind max_completion_tokens
	safetyUser string
	sound      bool // modalities name audio
}

func decodeChatRequest(body []byte) (*Request, []Loss, error) {
	c := chatReader{reader: newReader(body), r: &Request{}, names: map[string]string{}}
	c.object(c.field)
	if err := c.finish(); err != nil {
		return nil, nil, err
	}
	r := c.r
	switch {
	case r.Model == "":
		return nil, nil, invalid("model", "is missing; name the model to use")
	case !c.messages:
		return nil, nil, invalid("messages", "is missing; it is what the model answers to")
	case c.sound:
		return nil, nil, unsupported("modalities", "no sound can be had from an upstream of another protocol")
	}
	if r.MaxOutput == 0 {
		r.MaxOutput = c.maxTokens
	}
	if c.safetyUser != "" {
		r.User = c.safetyUser
	}
	return r, c.losses, nil
}

func (c *chatReader) field() {
	r := c.r
	switch string(c.Key()) {
	case "model":
		r.Model = c.text()
	case "messages":
		c.messages = true
		c.array(func(int) { c.message() })
	case "stream":
		r.Stream = c.flag()
	case "stream_options":
		c.streamOptions()
	case "max_completion_tokens":
		r.MaxOutput = c.integer(1, openai.MaxOutput)
	case "max_tokens":
		c.maxTokens = c.integer(1, openai.MaxOutput)
	case "stop":
		c.stop()
	case "n":
		if c.integer(1, openai.MaxChoices) > 1 {
			c.unsupported("an upstream of another protocol gives one answer; send 1, or several requests")
		}
	case "tools":
		c.array(func(int) { r.Tools = append(r.Tools, c.tool()) })
	case "tool_choice":
		c.toolChoice()
	case "parallel_tool_calls":
		r.Serial = !c.flag()
	case "response_format":
		c.format()
	case "reasoning_effort":
		r.Thinking.Effort = Effort(c.text())
	case "verbosity":
		r.Verbosity = c.text()
	default:
		c.sampling()
	}
}

// sampling reads how tokens are drawn.
func (c *chatReader) sampling() {
	s := &c.r.Sampling
	switch string(c.Key()) {
	case "temperature":
		s.Temperature = c.float()
	case "top_p":
		s.TopP = c.float()
	case "top_k":
		s.TopK = c.float()
	case "presence_penalty":
		s.PresencePenalty = c.float()
	case "frequency_penalty":
		s.FrequencyPenalty = c.float()
	case "seed":
		if c.Kind() != scan.KindNumber {
			c.wrong("an integer")
			return
		}
		if n, whole := wholeNumber(c.Raw()); whole {
			s.Seed = &n
		} else {
			c.invalid("must be an integer")
		}
	case "logit_bias":
		if string(c.raw()) != "{}" {
			c.lose("tokens of one maker's models mean nothing to another's")
		}
	case "logprobs":
		if c.flag() {
			c.unsupported("an upstream of another protocol tells no probabilities")
		}
	case "top_logprobs":
		c.Skip() // means nothing without logprobs
	default:
		c.identity()
	}
}

// identity reads the fields that say who asks and how to serve it.
func (c *chatReader) identity() {
	r := c.r
	switch string(c.Key()) {
	case "user":
		r.User = c.text()
	case "safety_identifier":
		c.safetyUser = c.text()
	case "prompt_cache_key":
		r.CacheKey = c.text()
	case "metadata":
		c.metadata()
	case "service_tier":
		r.Tier = c.text()
	case "store":
		if c.flag() {
			c.lose("an upstream of another protocol keeps no answers")
		}
	case "prompt_cache_retention", "prompt_cache_options":
		c.drop("how long prompts stay cached is each maker's own")
	case "prediction":
		c.drop("makes an answer faster, not another one")
	case "disable_fallbacks", "session_id", "litellm_session_id":
		c.Skip() // the gateway's own
	default:
		c.extension()
	}
}

// extension reads fields that are not OpenAI's own, and those that cannot be
// translated.
func (c *chatReader) extension() {
	switch string(c.Key()) {
	case "reasoning":
		c.reasoning()
	case "thinking":
		c.thinking()
	case "modalities":
		c.array(func(int) { c.sound = c.text() == "audio" || c.sound })
	case "audio":
		c.Skip() // means nothing without modalities
	case "functions", "function_call":
		c.unsupported("not translated; write tools and tool_choice, which have taken its place")
	case "web_search_options":
		c.unsupported("only OpenAI's search models have it; leave it out")
	default:
		c.unknown()
	}
}

func (c *chatReader) streamOptions() {
	c.object(func() {
		switch string(c.Key()) {
		case "include_usage":
			c.r.IncludeUsage = c.flag()
		case "include_obfuscation":
			c.Skip()
		default:
			c.unknown()
		}
	})
}

func (c *chatReader) stop() {
	if c.Kind() == scan.KindString {
		c.r.Stop = []string{c.text()}
		return
	}
	c.array(func(int) { c.r.Stop = append(c.r.Stop, c.text()) })
}

func (c *chatReader) metadata() {
	c.object(func() {
		if c.Kind() != scan.KindString {
			c.drop("only texts can be carried")
			return
		}
		if c.r.Metadata == nil {
			c.r.Metadata = map[string]string{}
		}
		key := string(c.Key())
		c.r.Metadata[key] = c.text()
	})
}

// reasoning reads the object in which OpenRouter's clients ask for reasoning.
func (c *chatReader) reasoning() {
	t := &c.r.Thinking
	c.object(func() {
		switch string(c.Key()) {
		case "effort":
			t.Effort = Effort(c.text())
		case "max_tokens":
			t.Budget = c.integer(0, openai.MaxOutput)
		case "enabled":
			if !c.flag() {
				t.Effort = EffortNone
			} else if t.Effort == EffortDefault {
				t.Effort = EffortMedium
			}
		case "exclude":
			if c.flag() {
				t.Summary = "none"
			}
		default:
			c.unknown()
		}
	})
}

// thinking reads the object in which Anthropic's way of asking for reasoning is
// common among chat clients too.
func (c *chatReader) thinking() {
	t := &c.r.Thinking
	c.object(func() {
		switch string(c.Key()) {
		case "type":
			switch c.text() {
			case "disabled":
				t.Effort = EffortNone
			case "adaptive", "enabled":
				t.Adaptive = true
			}
		case "budget_tokens":
			t.Budget = c.integer(0, openai.MaxOutput)
		default:
			c.unknown()
		}
	})
}
