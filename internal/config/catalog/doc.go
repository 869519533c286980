// Package catalog knows the models of public providers: prices, limits and
// abilities, as defaults for deployments that the configuration says nothing
// about. A model that it does not know works all the same; its cost is unknown.
//
// What lives here: the embedded table (data/catalog.tsv) and its look-up. What
// never does: network access, prices that an operator has set, or what a
// provider's protocol looks like.
//
// The table is made from two public lists (data/LICENSES.md says which, and
// under what terms) by digest_test.go: run the tests with -update after
// changing a list or a rule of the digest. Where both lists have a model, the
// younger one's prices count and the larger context limit; abilities and output
// limits come from the older one, which alone has them. Prices that step with
// the length of the prompt are those of the shortest step.
//
// Read catalog.go first.
package catalog
