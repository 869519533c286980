package config

import (
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
