package owner

// queue lists keys in the order of their expiry, which is that in which they
// were written. It may list keys that have been forgotten or written anew since.
type queue struct {
	list []queued
	head int // what is before it has been taken out
}

// queued is a key and the expiry that its record had.
type queued struct {
	key     key
	expires uint32
}

// slack is how many entries are not worth moving the others for.
const slack = 4096

func (q *queue) push(k key, expires uint32) { q.list = append(q.list, queued{k, expires}) }

func (q *queue) first() (queued, bool) {
	if q.head == len(q.list) {
		return queued{}, false
	}
	return q.list[q.head], true
}

// pop takes the first entry out.
func (q *queue) pop() {
	q.head++
	if q.head > slack && q.head > len(q.list)/2 {
		q.list = append(make([]queued, 0, len(q.list)-q.head+slack), q.list[q.head:]...)
		q.head = 0
	}
}

// tidy drops the entries that stand for no record, once they are the most.
func (q *queue) tidy(records map[key]record) {
	if len(q.list)-q.head <= 2*len(records)+slack {
		return
	}
	kept := make([]queued, 0, len(records)+slack)
	for _, e := range q.list[q.head:] {
		if found, ok := records[e.key]; ok && found.expires == e.expires {
			kept = append(kept, e)
		}
	}
	q.list, q.head = kept, 0
}
