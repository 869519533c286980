package vetting

import "gatewright/policies"

// question is what the gateway writes to the process, as one line of JSON.
type question struct {
	CacheDir string // of compiled code, shared by both; "" = none
	Modest   bool   // run only while nothing else wants the processor; for good
	Upload   policies.Upload
}

// answer is what it gets back, as one line of JSON and Made bytes for
// policies.Library.Adopt. One of the first three fields is set.
type answer struct {
	Judgement *policies.Judgement   `json:",omitempty"`
	Refused   *policies.SourceError `json:",omitempty"`
	Failed    string                `json:",omitempty"` // through no fault of the upload
	Made      int                   `json:",omitempty"`
}
