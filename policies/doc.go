// Package policies is the room of rules that users write: their binding, their
// life from draft to active, and what turns a compiled policy into an
// engine.Check or an engine.SortKey.
//
// Nothing lives here yet: this version routes by built-in rules alone, and a
// configuration that names a policy is refused with a message that says so. The
// door is the engine's: a policy will enter as one more Check or SortKey in
// engine.Spec, under the same law as the built-in ones.
package policies
