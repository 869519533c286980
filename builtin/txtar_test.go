package builtin_test

import (
	"bytes"
	"strings"
)

// archive is a txtar file: a comment, then named sections in order.
type archive struct {
	comment string
	names   []string
	files   map[string][]byte
}

// parseArchive reads the form "-- name --", a line of its own, before each
// section.
func parseArchive(data []byte) *archive {
	a := &archive{files: map[string][]byte{}}
	name := ""
	for line := range bytes.Lines(data) {
		text := strings.TrimRight(string(line), "\r\n")
		if strings.HasPrefix(text, "-- ") && strings.HasSuffix(text, " --") && len(text) > len("--  --") {
			name = strings.TrimSpace(text[len("-- ") : len(text)-len(" --")])
			a.names = append(a.names, name)
			continue
		}
		if name == "" {
			a.comment += string(line)
			continue
		}
		a.files[name] = append(a.files[name], line...)
	}
	return a
}

func (a *archive) format() []byte {
	var out bytes.Buffer
	out.WriteString(a.comment)
	for _, name := range a.names {
		out.WriteString("-- " + name + " --\n")
		out.Write(a.files[name])
	}
	return out.Bytes()
}

// set replaces a section, or adds it behind the others.
func (a *archive) set(name string, data []byte) {
	if _, ok := a.files[name]; !ok {
		a.names = append(a.names, name)
	}
	a.files[name] = data
}

// cases lists the folders that the sections stand in, in order.
func (a *archive) cases() []string {
	var list []string
	for _, name := range a.names {
		dir, _, ok := strings.Cut(name, "/")
		if ok && (len(list) == 0 || list[len(list)-1] != dir) {
			list = append(list, dir)
		}
	}
	return list
}

// find returns a case's own section, else the one that all cases share.
func (a *archive) find(dir, name string) ([]byte, bool) {
	if data, ok := a.files[dir+"/"+name]; ok {
		return data, true
	}
	data, ok := a.files[name]
	return data, ok
}
