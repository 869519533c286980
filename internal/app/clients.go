package app

import (
	"sync"
	"time"

	"gatewright/internal/provider"
)

// clientKey is what connections are shared by: a provider, and how long making
// one may take.
type clientKey struct {
	provider string
	connect  time.Duration
}

// clients keeps the connections of providers over reloads.
type clients struct {
	mu  sync.Mutex
	all map[clientKey]*provider.Client
}

func newClients() *clients { return &clients{all: make(map[clientKey]*provider.Client)} }

// get returns the client of the key, a new one if there is none.
func (c *clients) get(k clientKey) *provider.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[k] == nil {
		c.all[k] = provider.NewClient(provider.ClientOptions{Connect: k.connect})
	}
	return c.all[k]
}

// keep closes the idle connections of clients that are not used any more.
// Calls that are running go on.
func (c *clients) keep(used map[clientKey]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, client := range c.all {
		if !used[k] {
			client.Close()
			delete(c.all, k)
		}
	}
}

func (c *clients) close() { c.keep(nil) }
