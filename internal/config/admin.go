package config

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"net"
	"strings"
)

// Admin is the listener of those who run the gateway.
type Admin struct {
	// Listen is the address of the admin API, host:port, or off for none.
	//
	// After loading "" = off.
	Listen string `config:"listen" example:"127.0.0.1:20129"`
	// Token is what the admin API is called with, 16 bytes or more; without it the
	// environment variable GATEWRIGHT_ADMIN_TOKEN, or else one that the first start
	// makes and shows.
	Token Secret `config:"token"`
	// Hosts are the names under which the admin API may be called, beside localhost
	// and addresses.
	//
	// After loading they are in lower case.
	Hosts []string `config:"hosts"`
	// Signers are the Ed25519 public keys of those who may sign policies: with any
	// here, an upload is accepted only if one of them has signed it. A key is written
	// as the line between BEGIN and END of its PEM file.
	//
	// After loading each is base64 of its 32 bytes.
	Signers []string `config:"signers"`
}

// AdminTokenVariable is the environment variable that holds the admin token when
// the file has none.
const AdminTokenVariable = "GATEWRIGHT_ADMIN_TOKEN"

// DefaultAdminListen is where the admin API listens when the file does not say
// it.
const DefaultAdminListen = "127.0.0.1:20129"

const listenerOff = "off"

// checkAdmin checks the listener of the admin API.
func (c *checker) checkAdmin() {
	c.adminListen()
	c.adminToken()
	c.adminHosts()
	c.adminSigners()
}

func (c *checker) adminListen() {
	const at = path("admin.listen")
	a := &c.f.Admin
	switch {
	case c.broken(at):
		return
	case a.Listen == listenerOff:
		a.Listen = ""
		return
	case a.Listen == "":
		c.fail(at, "write off, or an address such as "+DefaultAdminListen, "the address is empty text")
		return
	}
	_, ok := c.listenHost(a.Listen, at, "write host:port, such as "+DefaultAdminListen+", or off")
	if ok && !c.broken("listen") && collide(a.Listen, c.f.Listen) {
		if !c.given(at) { // the default
			c.fail("listen", "choose another port, or write admin: {listen: off}", "the admin API listens on %s already", a.Listen)
			return
		}
		c.fail(at, "choose another port", "clients call the same address: listen is %s", c.shown(c.f.Listen))
	}
}

// collide reports whether two valid addresses cannot both be listened on.
func collide(a, b string) bool {
	hostA, portA, _ := net.SplitHostPort(a)
	hostB, portB, _ := net.SplitHostPort(b)
	if portA != portB || portA == "0" {
		return false
	}
	named := strings.EqualFold(hostA, "localhost") || strings.EqualFold(hostB, "localhost")
	return strings.EqualFold(hostA, hostB) || everywhere(hostA) || everywhere(hostB) || named && loopback(hostA) && loopback(hostB)
}

// everywhere reports whether a host stands for all addresses.
func everywhere(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

func (c *checker) adminToken() {
	const at = path("admin.token")
	a := &c.f.Admin
	switch _, written := c.places[at]; {
	case c.broken(at):
	case a.Token.IsSet():
		c.strongSecret(a.Token, at)
	case written:
		c.fail(at, "write token: \"${NAME}\", or remove it", "the token is empty")
	default:
		if text, ok := c.lookup(AdminTokenVariable); ok && text != "" {
			c.hide(text, shortestHidden)
			a.Token = NewSecret(text)
			c.strongSecret(a.Token, path(AdminTokenVariable))
		}
	}
}

func (c *checker) adminHosts() {
	seen := make(map[string]bool)
	for i, host := range c.f.Admin.Hosts {
		at := path("admin.hosts").index(i)
		name := strings.ToLower(strings.TrimSuffix(host, "."))
		switch {
		case c.broken(at):
		case !hostName(name):
			c.fail(at, "write a name such as gateway.example, without port; addresses need no entry", "%s is not the name of a host", c.shown(host))
		case seen[name]:
			c.fail(at, removeIt, "the host stands twice")
		}
		seen[name] = true
		c.f.Admin.Hosts[i] = name
	}
}

func (c *checker) adminSigners() {
	seen := make(map[string]bool)
	for i, text := range c.f.Admin.Signers {
		at := path("admin.signers").index(i)
		key, ok := publicKey(text)
		switch {
		case c.broken(at):
		case !ok:
			c.fail(at, "write the line between BEGIN and END of what openssl pkey -in KEY.pem -pubout prints",
				"%s is no Ed25519 public key", c.shown(text))
		case seen[key]:
			c.fail(at, removeIt, "the key stands twice")
		}
		seen[key] = true
		c.f.Admin.Signers[i] = key
	}
}

// spki is what stands before the 32 bytes of an Ed25519 public key in DER (RFC 8410,
// section 4).
const spki = "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"

// publicKey reads an Ed25519 public key, in base64: its DER as in a PEM file, or its
// 32 bytes. It returns base64 of these.
func publicKey(text string) (key string, ok bool) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", false
	}
	raw, _ := bytes.CutPrefix(b, []byte(spki))
	return base64.StdEncoding.EncodeToString(raw), len(raw) == ed25519.PublicKeySize
}
