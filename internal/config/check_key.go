package config

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

const hashPrefix = "sha256:"

// checkKeys checks the callers' keys and replaces every secret by its hash.
func (c *checker) checkKeys() {
	owners := make(map[[sha256.Size]byte]string, len(c.f.Keys))
	for i := range c.f.Keys {
		k := &c.f.Keys[i]
		at := path("keys").key(k.ID)
		if c.id(k.ID, "key", at) && looksSecret(k.ID) {
			c.fail("keys", "write a name and put the secret behind it: name: {secret: \"${NAME}\"}", "the name of a key looks like a secret, and names are public")
		}
		if c.keyHash(k, at) {
			if other, taken := owners[k.Hash]; taken {
				c.fail(at, "give each its own", "it has the same secret as the key %s", other)
			} else {
				owners[k.Hash] = k.ID
			}
		}
		c.checkScope(k, at)
	}
}

// keyHash fills in the hash; false when there is none.
func (c *checker) keyHash(k *Key, at path) bool {
	secretAt, hashAt := at.key("secret"), at.key("hash")
	_, secretWritten := c.places[secretAt]
	_, hashWritten := c.places[hashAt]
	secret := k.Secret
	k.Secret = Secret{}
	switch {
	case c.broken(secretAt) || c.broken(hashAt):
		return false
	case secretWritten && hashWritten:
		c.fail(hashAt, "remove one of the two", "both secret and hash are given")
		return false
	case secretWritten && !secret.IsSet():
		c.fail(secretAt, "write secret: \"${NAME}\"", "the secret is empty")
		return false
	case secretWritten:
		k.Hash = sha256.Sum256([]byte(secret.Reveal()))
		k.HashText = hashPrefix + hex.EncodeToString(k.Hash[:])
		c.strongSecret(secret, secretAt)
		return true
	case hashWritten:
		return c.parseHash(k, hashAt)
	}
	if !c.broken(at) {
		c.fail(at, "write secret: \"${NAME}\", or hash: \"sha256:…\"", "the key has neither secret nor hash")
	}
	return false
}

// parseHash reads the hash as it is written. It is never shown: a secret may
// have been put there.
func (c *checker) parseHash(k *Key, at path) bool {
	text, ok := strings.CutPrefix(k.HashText, hashPrefix)
	sum, err := hex.DecodeString(text)
	switch {
	case !ok || err != nil || len(sum) != sha256.Size:
		c.hide(k.HashText, shortestHidden)
		c.fail(at, "write sha256: and 64 hex digits, the output of: printf %s \"$SECRET\" | sha256sum", "it is not the hash of a secret")
		return false
	case [sha256.Size]byte(sum) == sha256.Sum256(nil):
		c.fail(at, "hash the secret itself", "it is the hash of empty text")
		return false
	}
	k.Hash = [sha256.Size]byte(sum)
	k.HashText = hashPrefix + hex.EncodeToString(sum)
	return true
}

// checkScope checks what a key may use and prefers.
func (c *checker) checkScope(k *Key, at path) {
	inner := at.key("allowed_models")
	seen := make(map[*Model]bool, len(k.AllowedModels))
	for i, name := range k.AllowedModels {
		m := c.models[name]
		switch {
		case m == nil:
			c.exists(name, "model", &c.modelNames, inner.index(i))
		case seen[m]:
			c.fail(inner.index(i), "remove it", "the model %s stands twice", c.shown(m.Name))
		default:
			seen[m] = true
			k.AllowedModels[i] = m.Name
		}
	}
	c.references(k.AllowedProviders, "provider", &c.providers, at.key("allowed_providers"))
	c.references(k.PreferredProviders, "provider", &c.providers, at.key("preferred_providers"))
	c.references(k.SupplyTiers, "supply tier", &c.tiers, at.key("supply_tiers"))
	c.strategyName(k.Strategy, at.key("strategy"))
	if !c.broken(at) && !c.broken("providers") && !c.reachable(k) {
		c.warn(at, "widen one of the two", "no provider is in both allowed_providers and supply_tiers, so every request is refused")
	}
}

// reachable reports whether any provider may serve the key.
func (c *checker) reachable(k *Key) bool {
	candidates := k.AllowedProviders
	if len(candidates) == 0 {
		candidates = c.providers.list
	}
	return len(k.SupplyTiers) == 0 || slices.ContainsFunc(candidates, func(id string) bool {
		return slices.Contains(k.SupplyTiers, c.tierOf[id])
	})
}
