package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// metadataHosts hand out the credentials of the machine that asks.
var metadataHosts = []string{
	"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "fd00:ec2::254", "100.100.100.200",
}

// baseURL checks the address of a provider and returns it without a slash at
// its end, and the api-version that its query names (azure alone may have one).
// No message shows the address: it may hold a credential.
func (c *checker) baseURL(text string, azure bool, at path) (base, version string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		c.fail(at, "write https://host/path", "the address is not a URL that begins with https:// or http://")
		return "", "", false
	}
	before := len(c.problems)
	if u.User != nil {
		c.fail(at, "write the credential to api_key", "the address holds a user name or password")
	}
	if u.Fragment != "" {
		c.fail(at, "remove everything from # on", "the address has a fragment")
	}
	version = c.query(u, azure, at)
	for _, call := range []string{"/chat/completions", "/completions", "/embeddings", "/responses", "/messages", "/models"} {
		if strings.HasSuffix(strings.TrimRight(u.Path, "/"), call) {
			c.fail(at, "remove "+call+" from its end", "the address is that of one call, not of the API")
			break
		}
	}
	c.host(u, at)
	if slices.ContainsFunc(c.problems[before:], func(p Problem) bool { return p.Severity == SeverityError }) {
		return "", "", false
	}
	u.RawQuery, u.ForceQuery = "", false
	return strings.TrimRight(u.String(), "/"), version, true
}

// query checks what stands behind the question mark.
func (c *checker) query(u *url.URL, azure bool, at path) (version string) {
	if u.RawQuery == "" {
		return ""
	}
	values, err := url.ParseQuery(u.RawQuery)
	version = values.Get("api-version")
	values.Del("api-version")
	if err == nil && azure && len(values) == 0 {
		return version
	}
	c.fail(at, "write credentials to api_key and remove the rest", "the address has a query (?…)")
	return ""
}

// host checks where the address leads to.
func (c *checker) host(u *url.URL, at path) {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			c.fail(at, "write a number from 1 to 65535", "the port of the address is not valid")
		}
	}
	ip, err := netip.ParseAddr(host)
	if err != nil && !hostName(host) {
		c.fail(at, "write a host name or an IP address in its usual form", "the host of the address is not valid")
		return
	}
	ip = ip.Unmap()
	if slices.Contains(metadataHosts, host) || ip.IsLinkLocalUnicast() {
		c.fail(at, "name the provider's own address", "the address is that of a cloud's metadata service or link-local")
		return
	}
	if u.Scheme == "http" && !privateHost(host, ip) {
		c.warn(at, "write https://", "the credential and all prompts go to this address unencrypted")
	}
}

// privateHost reports whether a host is on this machine or in a private
// network, as far as its name or address tells.
func privateHost(host string, ip netip.Addr) bool {
	if ip.IsValid() {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified()
	}
	if !strings.Contains(host, ".") { // localhost, and names of containers and services
		return true
	}
	for _, zone := range []string{".localhost", ".local", ".internal", ".lan", ".home.arpa", ".svc", ".test"} {
		if strings.HasSuffix(host, zone) {
			return true
		}
	}
	return false
}
