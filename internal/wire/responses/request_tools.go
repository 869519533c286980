package responses

// tools takes the tools: whether there are any, who runs them, their names, and
// the text in them.
func (s *requestScan) tools() error {
	before := s.StringBytes()
	if err := s.Array("tools"); err != nil {
		return err
	}
	for s.Element() {
		s.r.Tools = true
		s.tool()
	}
	s.r.TextBytes += s.StringBytes() - before
	return nil
}

func (s *requestScan) tool() {
	if !s.EnterObject() {
		return // the upstream's to judge
	}
	hosted := false
	for s.Member() {
		switch string(s.Key()) {
		case "type":
			raw, _, _ := s.Text()
			hosted = !ranByClient(raw)
		case "name":
			if raw, _, ok := s.Text(); ok {
				s.r.opening.Tools.Add(raw)
			}
		}
	}
	s.hosted = s.hosted || hosted
	s.client = s.client || !hosted
}

// ranByClient reports whether tools of a type are functions, or take free text,
// and are run by the client. All others are the upstream's own.
func ranByClient(kind []byte) bool {
	switch string(kind) {
	case "function", "custom", "":
		return true
	}
	return false
}

// toolChoice takes tool_choice: a mode, or an object that names a tool or lists
// those that are allowed.
func (s *requestScan) toolChoice() {
	if !s.EnterObject() {
		return
	}
	for s.Member() {
		if string(s.Key()) != "type" {
			continue
		}
		raw, _, _ := s.Text()
		s.forced = !ranByClient(raw) && string(raw) != "allowed_tools"
	}
}
