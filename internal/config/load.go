package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Options say what a configuration is read against.
type Options struct {
	// Env looks environment variables up; nil = those of the process.
	Env func(name string) (string, bool)
	// Protocols are the upstream protocols that the gateway speaks; nil = all.
	Protocols []string
}

func (o Options) withDefaults() Options {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Protocols == nil {
		o.Protocols = protocols
	}
	return o
}

// Load reads the file at path, YAML or JSON, and returns it with defaults
// filled in and every reference checked. The problems are all that were found;
// the file is nil exactly when one of them is an error.
func Load(path string, o Options) (*File, Problems) {
	data, err := readBounded(path)
	if err != nil {
		return nil, Problems{{File: path, Message: err.Error(), Fix: readFix(err)}}
	}
	return Parse(path, data, o)
}

// Parse is Load for text that is at hand; name stands for it in problems. It
// keeps nothing of data.
func Parse(name string, data []byte, o Options) (*File, Problems) {
	o = o.withDefaults()
	d := newDecoder(name, o.Env)
	f := newFile()
	f.Name = name
	if root := d.document(data); root != nil {
		d.value(root, reflect.ValueOf(f).Elem(), field{}, "")
		if !d.stopped {
			newChecker(d, f, o).run()
		}
	}
	problems := d.finish()
	if problems.Err() != nil {
		return nil, problems
	}
	return f, problems
}

// readBounded reads a file of at most maxBytes.
func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, reason(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, reason(err)
	}
	return data, nil
}

// reason takes the path off an error of the file system: the problem names it.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot be read: %w", pe.Err)
	}
	return fmt.Errorf("cannot be read: %w", err)
}

func readFix(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "name another with --config"
	}
	return ""
}

// document parses the text into its only document and returns the root.
func (d *decoder) document(data []byte) *yaml.Node {
	if len(data) > maxBytes {
		d.fail("", "", "the file is larger than %d MiB", maxBytes>>20)
		return nil
	}
	reader := yaml.NewDecoder(bytes.NewReader(yamlEscapes(data)))
	var doc, next yaml.Node
	switch err := reader.Decode(&doc); {
	case errors.Is(err, io.EOF):
		d.fail("", "write providers and models", "the file is empty")
		return nil
	case err != nil:
		d.syntax(err, data)
		return nil
	}
	switch err := reader.Decode(&next); {
	case errors.Is(err, io.EOF):
	case err != nil:
		d.syntax(err, data)
		return nil
	default:
		d.report(SeverityError, place{next.Line, next.Column}, "", fault{"there is a second document in the file", "remove the line ---"})
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		d.fail("", "write providers and models", "the file is empty")
		return nil
	}
	switch root := doc.Content[0]; {
	case isNull(root):
		d.fail("", "write providers and models", "the file is empty")
		return nil
	case root.Kind != yaml.MappingNode:
		d.report(SeverityError, place{root.Line, root.Column}, "", fault{
			"found " + d.describe(root, field{secret: true}) + ", want a mapping of names to values", "write providers and models",
		})
		return nil
	default:
		return root
	}
}

var (
	// syntaxError takes the line out of the reader's message.
	syntaxError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)
	// unknownAnchor is the one message of the reader that shows a piece of the
	// text: it may be a password that begins with an asterisk.
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntax reports text that is no YAML.
func (d *decoder) syntax(err error, data []byte) {
	message, line := err.Error(), 0
	if m := syntaxError.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1]) // 0 when it names none
		message = m[2]
	}
	fix := ""
	switch {
	case unknownAnchor.MatchString(message):
		alias := "*" + unknownAnchor.FindStringSubmatch(message)[1]
		if before, _, ok := bytes.Cut(data, []byte(alias)); ok {
			line = 1 + bytes.Count(before, []byte("\n"))
		}
		message, fix = "an alias (*name) that no anchor (&name) goes before", "quote text that begins with an asterisk"
	case strings.Contains(message, "cannot start any token"):
		fix = "indent with spaces, and quote text that begins with a special character"
	case strings.Contains(message, "mapping values are not allowed"):
		fix = "check the indentation, and quote text that holds a colon"
	case strings.Contains(message, "did not find expected"):
		fix = "check the indentation, brackets and quotes of this line and the one above"
	}
	d.report(SeverityError, place{line: line}, "", fault{"not valid YAML: " + message, fix})
}
