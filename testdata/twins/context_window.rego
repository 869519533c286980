# The twin of the built-in check context_window.
#
# A candidate whose context limit is smaller than the estimated input and the
# requested output together may not serve. A limit that nobody knows removes
# nobody; the limit of embeddings is for each of their inputs, not for all.
package gatewright.admission

exclude contains {"id": c.id, "reason": "context_window"} if {
	input.request.endpoint != "embeddings"
	some c in input.candidates
	input.request.input_tokens + input.request.max_output_tokens > c.context_limit
}
