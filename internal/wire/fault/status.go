package fault

// The HTTP statuses that the rules name, written here because nothing under
// wire knows HTTP.
const (
	statusRedirect     = 300 // the first
	statusError        = 400 // the first
	statusBadRequest   = 400
	statusUnauthorized = 401
	statusPayment      = 402
	statusForbidden    = 403
	statusNotFound     = 404
	statusMethod       = 405
	statusProxyAuth    = 407
	statusTimeout      = 408
	statusConflict     = 409
	statusGone         = 410
	statusTooLarge     = 413
	statusUnprocessed  = 422
	statusTooEarly     = 425
	statusTooMany      = 429
	statusServer       = 500 // the first of the server errors
	statusBadGateway   = 502
	statusUnavailable  = 503
	statusGateTimeout  = 504
	statusOverloaded   = 529 // Anthropic's "no capacity"
	statusEnd          = 600 // no status is as large
)
