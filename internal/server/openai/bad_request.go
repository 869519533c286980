package openai

import (
	"errors"

	"gatewright/internal/server"
	"gatewright/internal/wire/request"
)

// badRequest tells the client what is wrong with its body.
func badRequest(err error) error {
	e, ok := errors.AsType[*request.Error](err)
	if !ok {
		return err
	}
	return &server.Error{Code: e.Code, Message: e.Message, Param: e.Param}
}
