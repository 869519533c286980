package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxPolicyName is the most characters of the name of a policy or a binding.
const maxPolicyName = 128

// IsPolicyName reports whether text can be the name of a policy or a binding: it
// stands in paths of the admin API and in policy:NAME.
func IsPolicyName(text string) bool {
	if text == "" || len(text) > maxPolicyName || text[0] == '-' || text[0] == '.' {
		return false
	}
	return !strings.ContainsFunc(text, notInPolicyName)
}

func notInPolicyName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

// checkPolicies checks the policies of the file, as far as that can be told
// without reading them.
func (c *checker) checkPolicies() {
	for i := range c.f.Policies {
		p := &c.f.Policies[i]
		at := path("policies").key(p.Name)
		c.policyNamed(p.Name, "policy", at)
		if !c.broken(at) {
			c.policyFile(p, at)
		}
	}
}

// policyNamed checks the name of a policy or a binding.
func (c *checker) policyNamed(name, what string, at path) bool {
	if IsPolicyName(name) {
		return true
	}
	c.fail(at, "use letters, digits, dot, - and _, and begin with a letter, a digit or _", "%s cannot be the name of a %s", c.shown(name), what)
	return false
}

// policyFile finds the file of a policy and what it holds.
func (c *checker) policyFile(p *Policy, at path) {
	inner := at.key("file")
	const extensions = "name a file that ends in .rego, .wasm or .tar.gz (an OPA bundle)"
	if p.File == "" {
		c.fail(at, "write file: policies/"+p.Name+".rego", "the policy has no file")
		return
	}
	p.Path = p.File
	if !filepath.IsAbs(p.Path) {
		p.Path = filepath.Join(filepath.Dir(c.f.Name), p.Path)
	}
	var ok bool
	if p.Format, ok = PolicyFormatOf(p.File); ok && p.Format != PolicyWasm && p.Profile != "" {
		c.fail(at.key("profile"), removeIt, "Rego has its own profile; only a .wasm module has a choice")
	}
	switch info, err := os.Stat(p.Path); {
	case err != nil:
		fix := ""
		if errors.Is(err, fs.ErrNotExist) {
			fix = "relative paths are taken from the folder of the configuration file"
		}
		c.fail(inner, fix, "the file %s %s", c.shown(p.Path), reason(err))
		c.await(inner, p.Path)
	case info.IsDir():
		c.fail(inner, extensions+"; opa build makes a bundle of a folder", "%s is a folder", c.shown(p.Path))
	case !info.Mode().IsRegular():
		c.fail(inner, extensions, "%s is not a regular file", c.shown(p.Path))
	case !ok:
		c.fail(inner, extensions, "the name of %s does not say what it holds", c.shown(p.File))
	default:
		c.readable(p.Path, inner)
	}
}

// readable reports a file that may not be read.
func (c *checker) readable(file string, at path) {
	f, err := os.Open(file) //nolint:gosec // the operator names the file
	if err != nil {
		c.fail(at, "", "the file %s %s", c.shown(file), reason(err))
		return
	}
	_ = f.Close() // nothing was read
}

// kindOf is the kind of a policy as far as the file says it.
func (c *checker) kindOf(name string) string {
	for i := range c.f.Policies {
		if c.f.Policies[i].Name == name {
			return c.f.Policies[i].Kind
		}
	}
	return ""
}

// rankingName checks a reference to a policy that must be a ranking. It may be
// an uploaded one: whether it exists is not known here.
func (c *checker) rankingName(name string, at path) {
	switch {
	case c.broken(at):
	case c.policyNamed(name, "policy", at) && c.kindOf(name) == kindAdmission:
		c.fail(at, "write it under bindings", "%s is an admission policy, which orders nothing", c.shown(name))
	}
}
