package config

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checker applies the rules between sections to a decoded file and fills in
// what follows from them. It uses the decoder to report.
type checker struct {
	*decoder
	f        *File
	protocol []string // spoken by this gateway

	providers   nameSet
	models      map[string]*Model // by name and by alias
	modelNames  nameSet           // names, then aliases
	deployments map[string]path   // deployment id -> where it is
	strategies  nameSet           // built-in ones, then combos
	keys        nameSet
	tiers       nameSet           // the usual supply tiers, then those of providers
	tierOf      map[string]string // provider -> its supply tier
	upstreams   map[served]bool   // what providers serve under their own names
}

// served is a model by its upstream name at a provider.
type served struct{ provider, upstream string }

// nameSet is what references are checked against, in the order of the file.
type nameSet struct {
	list []string
	set  map[string]struct{}
}

func newNameSet(names []string) nameSet {
	var s nameSet
	s.add(names...)
	return s
}

func (s *nameSet) add(names ...string) {
	if s.set == nil {
		s.set = make(map[string]struct{}, len(names))
	}
	for _, n := range names {
		if !s.has(n) {
			s.set[n] = struct{}{}
			s.list = append(s.list, n)
		}
	}
}

func (s *nameSet) has(name string) bool {
	_, ok := s.set[name]
	return ok
}

func newChecker(d *decoder, f *File, o Options) *checker {
	c := &checker{
		decoder: d, f: f, protocol: o.Protocols,
		models:      make(map[string]*Model, len(f.Models)),
		deployments: make(map[string]path),
		tierOf:      make(map[string]string, len(f.Providers)),
		upstreams:   make(map[served]bool),
	}
	for _, p := range f.Providers {
		c.providers.add(p.ID)
	}
	for i := range f.Models {
		c.models[f.Models[i].Name] = &f.Models[i]
		c.modelNames.add(f.Models[i].Name)
	}
	c.strategies.add(strategyNames...)
	for _, s := range f.Strategies {
		c.strategies.add(s.Name)
	}
	for _, k := range f.Keys {
		c.keys.add(k.ID)
	}
	c.tiers.add(officialTier, economyTier)
	return c
}

// run checks every section. The order matters only where one section fills in
// what the next one reads.
func (c *checker) run() {
	c.checkListen()
	c.checkAdmin()
	c.checkProviders()
	c.checkModels()
	c.checkFallbacks()
	c.checkPolicies()
	c.checkStrategies()
	c.checkRouter()
	c.checkQuotas()
	c.checkKeys()
	c.checkBindings()
	c.checkSession()
	if c.f.DataDir == "" {
		c.fail("data_dir", "write data_dir: ./data", "the folder is empty text")
	}
}

// checkListen checks the address that clients call.
func (c *checker) checkListen() {
	const at = path("listen")
	if c.broken(at) {
		return
	}
	host, ok := c.listenHost(c.f.Listen, at, "write host:port, such as "+DefaultListen+", or :20128 for all addresses")
	if ok && len(c.f.Keys) == 0 && !c.broken("keys") && !loopback(host) {
		c.warn(at, "add keys, or listen on 127.0.0.1",
			"the address is reachable from outside, but without keys only callers on this machine are served")
	}
}

// listenHost returns the host of host:port; "" stands for all addresses.
func (c *checker) listenHost(text string, at path, fix string) (string, bool) {
	host, portText, err := net.SplitHostPort(text)
	if err != nil {
		c.fail(at, fix, "%s is not host:port", c.shown(text))
		return "", false
	}
	port, err := strconv.Atoi(portText)
	if err != nil || port < 0 || port > 65535 {
		c.fail(at, "write a number from 0 to 65535 after the last colon", "the port of %s is not valid", c.shown(text))
		return "", false
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" && !hostName(host) {
		c.fail(at, fix, "the host of %s is neither a name nor an IP address", c.shown(text))
		return "", false
	}
	return host, true
}

// loopback reports whether only this machine reaches the host.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || (err == nil && ip.Unmap().IsLoopback())
}

// hostName reports whether text can be a DNS name.
func hostName(text string) bool {
	if text == "" || len(text) > 253 {
		return false
	}
	labels := strings.Split(strings.TrimSuffix(text, "."), ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' || !plainName(l) {
			return false
		}
	}
	// What ends in a number is read as an address by some resolvers, in forms
	// that ParseAddr does not take.
	last := labels[len(labels)-1]
	return last[0] < '0' || last[0] > '9'
}

// strongSecret refuses what can be guessed.
func (c *checker) strongSecret(s Secret, at path) {
	text := s.Reveal()
	const fix = "write a long random text, such as the output of: openssl rand -hex 24"
	switch weak := weakSecret(text); {
	case len(text) < minSecret:
		c.fail(at, fix, "the secret has less than %d characters", minSecret)
	case weak != "":
		c.fail(at, fix, "the secret can be guessed: %s", weak)
	default:
		c.headerSafe(text, "secret", at)
	}
}

// headerSafe refuses secrets that cannot be sent in a header.
func (c *checker) headerSafe(text, what string, at path) {
	switch {
	case strings.ContainsAny(text, "\r\n"):
		c.fail(at, "remove it; files and commands often add one at the end", "the %s holds a line break", what)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }):
		c.fail(at, "write visible ASCII characters", "the %s holds a character that no header can carry", what)
	case strings.TrimSpace(text) != text:
		c.fail(at, "remove it", "the %s begins or ends with a space", what)
	}
}

// maxName is the most bytes of a name.
const maxName = 256

// id checks the name of something that stands in model names, logs and metrics.
func (c *checker) id(name, what string, at path) bool {
	if len(name) <= maxName && idName(name) {
		return true
	}
	c.fail(at, "use letters, digits, dot, - and _, and begin with a letter or digit", "%s cannot be the name of a %s", c.shown(name), what)
	return false
}

func idName(s string) bool {
	for i := range len(s) {
		c := s[i]
		alnum := (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
		if !alnum && (i == 0 || (c != '.' && c != '_' && c != '-')) {
			return false
		}
	}
	return s != ""
}

// freeName checks a name that may hold slashes and colons.
func (c *checker) freeName(name, what string, at path) bool {
	var fault string
	switch {
	case name == "":
		fault = "is empty"
	case len(name) > maxName:
		fault = "is longer than " + strconv.Itoa(maxName) + " bytes"
	case !utf8.ValidString(name), strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		fault = "holds a character that cannot be printed"
	case strings.TrimSpace(name) != name:
		fault = "begins or ends with a space"
	case strings.Contains(name, "${"):
		fault = "holds ${: variables do not expand in names"
	default:
		return true
	}
	c.fail(at, "", "the name of the %s %s", what, fault)
	return false
}

// exists checks a reference against the names that there are.
func (c *checker) exists(name, what string, names *nameSet, at path) bool {
	if names.has(name) {
		return true
	}
	if !c.broken(at) && !c.full() {
		c.fail(at, suggest(name, names.list, "define it first"), "there is no %s %s", what, c.shown(name))
	}
	return false
}

// references checks a list of references and that none stands twice.
func (c *checker) references(list []string, what string, names *nameSet, at path) {
	seen := make(map[string]bool, len(list))
	for i, name := range list {
		inner := at.index(i)
		if c.exists(name, what, names, inner) && seen[name] {
			c.fail(inner, "remove it", "the %s %s stands twice", what, c.shown(name))
		}
		seen[name] = true
	}
}

func (c *checker) checkSession() {
	seen := make(map[string]bool)
	for i, h := range c.f.Session.Headers {
		at := path("session.headers").index(i)
		if c.broken(at) {
			continue
		}
		if c.headerName(h, at) {
			if lower := strings.ToLower(h); seen[lower] {
				c.fail(at, "remove it", "the header stands twice")
			} else {
				seen[lower] = true
			}
		}
	}
}
