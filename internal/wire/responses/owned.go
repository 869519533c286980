package responses

import (
	"slices"
	"strconv"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

// maxOwned bounds how many ids and fingerprints an [Owned] lists.
const maxOwned = 64

// Owned are the names in a request or an answer that mean something only to the
// upstream that issued them. In a request they say who can continue it; in an
// answer they say what its upstream issued.
type Owned struct {
	// Response is previous_response_id of a request, the id of an answer.
	Response string
	// Conversation is the id of a conversation that the upstream keeps.
	Conversation string
	// Prompt is the id of a prompt that is stored at the upstream (requests only).
	Prompt string
	// References are the ids of the items that the request names without holding
	// them, all of them and in order, so that only their issuer can serve it. They
	// are among Items too, as far as there is room.
	References []string
	// Items are the ids of items, the newest last. Clients make up ids for items
	// that they send whole, so one that nobody issued pins nothing.
	Items []string
	// Encrypted are fingerprints of encrypted contents, the newest last.
	Encrypted []uint64
}

// addItem adds the id of an item, once. Of too many the oldest are forgotten.
func (o *Owned) addItem(id string) {
	if id != "" && !slices.Contains(o.Items, id) {
		o.Items = addNewest(o.Items, id)
	}
}

// addEncrypted adds an encrypted content, raw as it stands in the JSON text.
func (o *Owned) addEncrypted(raw []byte) {
	if len(raw) > 0 {
		o.addSum(fingerprint(raw))
	}
}

func (o *Owned) addSum(sum uint64) {
	if !slices.Contains(o.Encrypted, sum) {
		o.Encrypted = addNewest(o.Encrypted, sum)
	}
}

func addNewest[T any](list []T, one T) []T {
	if len(list) == maxOwned {
		copy(list, list[1:])
		list = list[:maxOwned-1]
	}
	return append(list, one)
}

// fingerprint identifies an encrypted content. What is encrypted is random from
// its beginning on, so its ends and its length are enough.
func fingerprint(raw []byte) uint64 {
	const head, tail = 256, 64
	sum := hash(hashStart, raw[:min(len(raw), head)])
	sum = hash(sum, raw[max(len(raw)-tail, 0):])
	return hash(sum, strconv.AppendInt(nil, int64(len(raw)), 10))
}

const hashStart = 14695981039346656037 // FNV-1a

// hash adds bytes to an FNV-1a hash.
func hash(sum uint64, s []byte) uint64 {
	const prime = 1099511628211
	for _, b := range s {
		sum = (sum ^ uint64(b)) * prime
	}
	return sum
}

// ownedID takes an id that is a string, or the id of an object.
func ownedID(c *scan.Cursor) string {
	if !c.EnterObject() {
		return request.LooseText(c)
	}
	var id string
	for c.Member() {
		if string(c.Key()) == "id" {
			id = request.LooseText(c)
		}
	}
	return id
}
