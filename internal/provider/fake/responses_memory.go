package fake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxKept is how many responses an upstream keeps; of more the oldest are
// forgotten.
const maxKept = 10_000

// memory is what an upstream keeps of its responses.
type memory struct {
	mu    sync.Mutex
	byID  map[string]*keptResponse
	order []string            // ids, the oldest first
	items map[string]struct{} // ids of their items
}

// keptResponse is one response: what was asked and what was answered. It is not
// written after it was kept, but for cancelled, which the memory's lock guards.
type keptResponse struct {
	call      call
	answer    answer
	items     []string // ids
	began     time.Time
	took      time.Duration // of a response in the background
	cancelled bool
}

// put keeps a response.
func (m *memory) put(id string, k *keptResponse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID == nil {
		m.byID, m.items = map[string]*keptResponse{}, map[string]struct{}{}
	}
	m.byID[id] = k
	m.order = append(m.order, id)
	for _, item := range k.items {
		m.items[item] = struct{}{}
	}
	for len(m.order) > maxKept {
		m.forget(m.order[0])
		m.order = m.order[1:]
	}
}

// forget forgets a response and its items. The caller holds mu.
func (m *memory) forget(id string) {
	if k := m.byID[id]; k != nil {
		for _, item := range k.items {
			delete(m.items, item)
		}
	}
	delete(m.byID, id)
}

func (m *memory) get(id string) *keptResponse {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byID[id]
}

func (m *memory) remove(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(id)
	m.order = slices.DeleteFunc(m.order, func(one string) bool { return one == id })
}

func (m *memory) hasItem(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.items[id]
	return ok
}

func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byID, m.order, m.items = nil, nil, nil
}

// status is how far a response is, and whether it has its output.
func (m *memory) status(k *keptResponse, now time.Time) (status string, done bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case k.cancelled:
		return statusCancelled, false
	case now.Sub(k.began) < k.took:
		return statusInProgress, false
	}
	return "", true
}

// cancel cancels a response that is not done.
func (m *memory) cancel(k *keptResponse, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k.cancelled = k.cancelled || now.Sub(k.began) < k.took
}

// recall checks that the upstream has what a request of the Responses endpoints
// names, and takes the kept response that it asks for.
func (x *exchange) recall() *apiError {
	q := &x.call.responses
	if q.render == nil {
		return nil
	}
	switch {
	case q.action != storedNone:
		if x.kept = x.up.memory.get(q.id); x.kept == nil {
			return &apiError{
				status: http.StatusNotFound, typ: "invalid_request_error", message: fmt.Sprintf("Response with id '%s' not found.", q.id),
			}
		}
		if q.action == storedCancel && !x.kept.call.responses.background {
			return invalid("", "Only responses of background mode can be cancelled.")
		}
	case q.previous != "" && x.up.memory.get(q.previous) == nil:
		e := invalid("previous_response_id", fmt.Sprintf("Previous response with id '%s' not found.", q.previous))
		e.code = "previous_response_not_found"
		return e
	case q.conversation != "" && !strings.HasPrefix(q.conversation, "conv_"+x.up.name):
		e := invalid("", fmt.Sprintf("Conversation with id '%s' not found.", q.conversation))
		e.status = http.StatusNotFound
		return e
	}
	for _, id := range q.references {
		if !x.up.memory.hasItem(id) {
			e := invalid("input", fmt.Sprintf("Item with id '%s' not found.", id))
			e.status = http.StatusNotFound
			return e
		}
	}
	for _, text := range q.sealed {
		if !strings.HasPrefix(text, sealOf(x.up.name)) {
			e := invalid("", "The encrypted content could not be verified: it was not made by this upstream.")
			e.code = "invalid_encrypted_content"
			return e
		}
	}
	return nil
}

// sealOf begins every encrypted content of an upstream.
func sealOf(upstream string) string { return "sealed." + upstream + "." }

// remember keeps what is going to be answered, or puts what was kept in the
// place of an answer.
func (x *exchange) remember() {
	q, m := &x.call.responses, &x.up.memory
	switch {
	case q.render == nil:
	case q.action == storedDelete:
		m.remove(q.id)
	case q.action == storedInputItems:
		q.items = x.kept.call.responses.items
	case q.action != storedNone:
		x.take()
	case x.call.endpoint == EndpointResponses && q.store && (x.def == nil || x.def.Class != "status"):
		q.name(&x.answer)
		k := &keptResponse{call: *x.call, answer: x.answer, items: itemIDs(x.call, &x.answer), began: x.start}
		if q.background {
			more := max(len(x.answer.reasoning)+len(x.answer.pieces)-1, 0)
			k.took = x.pace.FirstToken + time.Duration(more)*x.pace.PerToken
			if !x.call.stream {
				x.answer.status = statusQueued
				x.hurry()
			}
		}
		m.put("resp_"+string(x.answer.id), k)
	}
}

// take puts a kept response in the place of an answer.
func (x *exchange) take() {
	m, now := &x.up.memory, time.Now()
	if x.call.responses.action == storedCancel {
		m.cancel(x.kept, now)
	}
	asked := x.call.responses
	stream, azure, key := x.call.stream, x.call.azure, x.call.key
	*x.call = x.kept.call
	x.call.stream, x.call.azure, x.call.key = stream, azure, key
	x.call.responses.action, x.call.responses.id, x.call.responses.behind = asked.action, asked.id, asked.behind
	x.call.endpoint = EndpointStored
	x.answer = x.kept.answer
	if stream {
		return
	}
	x.hurry()
	if status, done := m.status(x.kept, now); !done {
		x.answer.status = status
	}
}

// hurry leaves out the time that making an answer takes.
func (x *exchange) hurry() { x.pace.FirstToken, x.pace.PerToken = 0, 0 }
