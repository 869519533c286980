// Command gatewright is the gateway and its tools. One file holds one verb;
// what a verb does lives in internal/app and the rooms behind it.
package main
