package fake

import "go.yaml.in/yaml/v3"

// The schema: which key of the file fills which field. The words for users are
// those of docs/simulate.md.

func (d *decoder) upstreams(n *yaml.Node, path string, dst map[string]Behaviour) {
	n = d.resolve(n, path)
	if n.Kind != yaml.MappingNode {
		d.add(n, path, "found %s; write a mapping of upstream names to behaviours", kindOf(n))
		return
	}
	d.pairs(n, path, func(key, value *yaml.Node) {
		var b Behaviour
		d.behaviour(value, join(path, key.Value), &b)
		d.at[join(path, key.Value)] = position{key.Line, key.Column}
		dst[key.Value] = b
	})
}

func (d *decoder) behaviour(n *yaml.Node, path string, b *Behaviour) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		d.resolve(n, path) // "name:" alone: an upstream with nothing special
		return
	}
	d.mapping(n, path, fields{
		"models":  func(n *yaml.Node, p string) { d.texts(n, p, &b.Models) },
		"api_key": func(n *yaml.Node, p string) { d.text(n, p, &b.APIKey) },
		"latency": func(n *yaml.Node, p string) { d.latency(n, p, &b.Latency) },
		"answer":  func(n *yaml.Node, p string) { d.answer(n, p, &b.Answer) },
		"script":  func(n *yaml.Node, p string) { d.script(n, p, &b.Script) },
		"repeat":  func(n *yaml.Node, p string) { d.boolean(n, p, &b.Repeat) },
		"always":  func(n *yaml.Node, p string) { d.fault(n, p, &b.Always) },
		"fail":    func(n *yaml.Node, p string) { d.fail(n, p, &b.Fail) },
		"faults_on": func(n *yaml.Node, p string) {
			var names []string
			d.texts(n, p, &names)
			for _, name := range names {
				b.FaultsOn = append(b.FaultsOn, Endpoint(name))
			}
		},
		"quota": func(n *yaml.Node, p string) { d.quota(n, p, &b.Quota) },
	})
}

func (d *decoder) latency(n *yaml.Node, path string, l *Latency) {
	d.mapping(n, path, fields{
		"headers":     func(n *yaml.Node, p string) { d.duration(n, p, &l.Headers) },
		"first_token": func(n *yaml.Node, p string) { d.duration(n, p, &l.FirstToken) },
		"per_token":   func(n *yaml.Node, p string) { d.duration(n, p, &l.PerToken) },
		"jitter":      func(n *yaml.Node, p string) { d.rate(n, p, &l.Jitter) },
	})
}

func (d *decoder) answer(n *yaml.Node, path string, a *Answer) {
	d.mapping(n, path, fields{
		"text":       func(n *yaml.Node, p string) { d.text(n, p, &a.Text) },
		"tokens":     func(n *yaml.Node, p string) { d.integer(n, p, &a.Tokens) },
		"echo":       func(n *yaml.Node, p string) { d.boolean(n, p, &a.Echo) },
		"reasoning":  func(n *yaml.Node, p string) { d.text(n, p, &a.Reasoning) },
		"tool_calls": func(n *yaml.Node, p string) { d.text(n, p, (*string)(&a.ToolCalls)) },
		"dimensions": func(n *yaml.Node, p string) { d.integer(n, p, &a.Dimensions) },
		"usage": func(n *yaml.Node, p string) {
			d.mapping(n, p, fields{
				"prompt":      func(n *yaml.Node, p string) { d.integer(n, p, &a.Usage.Prompt) },
				"completion":  func(n *yaml.Node, p string) { d.integer(n, p, &a.Usage.Completion) },
				"cached":      func(n *yaml.Node, p string) { d.integer(n, p, &a.Usage.Cached) },
				"cache_write": func(n *yaml.Node, p string) { d.integer(n, p, &a.Usage.CacheWrite) },
				"reasoning":   func(n *yaml.Node, p string) { d.integer(n, p, &a.Usage.Reasoning) },
			})
		},
	})
}

func (d *decoder) script(n *yaml.Node, path string, steps *[]Step) {
	d.sequence(n, path, "[{times: 3, fault: http-429}]", func(n *yaml.Node, path string) {
		s := Step{Times: 1}
		if n.Kind == yaml.ScalarNode { // "- http-500" is "- {fault: http-500}"
			d.text(n, path, &s.Fault.Name)
		} else {
			known := d.faultFields(&s.Fault)
			known["times"] = func(n *yaml.Node, p string) {
				d.integer(n, p, &s.Times)
				if s.Times == 0 && d.clean(p) {
					d.add(n, p, "0 times is never; write 1 or more, or leave the step out")
				}
			}
			d.mapping(n, path, known)
		}
		*steps = append(*steps, s)
	})
}

// fault reads a fault by its name alone, or as a mapping with parameters.
func (d *decoder) fault(n *yaml.Node, path string, f *Fault) {
	if n.Kind == yaml.ScalarNode {
		d.text(n, path, &f.Name)
		return
	}
	d.mapping(n, path, d.faultFields(f))
}

func (d *decoder) fail(n *yaml.Node, path string, f *Fail) {
	d.mapping(n, path, fields{
		"rate": func(n *yaml.Node, p string) { d.rate(n, p, &f.Rate) },
		"with": func(n *yaml.Node, p string) {
			d.sequence(n, p, "[http-500, {fault: http-429, retry_after: \"5\"}]", func(n *yaml.Node, p string) {
				var one Fault
				d.fault(n, p, &one)
				f.With = append(f.With, one)
			})
		},
	})
}

// faultFields are the keys of a fault that is written as a mapping.
func (d *decoder) faultFields(f *Fault) fields {
	return fields{
		"fault":       func(n *yaml.Node, p string) { d.text(n, p, &f.Name) },
		"after":       func(n *yaml.Node, p string) { d.optionalInteger(n, p, &f.After) },
		"size":        func(n *yaml.Node, p string) { d.size(n, p, &f.Size) },
		"count":       func(n *yaml.Node, p string) { d.integer(n, p, &f.Count) },
		"delay":       func(n *yaml.Node, p string) { d.duration(n, p, &f.Delay) },
		"status":      func(n *yaml.Node, p string) { d.integer(n, p, &f.Status) },
		"code":        func(n *yaml.Node, p string) { d.text(n, p, &f.Code) },
		"type":        func(n *yaml.Node, p string) { d.text(n, p, &f.Type) },
		"message":     func(n *yaml.Node, p string) { d.text(n, p, &f.Message) },
		"retry_after": func(n *yaml.Node, p string) { d.texts(n, p, &f.RetryAfter) },
		"headers":     func(n *yaml.Node, p string) { d.headers(n, p, &f.Headers) },
		"body":        func(n *yaml.Node, p string) { d.optionalText(n, p, &f.Body) },
		"location":    func(n *yaml.Node, p string) { d.text(n, p, &f.Location) },
	}
}

func (d *decoder) quota(n *yaml.Node, path string, q *Quota) {
	d.mapping(n, path, fields{
		"requests":    func(n *yaml.Node, p string) { d.integer(n, p, &q.Requests) },
		"tokens":      func(n *yaml.Node, p string) { d.integer(n, p, &q.Tokens) },
		"per":         func(n *yaml.Node, p string) { d.duration(n, p, &q.Per) },
		"concurrent":  func(n *yaml.Node, p string) { d.integer(n, p, &q.Concurrent) },
		"retry_after": func(n *yaml.Node, p string) { d.boolean(n, p, &q.RetryAfter) },
		"headers":     func(n *yaml.Node, p string) { d.boolean(n, p, &q.Headers) },
	})
}
