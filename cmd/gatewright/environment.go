package main

import (
	"errors"
	"os"

	"gatewright/internal/config"
)

// fromEnvironment makes a configuration of the provider keys that are set.
func fromEnvironment() (*config.File, config.Problems) {
	file, problems, err := config.FromEnvironment(config.Options{Env: os.LookupEnv})
	if errors.Is(err, config.ErrNoProviders) {
		problems = append(problems, config.Problem{Message: err.Error()})
	}
	return file, problems
}
