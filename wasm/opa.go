package wasm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// The version of the ABI of OPA's modules that the host knows: the major must be
// the same, and the minor brought opa_eval.
const (
	opaMajor = 1
	opaMinor = 2
)

const (
	// ownRoom and foreignRoom are how much memory an instance has for an evaluation
	// before it must ask for more, in bytes: what is not touched costs nothing, but
	// what a foreign module may have touched is cleared each time.
	ownRoom     = 1 << 20
	foreignRoom = 512 << 10
	// maxInput bounds the input of an evaluation, and maxOutput its result.
	maxInput  = 4 << 20
	maxOutput = 1 << 20
	// parseCost is how much parsing a byte of data may cost when an instance is
	// made, in units.
	parseCost = 256
	// inputCost is what a byte of input adds to the budget of an evaluation, in
	// units: taking it in costs about 500, and policies look at what they are given.
	inputCost = 2500
)

// opaState is what an instance of an OPA module has besides.
type opaState struct {
	entry uint32 // number of the entry point
	data  uint32 // address of the parsed data
	heap  uint32 // where the heap of an evaluation begins

	builtins []builtin // by number; without a name where there is none

	dump, parse, malloc api.Function // for built-ins
	stack               [2]uint64    // of their calls
	args                []byte
}

func (o *opaState) builtin(id uint32) *builtin {
	if int64(id) >= int64(len(o.builtins)) || o.builtins[id].call == nil {
		return nil
	}
	return &o.builtins[id]
}

// opaNames is what a module says of itself: entry points and built-ins by
// number.
type opaNames struct{ entrypoints, builtins map[string]uint32 }

func (n *opaNames) entry(want string) (uint32, error) {
	known := slices.Sorted(maps.Keys(n.entrypoints))
	if want == "" && len(known) == 1 {
		want = known[0]
	}
	if id, ok := n.entrypoints[want]; ok {
		return id, nil
	}
	if want == "" {
		return 0, fmt.Errorf("it has the entry points %s; name one", strings.Join(known, ", "))
	}
	return 0, fmt.Errorf("it has no entry point %q; it has %s", want, strings.Join(known, ", "))
}

// serve finds the host's functions for the built-ins.
func (n *opaNames) serve(host map[string]HostFunc) ([]builtin, error) {
	const most = 1 << 10
	var list []builtin
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(n.builtins)) {
		id, f := n.builtins[name], host[name]
		switch {
		case id >= most:
			return nil, fmt.Errorf("the built-in %q has the number %d, the limit is %d", name, id, most)
		case f == nil:
			missing = append(missing, name)
			continue
		case int(id) >= len(list):
			list = append(list, make([]builtin, int(id)+1-len(list))...)
		}
		list[id] = builtin{name, f}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("it needs built-ins that the host does not serve: %s", strings.Join(missing, ", "))
	}
	return list, nil
}

// startOPA makes an OPA module ready for evaluations.
func (i *instance) startOPA() error {
	if err := i.opaVersion(); err != nil {
		return err
	}
	o := &opaState{
		dump: i.module.ExportedFunction("opa_json_dump"), parse: i.module.ExportedFunction("opa_json_parse"),
		malloc: i.module.ExportedFunction("opa_malloc"),
	}
	i.opa = o
	names, err := i.opaNames()
	if err != nil {
		return err
	}
	i.owner.learn(names)
	if o.entry, err = names.entry(i.owner.entrypoint); err != nil {
		return err
	}
	if o.builtins, err = names.serve(i.owner.host); err != nil {
		return err
	}
	if o.data, err = i.load(i.owner.data); err != nil {
		return err
	}
	if o.heap, err = i.ask("opa_heap_ptr_get", i.owner.info.Budget); err != nil {
		return err
	}
	if o.heap == 0 || o.heap > i.memory.Size() {
		return fmt.Errorf("its heap begins at %#x, and its memory has %d bytes", o.heap, i.memory.Size())
	}
	o.heap = (o.heap + 7) &^ 7
	if err := i.warm(); err != nil {
		return err
	}
	until := i.memory.Size()
	if i.owner.own {
		until = o.heap
	}
	i.keep(until)
	return nil
}

// warm lets the module itself get the memory that an evaluation is likely to
// need, so that it knows of it, and takes it back.
func (i *instance) warm() error {
	most := uint64(i.owner.code.pages) << 16
	room := min(i.owner.room.Load(), most-min(most, uint64(i.opa.heap)+2<<16))
	budget := i.owner.info.Budget + int64(i.owner.code.pages)<<11
	if _, err := i.ask("opa_malloc", budget, uint32(room)); err != nil { //nolint:gosec // below 4 GiB
		return fmt.Errorf("room for evaluations: %w", err)
	}
	_, err := i.ask("opa_heap_ptr_set", budget, i.opa.heap)
	return err
}

// makeRoom gives later instances twice the memory that one has grown to.
func (m *Module) makeRoom(size uint32) {
	for {
		old := m.room.Load()
		if want := 2 * uint64(size); want <= old || m.room.CompareAndSwap(old, want) {
			return
		}
	}
}

func (i *instance) opaVersion() error {
	number := func(name string) uint32 {
		if g := i.module.ExportedGlobal(name); g != nil {
			return uint32(g.Get()) //nolint:gosec // an i32
		}
		return 0
	}
	major, minor := number("opa_wasm_abi_version"), number("opa_wasm_abi_minor_version")
	if major != opaMajor || minor < opaMinor {
		return fmt.Errorf("it has version %d.%d of the ABI of OPA, the gateway knows %d.%d and later ones of %d", major, minor, opaMajor, opaMinor, opaMajor)
	}
	return nil
}

// opaNames asks the module for its entry points and built-ins.
func (i *instance) opaNames() (*opaNames, error) {
	n := &opaNames{}
	for _, list := range []struct {
		name string
		into *map[string]uint32
	}{{"entrypoints", &n.entrypoints}, {"builtins", &n.builtins}} {
		value, err := i.ask(list.name, i.owner.info.Budget)
		if err != nil {
			return nil, err
		}
		at, err := i.ask("opa_json_dump", i.owner.info.Budget, value)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(i.text(at, maxArguments), list.into); err != nil {
			return nil, fmt.Errorf("%s: %w", list.name, err)
		}
	}
	return n, nil
}

// load puts data into the module's memory, parsed.
func (i *instance) load(data []byte) (uint32, error) {
	n := uint32(len(data)) //nolint:gosec // bounded by Load
	budget := i.owner.info.Budget + int64(n)*parseCost
	at, err := i.ask("opa_malloc", budget, n)
	if err != nil {
		return 0, fmt.Errorf("room for data: %w", err)
	}
	if !i.memory.Write(at, data) {
		return 0, fmt.Errorf("no room for %d bytes of data", n)
	}
	value, err := i.ask("opa_json_parse", budget, at, n)
	if err != nil {
		return 0, fmt.Errorf("data: %w", err)
	}
	if value == 0 {
		return 0, errors.New("data: not JSON")
	}
	return value, nil
}

// grow makes the memory so large that it holds end bytes.
func (i *instance) grow(end uint64) bool {
	size := uint64(i.memory.Size())
	if end <= size {
		return true
	}
	const page = 64 << 10
	_, ok := i.memory.Grow(uint32((end - size + page - 1) / page)) //nolint:gosec // a few pages
	return ok
}

// evaluate runs the entry point on input and appends its value to dst. The error
// is a *Fault or ErrUndefined.
func (i *instance) evaluate(input, dst []byte) ([]byte, error) {
	o := i.opa
	end := uint64(o.heap) + uint64(len(input))
	if len(input) > maxInput || !i.grow(end) || !i.memory.Write(o.heap, input) {
		return dst, &Fault{Kind: FaultMemory, Detail: fmt.Sprintf("no room for an input of %d bytes", len(input))}
	}
	i.stack = [7]uint64{0, uint64(o.entry), uint64(o.data), uint64(o.heap), uint64(len(input)), (end + 7) &^ 7, 0}
	budget := min(i.owner.info.Budget+int64(len(input))*inputCost, MaxBudget)
	if fault := i.run(budget); fault != nil {
		return dst, fault
	}
	at := arg(i.stack[:], 0)
	size := i.memory.Size()
	if at == 0 || at >= size {
		return dst, &Fault{Kind: FaultContract, Detail: fmt.Sprintf("its result is at %#x, outside its memory", at)}
	}
	doc, _ := i.memory.Read(at, min(size-at, maxOutput+1))
	doc, _, ended := bytes.Cut(doc, []byte{0})
	if !ended {
		return dst, &Fault{Kind: FaultContract, Detail: fmt.Sprintf("its result has more than %d bytes", maxOutput)}
	}
	return unwrap(doc, dst)
}

// unwrap takes the value out of the set of results that OPA's modules return,
// which has one or none.
func unwrap(doc, dst []byte) ([]byte, error) {
	const before, behind = `[{"result":`, `}]`
	doc = bytes.TrimSpace(doc)
	switch {
	case string(doc) == "[]":
		return dst, ErrUndefined
	case len(doc) > len(before)+len(behind) && bytes.HasPrefix(doc, []byte(before)) && bytes.HasSuffix(doc, []byte(behind)):
		return append(dst, doc[len(before):len(doc)-len(behind)]...), nil
	}
	return dst, &Fault{Kind: FaultContract, Detail: "its result is not a list of one result: " + oneLine(string(doc[:min(len(doc), 80)]))}
}
