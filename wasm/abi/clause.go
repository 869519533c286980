package abi

import "strings"

// Clause is the number of a clause of the contract. Numbers stay what they are;
// new ones are only added.
type Clause string

// The clauses.
const (
	ClauseForm      Clause = "ABI-1"
	ClauseExports   Clause = "ABI-2"
	ClauseImports   Clause = "ABI-3"
	ClauseVersion   Clause = "ABI-4"
	ClauseAlloc     Clause = "ABI-5"
	ClauseConfigure Clause = "ABI-6"
	ClauseManifest  Clause = "ABI-7"

	ClauseReturn  Clause = "ANS-1"
	ClauseMessage Clause = "ANS-2"

	ClauseVerdict Clause = "ADM-1"
	ClauseUntil   Clause = "ADM-2"
	ClauseRemoved Clause = "ADM-3"
	ClauseRefusal Clause = "ADM-4"

	ClauseOrder      Clause = "RNK-1"
	ClauseOrderCount Clause = "RNK-2"
	ClauseScore      Clause = "RNK-3"

	ClauseCount   Clause = "IN-1"
	ClauseUnknown Clause = "IN-2"
	ClauseSkipped Clause = "IN-3"
	ClauseTies    Clause = "IN-4"
	ClauseTexts   Clause = "IN-5"
	ClauseNumbers Clause = "IN-6"

	ClauseAnswers Clause = "RUN-1"
	ClauseBudget  Clause = "RUN-2"

	ClauseRepeat Clause = "DET-1"
	ClauseState  Clause = "DET-2"
)

// Binds reports whether policies of a stage must keep the clause.
func (c Clause) Binds(s Stage) bool {
	switch {
	case strings.HasPrefix(string(c), "ADM-"):
		return s == Admission
	case strings.HasPrefix(string(c), "RNK-"):
		return s == Ranking
	}
	return true
}

// ClauseText is what a clause demands.
type ClauseText struct {
	Clause Clause
	Text   string
}

// Clauses are all clauses, in their order.
var Clauses = [...]ClauseText{
	{ClauseForm, "the bytes are a module that its profile allows: features, sizes, a memory with a maximum"},
	{ClauseExports, "it exports what the contract names, of the right types, one of gw_admit and gw_rank, and no other function of the host's"},
	{ClauseImports, "it imports nothing but gw.log, and in the profile go what Go's runtime needs of WASI"},
	{ClauseVersion, "gw_abi_version gives the gateway's major version, and no newer minor one"},
	{ClauseAlloc, "gw_alloc gives an address that is a multiple of 16, with all of the bytes in the memory, for any input of the contract"},
	{ClauseConfigure, "gw_configure accepts the parameters of the binding; who is given some exports it"},
	{ClauseManifest, "the manifest is JSON of the known fields, and says the kind that the exports have"},
	{ClauseReturn, "it returns 0 or more, -1, -2, -3, or -100 and below"},
	{ClauseMessage, "a message is UTF-8 and fits into the error area"},
	{ClauseVerdict, "a verdict is 0, or 1 + an index into the reasons"},
	{ClauseUntil, "a removal ends at an instant of 1970 to 9999, or lasts"},
	{ClauseRemoved, "gw_admit returns how many candidates have a verdict"},
	{ClauseRefusal, "a refusal has one of the statuses, a reason of the manifest or none, and a bounded wait"},
	{ClauseOrder, "an order names candidates that exist, each once: with those that it leaves out behind, it is a permutation"},
	{ClauseOrderCount, "gw_rank returns order_count, 0 when the scores count"},
	{ClauseScore, "a score is a finite number, or NaN for none"},
	{ClauseCount, "any number of candidates is answered: none, one, all 1,024"},
	{ClauseUnknown, "numbers that nobody knows are answered, of some candidates and of all"},
	{ClauseSkipped, "candidates that are skipped or whose circuit is open are answered, some and all"},
	{ClauseTies, "candidates that differ in nothing but their ids are answered"},
	{ClauseTexts, "texts of any UTF-8 are answered, empty and long ones, and up to 64 pairs of each kind"},
	{ClauseNumbers, "numbers at the ends of their ranges are answered, and any time"},
	{ClauseAnswers, "an ordinary request is answered"},
	{ClauseBudget, "an answer takes no more than the budget of instructions, whatever the number of candidates"},
	{ClauseRepeat, "the same input has the same answer, bit for bit, when it is asked again and of another instance"},
	{ClauseState, "an answer does not depend on what was asked before, unless the binding is stateful"},
}
