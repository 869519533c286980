// Package dialog is what client and upstream of a benchmark say to each other:
// mock speaks by it, load verifies by it. Each request carries a mark that its
// answer, and each event of its stream, must carry too; so an answer that went
// to the wrong client is found.
//
// What never lives here: how bytes get from one to the other.
package dialog
