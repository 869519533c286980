package abi

import _ "embed"

//go:embed schema_admission.json
var schemaAdmission string

//go:embed schema_ranking.json
var schemaRanking string

// Schema is the JSON Schema (draft 7) of the input of a stage.
func Schema(s Stage) string {
	if s == Ranking {
		return schemaRanking
	}
	return schemaAdmission
}
