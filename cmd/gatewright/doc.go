// Command gatewright is the gateway and its tools. One file holds one verb,
// policy*.go those of policies, client.go what asks a running gateway;
// what a verb does lives in internal/app and the rooms behind it.
package main
